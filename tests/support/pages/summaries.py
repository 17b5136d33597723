"""The summary of sample data for the dashboard."""

from tests.support.api.api_server import HOUR
from tunnihind.api.served_data import ServedData
from tunnihind.settings import Settings
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import DashboardSummary, summarise_dashboard

NOW = HOUR + 612


def summary_of(view: ServedData, now: int = NOW, *, pipeline_expected: bool = True, **options: str) -> DashboardSummary:
    """Return the dashboard's summary of a view, with the options of a query string."""
    return summarise_dashboard(view, now, Settings(), PageOptions.read(options), pipeline_expected=pipeline_expected)

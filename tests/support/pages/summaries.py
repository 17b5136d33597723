"""The dashboard of sample data, as tests ask for it."""

from tests.support.api.api_server import HOUR
from tunnihind.api.served_data import ServedData
from tunnihind.settings import Settings
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import Summary, summarise

NOW = HOUR + 612


def summary_of(view: ServedData, now: int = NOW, *, pipeline_expected: bool = True, **options: str) -> Summary:
    """Return what the dashboard shows of a view, in the options of a query string."""
    return summarise(view, now, Settings(), PageOptions.read(options), pipeline_expected=pipeline_expected)

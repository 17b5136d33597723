"""A running server shows every metric of the shipped rules and dashboard."""

import re
import time
from collections.abc import Iterator
from datetime import timedelta

from prometheus_client.parser import text_string_to_metric_families

from tests.support import documents
from tests.support.api.api_server import Serve
from tests.support.machine.processes import Launch
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.pages.scored_data import SCORED
from tests.support.scripts import PROJECT
from tests.support.upstreams import FakeElering
from tunnihind.core.market import delivery_day

FOLDER = PROJECT / "packaging/observability"


def names(exposition: str) -> Iterator[str]:
    """Yield the metrics with a value, and those that are declared but have no value before an event."""
    for family in text_string_to_metric_families(exposition):
        yield from (sample.name for sample in family.samples)
        if not family.samples:
            yield f"{family.name}_total"


async def test_rules_and_dashboard_name_metrics_that_a_server_shows(launch: Launch, serve: Serve) -> None:
    today = delivery_day(time.time())
    quotes = made_up_quotes(today - timedelta(days=20), today + timedelta(days=1))
    async with FakeElering(quotes) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2100")
        await server.until_ready()
        await server.get("/api/v1/forecast")
        exposition = (await server.get("/metrics")).body.decode()
    # A score needs forecasts of past weeks, which a new server has not made.
    scored = (await (await serve(SCORED)).ask("/metrics")).body.decode()
    scores = {name for name in names(scored) if name.startswith("tunnihind_forecast_")}

    texts = [(FOLDER / name).read_text() for name in ("alerts.yaml", "dashboard.json")]
    wanted = {name for text in texts for name in re.findall(r"\b(?:tunnihind|process)_\w+", text)}
    assert len(wanted) > 20
    assert wanted <= {*names(exposition), *scores}
    [table] = [rows for rows in documents.tables((PROJECT / "docs/server.md").read_text()) if "_up" in str(rows)]
    in_guide = {code for row in table for code in documents.codes(row[0])}
    ours = {name for name in {*names(exposition), *scores} if re.match("tunnihind_.*(?<!_created)$", name)}
    assert in_guide == {re.sub("_(bucket|sum|count)$", "", name) for name in ours}
    shown = dict(line.split(" ") for line in exposition.splitlines() if not line.startswith("#"))
    assert shown["tunnihind_pipeline_held"] == shown["tunnihind_database_up"] == "1.0"
    assert shown["tunnihind_pipeline_takeovers_total"] == "1.0"
    assert float(shown["tunnihind_replica_lag_seconds"]) < 60
    assert float(shown['tunnihind_answers_total{from="made"}']) >= 1

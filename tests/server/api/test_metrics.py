from datetime import datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.api.api_server import RunningServer, Serve, make_view
from tests.support.pages.scored_data import SCORED
from tunnihind import __version__
from tunnihind.api.metrics import Metrics
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA, HOUR_S
from tunnihind.errors import StoreError
from tunnihind.settings import Settings
from tunnihind.store.store import Store


async def scrape(server: RunningServer) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = await server.ask("/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(answer.body.decode())
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def labels(**pairs: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairs.items())


async def test_requests_are_counted_by_route_and_status(server: RunningServer) -> None:
    for target in ("/api/v1/forecast", "/api/v1/forecast", "/api/v1/forecast?x", "/nope/1", "/nope/2"):
        await server.ask(target)
    samples = await scrape(server)
    name = "tunnihind_requests_total"
    assert samples[name, labels(route="/api/v1/forecast", status="200")] == 2
    assert samples[name, labels(route="/api/v1/forecast", status="400")] == 1
    assert samples[name, labels(route="unmatched", status="404")] == 2
    assert samples["tunnihind_request_duration_seconds_count", labels(route="/api/v1/forecast")] == 3


async def test_ages_are_those_of_the_served_data_by_the_servers_clock(server: RunningServer) -> None:
    samples = await scrape(server)
    assert samples["tunnihind_settled_age_seconds", labels(zone="EE")] == 0
    assert samples["tunnihind_forecast_age_seconds", labels(zone="EE")] == 912
    assert samples["tunnihind_refresh_age_seconds", labels(zone="EE")] == 812


async def test_ages_and_forecasts_that_are_not_there_are_left_out(serve: Serve) -> None:
    for server in (await serve(ServedData("empty", ESTONIA)), await serve(blank=True)):
        names = {name for name, _ in await scrape(server)}
        assert not [name for name in names if name.endswith("_age_seconds") or name.startswith("tunnihind_forecast")]


async def test_metrics_can_be_switched_off(serve: Serve) -> None:
    server = await serve(settings=Settings(metrics=False))
    assert (await server.ask("/metrics")).status == 404


def test_times_fall_into_cumulated_buckets() -> None:
    metrics = Metrics()
    for seconds in (0.00005, 0.0001, 0.002, 5.0):
        metrics.record_request("/x", 200, seconds)
    families = text_string_to_metric_families(metrics.prometheus_text().decode())
    samples = [s for family in families for s in family.samples]
    counts = {s.labels["le"]: s.value for s in samples if s.name == "tunnihind_request_duration_seconds_bucket"}
    assert (counts["0.0001"], counts["0.001"], counts["0.0025"], counts["1.0"], counts["+Inf"]) == (2, 2, 3, 3, 4)


def test_two_servers_in_one_process_do_not_share_their_metrics() -> None:
    first, second = Metrics(), Metrics()
    first.source_outcomes.labels("elering", "ok").inc()
    assert b'source="elering"' in first.prometheus_text()
    assert b'source="elering"' not in second.prometheus_text()


async def test_the_tier_in_use_and_the_scores_of_the_last_month_are_shown(serve: Serve) -> None:
    server = await serve(SCORED)
    text = (await server.ask("/metrics")).body.decode()
    assert 'tunnihind_forecast_tier{tier="weather",zone="EE"} 1.0' in text
    assert 'tunnihind_forecast_skill{days_ahead="1",zone="EE"} 0.3996' in text
    assert 'tunnihind_forecast_coverage{days_ahead="1",zone="EE"} 0.802' in text
    assert 'tunnihind_forecast_mae_eur_mwh{days_ahead="1",zone="EE"} 31.4' in text


async def test_answers_made_and_answers_from_memory_are_counted(serve: Serve) -> None:
    server = await serve()
    for _ in range(3):
        await server.ask("/api/v1/forecast")
    server.clock.instant += 1
    await server.ask("/api/v1/forecast")
    samples = await scrape(server)
    assert samples["tunnihind_answers_total", labels(**{"from": "made"})] == 2
    assert samples["tunnihind_answers_total", labels(**{"from": "memory"})] == 2


@pytest.mark.parametrize(("moment", "is_late"), [("2026-01-14T15:29:59+02:00", 0), ("2026-01-14T15:30:00+02:00", 1)])
async def test_late_publication_is_shown_from_when_it_counts_as_late(serve: Serve, moment: str, is_late: int) -> None:
    now = int(datetime.fromisoformat(moment).timestamp())
    hour = now - now % HOUR_S
    server = await serve(make_view({hour: 1.0}), now=now)
    assert (await scrape(server))["tunnihind_publication_late", labels(zone="EE")] == is_late


async def test_with_tomorrows_prices_nothing_is_late(serve: Serve) -> None:
    now = int(datetime.fromisoformat("2026-01-14T16:00:00+02:00").timestamp())
    server = await serve(make_view({now + n * HOUR_S: 1.0 for n in range(32)}), now=now)
    assert (await scrape(server))["tunnihind_publication_late", labels(zone="EE")] == 0


@pytest.mark.parametrize("moment", ["2026-01-14T09:00:00+02:00", "2026-01-14T16:00:00+02:00"])
@pytest.mark.parametrize("view", [ServedData("empty", ESTONIA), make_view({1_768_000_000 // HOUR_S * HOUR_S: 1.0})])
async def test_a_zone_without_a_price_of_today_is_late_at_any_time(serve: Serve, view: ServedData, moment: str) -> None:
    server = await serve(view, now=int(datetime.fromisoformat(moment).timestamp()))
    assert (await scrape(server))["tunnihind_publication_late", labels(zone="EE")] == 1


async def test_version_and_troubles_of_what_is_served_are_shown(serve: Serve) -> None:
    server = await serve(make_view(version="17"))
    server.snapshot.troubles.report("store", "the disk is full")
    samples = await scrape(server)
    assert samples["tunnihind_data_version", labels()] == 17
    assert samples["tunnihind_troubles", labels()] == 1
    assert samples["tunnihind_build_info", labels(version=__version__)] == 1


def test_transactions_are_counted_and_a_failed_one_shows_that_the_database_is_away(
    store: Store, database: Path
) -> None:
    metrics = Metrics()
    store.database.set_transaction_counter(metrics.record_transaction)

    def shown(name: str, access: str | None = None) -> float | None:
        return metrics.registry.get_sample_value(name, {"access": access} if access else {})

    store.state.write("a", 1)
    store.state.read("a")
    assert shown("tunnihind_database_up") == 1
    assert shown("tunnihind_database_transaction_seconds_count", "write") == 1
    assert shown("tunnihind_database_transaction_seconds_count", "read") == 1
    with pytest.raises(KeyError), store.database.reading():
        raise KeyError("of somebody else's making")
    assert shown("tunnihind_database_up") == 1
    assert shown("tunnihind_database_errors_total", "read") == 0
    away = database.rename(database.with_name("away.db"))
    with pytest.raises(StoreError):
        store.state.read("a")
    assert shown("tunnihind_database_up") == 0
    assert shown("tunnihind_database_errors_total", "read") == 1
    away.rename(database)
    store.state.read("a")
    assert shown("tunnihind_database_up") == 1

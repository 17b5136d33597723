"""What two sources' prices come to when they differ, or when one has none."""

from datetime import date, timedelta

import pytest
from aiohttp import ClientSession

from tests.support.ingest_trial import DOWN, NOW, TODAY, TOMORROW, IngestTrial, changed, elering, entsoe, held, two_days
from tests.support.sources import ScriptedPrices, estonian_quotes
from tests.support.stores import hourly, sources_of, store_quotes, unsettled_days
from tests.support.upstreams import FakeElering, FakeEntsoe
from tests.support.upstreams.elering import Quotes, flat_quotes
from tunnihind.errors import SourceError, SourceUnreachable
from tunnihind.market import HOUR_S, QUARTER_S, ZONES, day_start, hourly_prices, publication_time
from tunnihind.store.prices import Added
from tunnihind.store.store import Store


async def test_a_second_source_that_disagrees_is_held_and_the_first_stands(
    store: Store, session: ClientSession
) -> None:
    async with FakeElering(two_days()) as first, FakeEntsoe(changed(two_days(), 3, 5.0)) as second:
        trial = IngestTrial(store, elering(session, first), entsoe(session, second))
        await trial.ingest()
        await trial.ingest(after_s=60)
    assert hourly(store) == pytest.approx(hourly_prices(two_days()["ee"]))
    assert held(store) == {("entsoe", zone, TODAY, "disagreement") for zone in ZONES}
    assert trial.observer.refused == [("entsoe", "disagreement")] * 4
    assert sources_of(store) == {"elering"}


async def test_a_second_source_an_hour_off_is_refused_as_shifted(store: Store, session: ClientSession) -> None:
    day = date(2025, 10, 26)
    before = day - timedelta(days=1)
    quotes = flat_quotes(before, day, QUARTER_S)
    store_quotes(store, {zone: {ts: p for ts, p in quotes[zone].items() if ts < day_start(day)} for zone in ZONES}, NOW)
    change = day_start(day) + 3 * HOUR_S
    shifted: Quotes = {
        zone: {ts: prices[ts - HOUR_S] if ts >= change else price for ts, price in prices.items()}
        for zone, prices in quotes.items()
    }
    async with FakeElering(quotes) as first, FakeEntsoe(shifted) as second:
        trial = IngestTrial(store, elering(session, first), entsoe(session, second), now=publication_time(day))
        await trial.ingest(day, day)
    assert {case for case in held(store) if case[2] == day} == {("entsoe", zone, day, "shifted") for zone in ZONES}
    assert hourly(store) == pytest.approx(hourly_prices(quotes["ee"]))


async def test_zeros_that_both_sources_name_are_prices(store: Store) -> None:
    zeros: Quotes = {"ee": dict.fromkeys(two_days()["ee"], 0.0)}
    await IngestTrial(store, ScriptedPrices(zeros), ScriptedPrices(zeros, name="second")).ingest()
    assert set(hourly(store).values()) == {0.0}
    assert held(store) == set()


async def test_with_the_first_source_down_the_second_fills_in(store: Store, session: ClientSession) -> None:
    async with FakeElering(two_days()) as first, FakeEntsoe(two_days()) as second:
        first.fail(times=4)
        added = await IngestTrial(store, elering(session, first), entsoe(session, second)).ingest()
    assert added.new == 2 * 96 * 4
    assert sources_of(store) == {"entsoe"}
    assert store.state.last_refresh() == NOW


async def test_where_the_first_source_is_refused_or_has_nothing_the_second_fills_in(store: Store) -> None:
    first = ScriptedPrices({"ee": dict.fromkeys(estonian_quotes(TODAY, TODAY, QUARTER_S)["ee"], 0.0)})
    second = ScriptedPrices(estonian_quotes(TODAY, TOMORROW, QUARTER_S), name="second")
    await IngestTrial(store, first, second).ingest()
    assert unsettled_days(store, TODAY, TOMORROW) == []
    assert held(store) == {("first", "ee", TODAY, "zeros")}


async def test_with_both_sources_down_the_first_ones_error_is_told(store: Store) -> None:
    first, second = ScriptedPrices({}), ScriptedPrices({}, name="second")
    first.is_down, second.is_down = DOWN, SourceUnreachable("second", "no answer")
    with pytest.raises(SourceError, match="first"):
        await IngestTrial(store, first, second).ingest()
    assert store.state.last_refresh() is None


async def test_a_fallback_corrects_nothing_that_is_settled(store: Store) -> None:
    first = ScriptedPrices(estonian_quotes(TODAY, TODAY, QUARTER_S))
    second = ScriptedPrices(estonian_quotes(TODAY, TOMORROW, QUARTER_S, level=80.0), name="second")
    trial = IngestTrial(store, first, second)
    await trial.ingest()
    settled = {hour: price for hour, price in hourly(store).items() if hour < day_start(TOMORROW)}
    first.is_down = DOWN
    added = await trial.ingest(after_s=60)
    assert added.stored == 0
    assert settled.items() <= hourly(store).items()


async def test_a_fallback_fills_only_the_hours_that_are_missing(store: Store) -> None:
    half = {ts: price for ts, price in two_days()["ee"].items() if ts < day_start(TODAY) + 12 * HOUR_S}
    store_quotes(store, {"ee": half}, NOW - HOUR_S)
    first = ScriptedPrices({})
    first.is_down = DOWN
    second = ScriptedPrices(estonian_quotes(TODAY, TODAY, QUARTER_S, level=80.0), name="second")
    assert await IngestTrial(store, first, second).ingest() == Added(new=12 * 4)
    assert hourly_prices(half).items() <= hourly(store).items()


async def test_the_first_source_corrects_what_the_second_gave_once_that_stands(store: Store) -> None:
    first = ScriptedPrices(estonian_quotes(TODAY, TODAY, QUARTER_S))
    second = ScriptedPrices(estonian_quotes(TODAY, TODAY, QUARTER_S, level=80.0), name="second")
    trial = IngestTrial(store, first, second)
    first.is_down = DOWN
    await trial.ingest()
    first.is_down = None
    assert (await trial.ingest(after_s=60)).corrected == 0
    assert (await trial.ingest(after_s=3600)).corrected == 96
    assert hourly(store) == pytest.approx(hourly_prices(first.quotes["ee"]))

"""A source's prices on their way into the store, over real connections and with the incidents of past years."""

import logging
from datetime import date

import pytest
from aiohttp import ClientSession

from tests.support.store.ingest_trial import NOW, TODAY, TOMORROW, IngestTrial, changed, elering, entsoe, held, two_days
from tests.support.store.stores import hourly, unsettled_days
from tests.support.upstreams import FakeElering, FakeEntsoe
from tests.support.upstreams.elering import flat_quotes
from tests.support.upstreams.sources import ScriptedPrices, estonian_quotes
from tunnihind.core.market import QUARTER_S, ZONES, day_start, delivery_day, hourly_prices, hours_of, publication_time
from tunnihind.errors import BadAnswer, SourceRefused
from tunnihind.store.prices import AddedCounts
from tunnihind.store.store import Store


async def test_what_passes_is_kept_by_the_quarter_with_all_zones(store: Store, session: ClientSession) -> None:
    quotes = two_days()
    async with FakeElering(quotes) as server:
        added = await IngestTrial(store, elering(session, server)).ingest()
    assert added == AddedCounts(new=2 * 96 * 4)
    for zone in ZONES:
        assert hourly(store, zone) == pytest.approx(hourly_prices(quotes[zone]))
    assert store.state.last_refresh() == NOW


async def test_the_same_answer_again_changes_nothing_but_the_refresh(store: Store, session: ClientSession) -> None:
    async with FakeElering(two_days()) as server:
        trial = IngestTrial(store, elering(session, server))
        await trial.ingest()
        version = store.state.served_version()
        assert await trial.ingest(after_s=60) == AddedCounts()
    assert (store.state.served_version(), store.state.last_refresh()) == (version, NOW + 60)
    assert store.state.prices_changed_at() == NOW


async def test_a_part_of_tomorrow_is_held_until_the_whole_of_it_is_there(store: Store, session: ClientSession) -> None:
    async with FakeElering(two_days()) as server:
        trial = IngestTrial(store, elering(session, server))
        server.cut(TOMORROW, 40)
        await trial.ingest()
        assert unsettled_days(store, TODAY, TOMORROW) == [TOMORROW]
        assert max(hourly(store)) < day_start(TOMORROW)
        assert held(store) == {("elering", zone, TOMORROW, "incomplete") for zone in ZONES}
        server.quotes = two_days()
        assert (await trial.ingest(after_s=60)).new == 96 * 4
    assert unsettled_days(store, TODAY, TOMORROW) == []
    assert held(store) == set()


async def test_zeros_are_held_and_released_when_prices_come(
    store: Store, session: ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tunnihind.pipeline.settler")
    async with FakeElering(two_days()) as server:
        trial = IngestTrial(store, elering(session, server))
        server.zero(TOMORROW)
        for _ in range(3):
            await trial.ingest(after_s=60)
        assert held(store) == {("elering", zone, TOMORROW, "zeros") for zone in ZONES}
        assert trial.observer.refused == [("elering", "zeros")] * 4
        held_back = (
            f"elering's prices of EE, LV, LT, FI for {TOMORROW} are held back: 24 hours are exactly 0.00; "
            "`./run import prices FILE` can settle them"
        )
        assert [line for line in caplog.messages if "held back" in line] == [held_back]
        server.quotes = two_days()
        await trial.ingest(after_s=60)
    assert held(store) == set()
    assert 0.0 not in hourly(store).values()
    assert sum("are now accepted" in line for line in caplog.messages) == 1


async def test_a_day_that_fails_for_another_reason_is_news(store: Store) -> None:
    source = ScriptedPrices(estonian_quotes(TOMORROW, TOMORROW, QUARTER_S))
    trial = IngestTrial(store, source)
    whole = source.quotes["ee"]
    source.quotes = {"ee": dict.fromkeys(whole, 0.0)}
    await trial.ingest()
    source.quotes = {"ee": dict(list(whole.items())[:40])}
    await trial.ingest()
    await trial.ingest()
    assert trial.observer.refused == [("first", "zeros"), ("first", "incomplete")]


async def test_a_settled_day_stays_when_the_source_goes_back_on_it(store: Store) -> None:
    source = ScriptedPrices(two_days())
    trial = IngestTrial(store, source)
    await trial.ingest()
    before = hourly(store)
    source.quotes = {zone: dict.fromkeys(prices, 0.0) for zone, prices in two_days().items()}
    await trial.ingest(after_s=60)
    assert hourly(store) == before


async def test_one_zones_trouble_does_not_hold_up_the_others(store: Store) -> None:
    quotes = two_days()
    quotes["fi"] = dict.fromkeys(quotes["fi"], 0.0)
    await IngestTrial(store, ScriptedPrices(quotes)).ingest()
    assert unsettled_days(store, TODAY, TOMORROW) == []
    assert hourly(store, "fi") == {}


async def test_a_longer_burst_is_an_error_and_no_refresh(store: Store, session: ClientSession) -> None:
    async with FakeElering(two_days()) as server:
        server.fail(times=4)
        with pytest.raises(SourceRefused, match="503"):
            await IngestTrial(store, elering(session, server)).ingest()
    assert store.state.last_refresh() is None
    assert hourly(store) == {}


@pytest.mark.parametrize(
    "body",
    [b"<html>Just a moment...</html>", b'{"success":false}', b"", b"[" * 100_000],
    ids=["a page", "no success", "nothing", "nesting"],
)
async def test_a_malformed_answer_is_an_error_and_nothing_is_kept(
    store: Store, session: ClientSession, body: bytes
) -> None:
    async with FakeElering(two_days()) as server:
        server.say(body)
        with pytest.raises(BadAnswer, match="elering"):
            await IngestTrial(store, elering(session, server)).ingest()
    assert (hourly(store), store.state.last_refresh()) == ({}, None)


async def test_an_answer_without_a_price_is_a_refresh_all_the_same(store: Store) -> None:
    await IngestTrial(store, ScriptedPrices({"ee": {}})).ingest()
    assert store.state.last_refresh() == NOW


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 29), 23), (date(2025, 10, 26), 25)])
async def test_days_of_a_clock_change_come_through_hour_by_hour(
    store: Store, session: ClientSession, day: date, hours: int
) -> None:
    quotes = flat_quotes(day, day, QUARTER_S)
    async with FakeElering(quotes) as first, FakeEntsoe(quotes) as second:
        trial = IngestTrial(store, elering(session, first), entsoe(session, second), now=publication_time(day))
        await trial.ingest(day, day)
    assert len(quotes["ee"]) == 4 * hours
    assert list(hourly(store)) == list(hours_of(day))
    assert held(store) == set()


async def test_a_correction_is_known_from_when_it_came_and_not_before(store: Store) -> None:
    source = ScriptedPrices(estonian_quotes(TODAY, TOMORROW, QUARTER_S))
    trial = IngestTrial(store, source)
    await trial.ingest()
    source.quotes = changed(source.quotes, 2, 7.0)
    assert await trial.ingest(after_s=3600) == AddedCounts()
    assert await trial.ingest(after_s=3600) == AddedCounts(corrected=8, unchanged=88)
    hour = day_start(TODAY)
    archive = store.prices.read_archive()
    before, after = (archive.as_of(at).series_of("ee")[hour] for at in (NOW + 7199, NOW + 7200))
    assert after == pytest.approx(before + 7.0)
    assert store.state.prices_changed_at() == NOW + 7200


async def test_tomorrow_is_known_from_when_it_was_first_seen(store: Store) -> None:
    await IngestTrial(store, ScriptedPrices(two_days())).ingest()
    archive = store.prices.read_archive()
    assert archive.as_of(NOW - 1).series_of("ee").newest_day == TODAY
    assert archive.as_of(NOW).series_of("ee").newest_day == TOMORROW


async def test_no_zone_is_ever_settled_by_prices_of_another_day(store: Store) -> None:
    source = ScriptedPrices(two_days())
    await IngestTrial(store, source).ingest(TOMORROW, TOMORROW)
    assert {delivery_day(hour) for hour in hourly(store)} == {TOMORROW}

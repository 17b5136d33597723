"""What is settled is the best witness: shifted answers, corrections, first fills, and sources side by side."""

import asyncio
from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import date, timedelta

import pytest
from aiohttp import ClientSession, web

from tests.support.ingest_trial import DOWN, NOW, TODAY, TOMORROW, IngestTrial, elering, entsoe, held
from tests.support.sample_prices import made_up_quotes
from tests.support.sources import ScriptedPrices
from tests.support.stores import hourly, sources_of, store_quotes
from tests.support.upstreams import FakeElering, FakeEntsoe
from tests.support.upstreams.elering import Quotes
from tunnihind.api.health import judge
from tunnihind.api.served_data import read_served_data
from tunnihind.cli.status import describe, read_status
from tunnihind.errors import BadAnswer
from tunnihind.market import DAY_S, HOUR_S, QUARTER_S, ZONES, day_end, day_start, hourly_prices
from tunnihind.pipeline.back_fill import YEARS_FILLED, note_filled
from tunnihind.sources.base import DaySheet
from tunnihind.store.prices import Added
from tunnihind.store.store import Store

FIRST = TODAY - timedelta(days=3)
BEFORE = TODAY - timedelta(days=1)


def right(first: date = FIRST, last: date = TOMORROW) -> Quotes:
    return made_up_quotes(first, last)


def late(quotes: Quotes, by_s: int = HOUR_S) -> Quotes:
    """Answer every row with the price of another time; the rows that have none are missing."""
    return {zone: {ts: prices[ts - by_s] for ts in prices if ts - by_s in prices} for zone, prices in quotes.items()}


def until(quotes: Quotes, day: date) -> Quotes:
    return {zone: {ts: p for ts, p in prices.items() if ts < day_end(day)} for zone, prices in quotes.items()}


def on(quotes: Quotes, *days: date, change: Callable[[float], float], hours: int = 25) -> Quotes:
    """Return quotes with the first hours of some days changed."""

    def changes(ts: int) -> bool:
        return any(day_start(day) <= ts < min(day_start(day) + hours * HOUR_S, day_end(day)) for day in days)

    return {
        zone: {ts: change(price) if changes(ts) else price for ts, price in prices.items()}
        for zone, prices in quotes.items()
    }


def dearer(price: float) -> float:
    return round(price + 33.33, 2)


def zero(_: float) -> float:
    return 0.0


def settle(store: Store, quotes: Quotes) -> None:
    store_quotes(store, quotes, NOW - DAY_S, source="elering")


@pytest.mark.parametrize("by_s", [HOUR_S, -HOUR_S, 3 * HOUR_S, -QUARTER_S])
async def test_an_answer_that_has_moved_is_held_back_whole_however_often_it_is_repeated(
    store: Store, session: ClientSession, by_s: int
) -> None:
    settle(store, until(right(), TODAY))
    before = hourly(store)
    wide = made_up_quotes(FIRST - timedelta(days=1), TOMORROW + timedelta(days=1))
    async with FakeElering(late(wide, by_s)) as server:
        trial = IngestTrial(store, elering(session, server))
        for _ in range(4):
            with pytest.raises(BadAnswer, match=r"too (late|early), compared with what is settled"):
                await trial.ingest(BEFORE, TOMORROW, after_s=HOUR_S)
    assert hourly(store) == before
    assert {case[:1] + case[2:] for case in held(store)} == {
        ("elering", day, "shifted") for day in (BEFORE, TODAY, TOMORROW)
    }
    assert {case[1] for case in held(store)} == set(ZONES)
    assert store.health.all()["elering"].failures == 4


async def test_a_moved_answer_is_not_believed_because_a_second_source_has_moved_alike(store: Store) -> None:
    settle(store, until(right(), TODAY))
    before = hourly(store)
    first, second = ScriptedPrices(late(right()), name="elering"), ScriptedPrices(late(right()), name="entsoe")
    with pytest.raises(BadAnswer, match="an hour too late"):
        await IngestTrial(store, first, second).ingest()
    assert hourly(store) == before


async def test_with_the_first_source_moved_the_second_fills_in(store: Store, session: ClientSession) -> None:
    settle(store, until(right(), TODAY))
    async with FakeElering(late(right())) as first, FakeEntsoe(right()) as second:
        await IngestTrial(store, elering(session, first), entsoe(session, second)).ingest()
    assert hourly(store) == pytest.approx(hourly_prices(right()["ee"]))
    assert {case[0] for case in held(store)} == {"elering"}


async def test_in_the_watch_for_tomorrow_a_moved_answer_is_told_by_today(store: Store, session: ClientSession) -> None:
    settle(store, until(right(), TODAY))
    async with FakeElering(late(right(), -HOUR_S)) as server:
        with pytest.raises(BadAnswer, match="an hour too early"):
            await IngestTrial(store, elering(session, server)).ingest(TOMORROW, TOMORROW)
    assert max(hourly(store)) < day_start(TOMORROW)


async def test_a_moved_year_is_told_by_the_day_after_it(store: Store) -> None:
    year = made_up_quotes(date(2024, 1, 1), date(2025, 1, 3))
    settle(
        store, {zone: {ts: p for ts, p in year[zone].items() if ts >= day_start(date(2025, 1, 1))} for zone in ZONES}
    )
    with pytest.raises(BadAnswer, match="an hour too late"):
        await IngestTrial(store, ScriptedPrices(late(year))).ingest(date(2024, 1, 1), date(2024, 12, 31))
    assert min(hourly(store)) == day_start(date(2025, 1, 1))


async def test_when_a_source_stands_right_again_it_is_taken_and_nothing_is_held(store: Store) -> None:
    settle(store, until(right(), TODAY))
    source = ScriptedPrices(late(right()), name="elering")
    trial = IngestTrial(store, source)
    with pytest.raises(BadAnswer):
        await trial.ingest()
    source.quotes = right()
    assert (await trial.ingest()).new == 4 * 96
    assert held(store) == set()


async def test_a_correction_that_a_second_source_agrees_on_comes_in_at_once(
    store: Store, session: ClientSession
) -> None:
    settle(store, right())
    corrected = on(right(), BEFORE, TODAY, change=dearer)
    async with FakeElering(corrected) as first, FakeEntsoe(corrected) as second:
        added = await IngestTrial(store, elering(session, first), entsoe(session, second)).ingest(BEFORE, TODAY)
    assert added.corrected == 2 * 4 * 96
    assert hourly(store) == pytest.approx(hourly_prices(corrected["ee"]))
    assert held(store) == set()


async def test_a_correction_by_one_source_waits_an_hour_and_over_a_restart(store: Store) -> None:
    settle(store, right())
    source = ScriptedPrices(on(right(), TODAY, change=dearer), name="elering")
    assert (await IngestTrial(store, source).ingest()).corrected == 0
    assert held(store) == {("elering", zone, TODAY, "correction") for zone in ZONES}
    assert (await IngestTrial(store, source, now=NOW + HOUR_S // 2).ingest()).corrected == 0
    assert (await IngestTrial(store, source, now=NOW + HOUR_S).ingest()).corrected == 4 * 96
    assert hourly(store) == pytest.approx(hourly_prices(source.quotes["ee"]))
    assert held(store) == set()


async def test_one_source_may_not_correct_more_than_a_day_but_new_days_come_in(
    store: Store,
) -> None:
    settle(store, until(right(), TODAY))
    before = hourly(store)
    source = ScriptedPrices(on(right(), BEFORE, TODAY, change=dearer), name="elering")
    trial = IngestTrial(store, source)
    for _ in range(5):
        assert (await trial.ingest(BEFORE, TOMORROW, after_s=HOUR_S)).corrected == 0
    assert before.items() <= hourly(store).items()
    assert max(hourly(store)) == day_end(TOMORROW) - HOUR_S


@pytest.mark.parametrize("change", [zero, lambda _: 55.5], ids=["zeros", "flat"])
async def test_doubted_prices_fill_a_gap_but_never_replace_a_settled_day(
    store: Store, session: ClientSession, change: Callable[[float], float]
) -> None:
    settle(store, until(right(), TODAY))
    before = hourly(store)
    doubted = on(right(), TODAY, TOMORROW, change=change)
    async with FakeElering(doubted) as first, FakeEntsoe(doubted) as second:
        trial = IngestTrial(store, elering(session, first), entsoe(session, second))
        for _ in range(3):
            await trial.ingest(after_s=HOUR_S)
    assert before.items() <= hourly(store).items()
    assert {price for ts, price in hourly(store).items() if ts >= day_start(TOMORROW)} == {change(1.0)}
    assert {case[:3] for case in held(store)} == {(s, z, TODAY) for s in ("elering", "entsoe") for z in ZONES}


async def test_zeros_that_two_sources_agreed_on_are_not_held_back_when_they_are_repeated(
    store: Store, session: ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    settle(store, until(right(), TODAY))
    doubted = on(right(), TOMORROW, change=zero)
    async with FakeElering(doubted) as first, FakeEntsoe(doubted) as second:
        trial = IngestTrial(store, elering(session, first), entsoe(session, second))
        await trial.ingest()
        caplog.clear()
        caplog.set_level("INFO", "tunnihind.pipeline.settling")
        for _ in range(3):
            await trial.ingest(after_s=HOUR_S)
    assert caplog.messages == []
    assert held(store) == set()


async def test_zeros_that_two_sources_agreed_on_give_way_to_prices_of_either_that_stand_for_an_hour(
    store: Store,
) -> None:
    settle(store, until(right(), TODAY))
    zeros = on(right(), TOMORROW, change=zero)
    first, second = ScriptedPrices(zeros, name="elering"), ScriptedPrices(zeros, name="entsoe")
    trial = IngestTrial(store, first, second)
    await trial.ingest()
    second.quotes = right()
    assert (await trial.ingest(after_s=HOUR_S)).corrected == 0
    assert (await trial.ingest(after_s=HOUR_S)).corrected == 4 * 96
    # Against real prices the zeros are held back again.
    await trial.ingest(after_s=HOUR_S)
    assert hourly(store) == pytest.approx(hourly_prices(right()["ee"]))
    assert {case[0] for case in held(store)} == {"elering"}


async def test_a_bad_row_of_a_neighbour_costs_estonia_nothing(store: Store, session: ClientSession) -> None:
    quotes = right()
    broken: Quotes = {**quotes, "fi": {ts * 1000: p for ts, p in quotes["fi"].items()}}
    body = {
        "success": True,
        "data": {zone: [{"timestamp": ts, "price": p} for ts, p in rows.items()] for zone, rows in broken.items()},
    }
    async with FakeElering(quotes) as server:
        server.answer = lambda *_: web.json_response(body)  # type: ignore[method-assign]
        await IngestTrial(store, elering(session, server)).ingest(FIRST, TOMORROW)
    assert hourly(store) == pytest.approx(hourly_prices(quotes["ee"]))
    assert hourly(store, "fi") == {}
    assert {case[1:2] + case[3:] for case in held(store)} == {("fi", "unreadable")}
    assert store.health.all()["elering"].failures == 0


async def test_half_days_are_told_in_one_line_and_settled_ones_not_at_all(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "tunnihind.pipeline.settling")
    settle(store, until(right(), TODAY))
    half = {
        zone: {ts: p for ts, p in prices.items() if (ts - day_start(FIRST)) % DAY_S < DAY_S // 2}
        for zone, prices in right().items()
    }
    source = ScriptedPrices(half, name="elering")
    trial = IngestTrial(store, source)
    await trial.ingest(BEFORE, TOMORROW)
    assert caplog.messages == [f"elering's prices of EE, LV, LT, FI for {TOMORROW} are held back: 48 of 96 quarters"]
    source.quotes = right()
    await trial.ingest(BEFORE, TOMORROW)
    assert caplog.messages[1:] == [f"elering's prices of EE, LV, LT, FI for {TOMORROW} have passed after all"]


class Slow(ScriptedPrices):
    """Answers when it is told to."""

    def __init__(self, quotes: Quotes, *, name: str) -> None:
        super().__init__(quotes, name=name)
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def prices(self, first: date, last: date) -> Sequence[DaySheet]:
        self.is_asked.set()
        await self.may_answer.wait()
        return await super().prices(first, last)


@pytest.mark.parametrize("slow_name", ["elering", "entsoe"])
async def test_a_source_that_hangs_keeps_the_others_prices_from_nobody(store: Store, slow_name: str) -> None:
    settle(store, until(right(), TODAY))
    names = ["elering", "entsoe"]
    slow = Slow(right(), name=slow_name)
    quick = ScriptedPrices(right(), name=next(name for name in names if name != slow_name))
    sources = sorted((slow, quick), key=lambda source: names.index(source.name))
    trial = IngestTrial(store, *sources, patience_s=0)
    assert (await trial.ingest()).new == 4 * 96
    assert trial.changes == 1
    assert sources_of(store) == {"elering", quick.name}
    await trial.ingest()
    assert len(quick.asked) == 2, "the next question is not kept waiting either"
    slow.may_answer.set()
    await trial.finish()
    assert len(slow.asked) == 1, "who has not answered yet is not asked again"
    assert trial.changes == 3
    assert store.health.all()[slow_name].ok_ts is not None


async def test_prices_are_stored_while_a_source_drips_over_the_wire(store: Store, session: ClientSession) -> None:
    settle(store, until(right(), TODAY))
    async with FakeElering(right()) as first, FakeEntsoe(right()) as second:
        second.hang(times=9)
        trial = IngestTrial(store, elering(session, first), entsoe(session, second), patience_s=0)
        assert (await trial.ingest()).new == 4 * 96
        await trial.close()


async def test_the_first_fill_waits_for_the_second_source_and_takes_what_both_say(store: Store) -> None:
    first, second = ScriptedPrices(right(), name="elering"), Slow(right(), name="entsoe")
    trial = IngestTrial(store, first, second)
    asking = asyncio.create_task(trial.ingest(FIRST, TOMORROW))
    await second.is_asked.wait()
    assert hourly(store) == {}
    second.may_answer.set()
    assert (await asking).new == 4 * 5 * 96
    assert store.confirmation.doubt() is None


async def test_a_first_fill_is_unconfirmed_until_the_late_second_source_agrees(
    store: Store,
) -> None:
    first, second = ScriptedPrices(right(), name="elering"), Slow(right(), name="entsoe")
    trial = IngestTrial(store, first, second, patience_s=0)
    await trial.ingest(FIRST, TOMORROW)
    assert hourly(store) == pytest.approx(hourly_prices(right()["ee"]))
    readiness = judge(read_served_data(store, NOW), NOW, pipeline_expected=True)
    assert readiness.warnings == [
        "the prices are unconfirmed: elering gave them, and no second source has been heard yet"
    ]
    assert "unconfirmed" in "\n".join(describe(read_status(store, NOW, is_past=False)))
    second.may_answer.set()
    await trial.finish()
    assert store.confirmation.doubt() is None
    assert judge(read_served_data(store, NOW), NOW, pipeline_expected=True).warnings == []


async def test_a_second_source_that_is_down_leaves_the_first_fill_unconfirmed(store: Store) -> None:
    first, second = ScriptedPrices(right(), name="elering"), ScriptedPrices(right(), name="entsoe")
    second.is_down = DOWN
    trial = IngestTrial(store, first, second)
    await trial.ingest(FIRST, TOMORROW)
    assert "unconfirmed" in str(store.confirmation.doubt())
    second.is_down = None
    await trial.ingest(BEFORE, TOMORROW)
    assert store.confirmation.doubt() is None


async def test_one_source_alone_has_nobody_to_be_confirmed_by(store: Store) -> None:
    await IngestTrial(store, ScriptedPrices(right())).ingest(FIRST, TOMORROW)
    assert store.confirmation.doubt() is None


async def test_a_first_fill_with_a_shift_between_two_sources_waits_until_they_agree(
    store: Store, session: ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    async with FakeElering(late(right())) as first, FakeEntsoe(right()) as second:
        trial = IngestTrial(store, elering(session, first), entsoe(session, second))
        for _ in range(2):
            with pytest.raises(BadAnswer, match="an hour too early beside those of elering"):
                await trial.ingest(FIRST, TOMORROW, after_s=HOUR_S)
        assert hourly(store) == {}
        (told,) = [line for line in caplog.messages if "withdrawn" in line]
        assert told.endswith("stand an hour too early beside those of elering; both will be asked again")
        # The second source goes down: the first alone is not believed either.
        second.fail(times=100)
        with pytest.raises(BadAnswer, match="until two sources agree"):
            await trial.ingest(FIRST, TOMORROW, after_s=HOUR_S)
        assert hourly(store) == {}, "neither of them alone"
        readiness = judge(read_served_data(store, NOW), NOW, pipeline_expected=True)
        assert any("withdrawn until two sources agree" in reason for reason in readiness.reasons)
        # Both are there and agree: all comes in.
        first.quotes = right()
        second._script.clear()
        assert (await trial.ingest(FIRST, TOMORROW, after_s=HOUR_S)).new == 4 * 5 * 96
    assert store.confirmation.doubt() is None
    assert held(store) == set()


async def test_unconfirmed_prices_are_withdrawn_when_the_second_source_contradicts(
    store: Store,
) -> None:
    first, second = ScriptedPrices(late(right()), name="elering"), ScriptedPrices(right(), name="entsoe")
    second.is_down = DOWN
    trial = IngestTrial(store, first, second)
    await trial.ingest(FIRST, TOMORROW)
    note_filled(store.state, YEARS_FILLED, "2025", NOW)
    assert hourly(store)
    # The second source is back and contradicts: prices and the note of the filled year are gone.
    version = store.state.version()
    second.is_down = None
    with pytest.raises(BadAnswer, match="withdrawn until two sources agree"):
        await trial.ingest(FIRST, TOMORROW, after_s=HOUR_S)
    assert hourly(store) == {}
    assert store.state.version() > version
    assert store.state.read(YEARS_FILLED) == {}
    # Both agree: as of no instant were the withdrawn prices ever known.
    first.quotes = right()
    await trial.ingest(FIRST, TOMORROW, after_s=HOUR_S)
    archive = store.prices.archive()
    truth = hourly_prices(right()["ee"])
    for at in (NOW - DAY_S, NOW, NOW + HOUR_S, NOW + 2 * HOUR_S):
        known = archive.as_of(at).of("ee")
        assert known == {ts: pytest.approx(truth[ts]) for ts in known}


async def test_a_first_fill_of_two_that_differ_in_prices_takes_the_first_ones(store: Store) -> None:
    other = on(right(), TODAY, change=dearer, hours=6)
    await IngestTrial(store, ScriptedPrices(right(), name="elering"), ScriptedPrices(other, name="entsoe")).ingest(
        FIRST, TOMORROW
    )
    assert hourly(store) == pytest.approx(hourly_prices(right()["ee"]))
    assert held(store) == {("entsoe", zone, TODAY, "disagreement") for zone in ZONES}


async def test_the_same_answers_again_write_nothing_and_change_no_version(store: Store) -> None:
    quotes = deepcopy(right())
    trial = IngestTrial(store, ScriptedPrices(quotes, name="elering"), ScriptedPrices(quotes, name="entsoe"))
    await trial.ingest(FIRST, TOMORROW)
    version = store.state.version()
    assert (await trial.ingest(FIRST, TOMORROW, after_s=60)).stored == Added().stored
    assert store.state.version() == version

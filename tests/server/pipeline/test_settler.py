"""Settling on a store: with two servers, over restarts, beside imports, and its reports."""

import asyncio
import sys
from collections.abc import Sequence
from copy import deepcopy
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.clocks import local
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.store.ingest_trial import DOWN, NOW, TODAY, TOMORROW, IngestTrial
from tests.support.store.pipelines import plain_run
from tests.support.store.settling_trial import ASKED_EVERY_S, BOTH, ONE, SettlingTrial
from tests.support.store.stores import HOURS, emptied, hourly, sources_of, store_quotes
from tests.support.upstreams.elering import Quotes
from tests.support.upstreams.lies import (
    Lie,
    copied,
    first_half,
    first_quarters,
    in_hours,
    level,
    moved,
    plus,
    random,
    right,
    swapped,
    times,
)
from tests.support.upstreams.sources import ScriptedPrices
from tunnihind.api.health import judge_readiness
from tunnihind.api.served_data import read_served_data
from tunnihind.cli.inspect import read_status, status_lines
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, day_end, day_start, hourly_prices
from tunnihind.pipeline.back_fill import YEARS_FILLED_KEY, record_filled_part
from tunnihind.pipeline.settler import PriceSettler
from tunnihind.settling.day_prices import DayPrices
from tunnihind.settling.rule import ACCEPT_DISPUTED_AFTER_S, SettledDay, rule_on_days
from tunnihind.settling.sheet import ReasonCode
from tunnihind.settling.witness import Witness
from tunnihind.sources.base import DaySheet, Quote, day_sheets
from tunnihind.store.prices import AGREED, IMPORTED, AddedCounts, Price
from tunnihind.store.store import Store

FIRST = TODAY - timedelta(days=3)
BEFORE = TODAY - timedelta(days=1)


def right_quotes(first: date = FIRST, last: date = TOMORROW) -> Quotes:
    return made_up_quotes(first, last)


def until(quotes: Quotes, day: date) -> Quotes:
    return {zone: {ts: p for ts, p in prices.items() if ts < day_end(day)} for zone, prices in quotes.items()}


def settle(store: Store, quotes: Quotes) -> None:
    store_quotes(store, quotes, NOW - DAY_S, source="elering")


async def test_half_days_are_told_in_one_line_and_settled_ones_not_at_all(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "tunnihind.pipeline.settler")
    settle(store, until(right_quotes(), TODAY))
    half = {
        zone: {ts: p for ts, p in prices.items() if (ts - day_start(FIRST)) % DAY_S < DAY_S // 2}
        for zone, prices in right_quotes().items()
    }
    source = ScriptedPrices(half, name="elering")
    trial = IngestTrial(store, source)
    await trial.ingest(BEFORE, TOMORROW)
    assert caplog.messages == [f"elering's prices of EE, LV, LT, FI for {TOMORROW} are held back: 48 of 96 quarters"]
    source.quotes = right_quotes()
    await trial.ingest(BEFORE, TOMORROW)
    assert caplog.messages[1:] == [f"elering's prices of EE, LV, LT, FI for {TOMORROW} are now accepted"]


class Slow(ScriptedPrices):
    """A source that answers only when the test lets it."""

    def __init__(self, quotes: Quotes, *, name: str) -> None:
        super().__init__(quotes, name=name)
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def fetch_sheets(self, first: date, last: date) -> Sequence[DaySheet]:
        self.is_asked.set()
        await self.may_answer.wait()
        return await super().fetch_sheets(first, last)


@pytest.mark.parametrize("slow_name", ["elering", "entsoe"])
async def test_a_source_that_hangs_keeps_the_others_prices_from_nobody(store: Store, slow_name: str) -> None:
    settle(store, until(right_quotes(), TODAY))
    names = ["elering", "entsoe"]
    slow = Slow(right_quotes(), name=slow_name)
    quick = ScriptedPrices(right_quotes(), name=next(name for name in names if name != slow_name))
    sources = sorted((slow, quick), key=lambda source: names.index(source.name))
    trial = IngestTrial(store, *sources, patience_s=0)
    assert (await trial.ingest()).new == 4 * 96
    assert trial.changes == 1
    await trial.ingest()
    assert len(quick.asked) == 2, "the next question is not kept waiting either"
    slow.may_answer.set()
    await trial.finish()
    assert len(slow.asked) == 1, "who has not answered yet is not asked again"
    assert trial.changes == 3
    assert store.health.by_source()[slow_name].ok_ts is not None


async def test_the_first_fill_waits_for_the_second_source_and_takes_what_both_say(store: Store) -> None:
    first, second = ScriptedPrices(right_quotes(), name="elering"), Slow(right_quotes(), name="entsoe")
    trial = IngestTrial(store, first, second)
    asking = asyncio.create_task(trial.ingest(FIRST, TOMORROW))
    await second.is_asked.wait()
    assert hourly(store) == {}
    second.may_answer.set()
    assert (await asking).new == 4 * 5 * 96
    assert sources_of(store) == {AGREED}


async def test_the_same_answers_again_write_nothing_and_change_no_version(store: Store) -> None:
    quotes = deepcopy(right_quotes())
    trial = IngestTrial(store, ScriptedPrices(quotes, name="elering"), ScriptedPrices(quotes, name="entsoe"))
    await trial.ingest(FIRST, TOMORROW)
    version = store.state.served_version()
    assert (await trial.ingest(FIRST, TOMORROW, after_s=60)).stored_count == AddedCounts().stored_count
    assert store.state.served_version() == version


@pytest.fixture
def trial(store: Store) -> SettlingTrial:
    return SettlingTrial(store, TODAY)


def at(time: str) -> int:
    return local(f"{TODAY} {time}")


def test_what_was_heard_and_since_when_survives_another_server_taking_over(trial: SettlingTrial) -> None:
    trial.until(at("13:55"), elering=random(1, TOMORROW))
    for time in ("14:30", "15:10"):
        trial.until(at(time))
        trial.restart()
    assert trial.shows(TOMORROW) == "none"
    trial.until(at("15:55"))
    assert trial.shows(TOMORROW) == "wrong", "the two hours went on over the restarts"


def test_days_agreed_by_two_stay_agreed_when_the_token_is_taken_away(trial: SettlingTrial) -> None:
    trial.until(at("13:55"))
    trial.restart("elering")
    trial.until(at("20:00"), elering=plus(9, TOMORROW))
    assert trial.shows(TOMORROW) == "right"
    assert [(one.source, one.zone, one.reason) for one in trial.held()][:1] == [("elering", "ee", "disagreement")]


def operators(trial: SettlingTrial, eur_mwh: float, *days: date) -> None:
    """Import prices of some days as `import prices` does."""
    rows = [Price("ee", ts, QUARTER_S, eur_mwh + n % 7) for day in days for n, ts in enumerate(quarters_of(day))]
    trial.store.prices.add(rows, source=IMPORTED, seen_ts=trial.now)


def quarters_of(day: date) -> range:
    return range(day_start(day), day_end(day), QUARTER_S)


def test_an_import_settles_at_once_and_one_source_alone_never_undoes_it(trial: SettlingTrial) -> None:
    trial.until(at("13:55"), elering=random(1, TOMORROW), entsoe=random(2, TOMORROW))
    assert trial.shows(TOMORROW) == "none"
    operators(trial, 40, TOMORROW)
    imported = hourly(trial.store)
    trial.until(at("22:00"), elering=right, entsoe=None)
    assert hourly(trial.store) == imported
    assert any(one.zone == "ee" and "the settled price is 40.00" in one.detail for one in trial.held())
    trial.until(at("22:15"), entsoe=right)
    assert trial.shows(TOMORROW) == "right", "what both say counts more"


def test_an_import_stands_while_both_sources_repeat_what_they_said_before(trial: SettlingTrial) -> None:
    trial.until(at("13:55"), elering=random(1, TOMORROW), entsoe=random(1, TOMORROW))
    operators(trial, 40, TOMORROW)
    imported = hourly(trial.store)
    trial.until(at("22:00"))
    assert hourly(trial.store) == imported
    trial.until(at("22:15"), elering=right, entsoe=right)
    assert trial.shows(TOMORROW) == "right"


def test_a_past_day_that_is_asked_for_alone_withdraws_no_other_day(store: Store) -> None:
    trial = SettlingTrial(store, TODAY, sources=ONE)
    trial.until(at("13:55"))
    settling, corrected = PriceSettler(store, ESTONIA, ONE, lambda *_: None), TODAY - timedelta(days=2)
    said = plus(9, corrected)(trial.truth)
    for _ in range(8):
        trial.now += HOUR_S
        first, last = settling.days_to_request(corrected, corrected)
        assert (last - first).days == 1
        quotes = {zone: [Quote(*row) for row in prices.items()] for zone, prices in said.items()}
        sheets = [sheet for zone, rows in quotes.items() for sheet in day_sheets("elering", zone, rows, first, last)]
        settling.settle(sheets, trial.now)
    assert [trial.shows(day) for day in (corrected, TODAY, TOMORROW)] == ["wrong", "right", "right"]


def test_an_import_of_the_prices_that_are_settled_confirms_them(store: Store) -> None:
    trial = SettlingTrial(store, TODAY, sources=ONE)
    trial.until(at("13:55"))
    rows = [Price("ee", ts, QUARTER_S, p) for ts, p in trial.truth["ee"].items() if ts in quarters_of(TOMORROW)]
    assert store.prices.add(rows, source=IMPORTED, seen_ts=trial.now).stored_count == 0
    trial.until(at("22:00"), elering=plus(9, TOMORROW, zone="ee"))
    assert trial.shows(TOMORROW) == "right"


def import_half_of_tomorrow(trial: SettlingTrial, prices: Lie) -> None:
    noon = day_start(TOMORROW) + 12 * HOUR_S
    half = [Price("ee", ts, QUARTER_S, p) for ts, p in prices(trial.truth)["ee"].items() if ts in quarters_of(TOMORROW)]
    trial.store.prices.add([one for one in half if one.ts < noon], source=IMPORTED, seen_ts=trial.now)


def test_half_an_imported_day_is_filled_by_a_source_that_says_the_same(store: Store) -> None:
    trial = SettlingTrial(store, TODAY, sources=ONE)
    import_half_of_tomorrow(trial, right)
    trial.until(at("13:55"))
    assert trial.shows(TOMORROW) == "right"


def test_half_an_imported_day_of_zeros_is_not_filled_with_zeros_of_one_source(store: Store) -> None:
    trial = SettlingTrial(store, TODAY, sources=ONE)
    import_half_of_tomorrow(trial, level(0.0, TOMORROW))
    trial.until(at("22:00"), elering=level(0.0, TOMORROW))
    assert sum(start >= day_start(TOMORROW) for start in hourly(store)) == 12


def test_a_day_by_five_minutes_is_settled_and_read_as_hours(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in tuple(sys.modules.items()):
        if name.startswith("tunnihind.") and hasattr(module, "STEPS"):
            monkeypatch.setattr(module, "STEPS", (HOUR_S, QUARTER_S, 300))
    quotes = [Quote(ts, float(n)) for n, ts in enumerate(range(day_start(TOMORROW), day_end(TOMORROW), 300))]
    sheets = [sheet for source in BOTH for sheet in day_sheets(source, "ee", quotes, TOMORROW, TOMORROW)]
    settler = PriceSettler(store, ESTONIA, BOTH, lambda *held: pytest.fail(f"{held}"))
    assert settler.settle(sheets, at("13:55")).added == AddedCounts(new=288)
    assert sources_of(store) == {AGREED}
    assert list(hourly(store).values()) == [12.0 * n + 5.5 for n in range(24)]


def test_a_copy_of_a_day_that_has_quarters_only_before_noon_is_doubtful() -> None:
    quarters, noon = quarters_of(TODAY), day_start(TODAY) + 12 * HOUR_S
    today = DayPrices(
        {
            QUARTER_S: {ts: ts % 97.0 for ts in quarters if ts < noon},
            HOUR_S: dict.fromkeys(range(noon, day_end(TODAY), HOUR_S), 7.0),
        }
    )
    copy = Witness("elering", "ee", TOMORROW, tuple(today.hours.values()), NOW, NOW)
    ruling = rule_on_days([{TOMORROW: copy}], {TODAY: SettledDay(today, NOW, frozenset())}, TOMORROW)[TOMORROW]
    assert ruling.settles is None
    assert ruling.held["elering"].reason is ReasonCode.COPY


def test_a_wrong_first_fill_goes_with_its_forecasts_when_both_are_right(store: Store) -> None:
    trial = SettlingTrial(store, TODAY, known=())
    old = TODAY - timedelta(days=400)
    trial.now = at("14:00")
    store.prices.add([Price("ee", day_start(old), HOUR_S, 1.0)], source="elering", seen_ts=trial.now + 1)
    store.prices.add([Price("ee", day_start(old) + HOUR_S, HOUR_S, 1.0)], source=IMPORTED, seen_ts=trial.now + 1)
    trial.until(at("14:00"), elering=moved(HOUR_S))
    store.runs.add(plain_run(at("14:05")))
    record_filled_part(store.state, YEARS_FILLED_KEY, "2024", at("14:06"))
    outcomes = trial.until(at("14:30"), elering=right, entsoe=right)
    assert trial.shows(TODAY) == "right"
    assert outcomes[-1].wrong_since == at("14:00")
    assert store.runs.newest(HOURS) is None
    archive = store.prices.read_archive()
    assert [int(ts) for ts in archive.ts[archive.ts < day_end(old)]] == [day_start(old) + HOUR_S]
    assert archive.as_of(at("14:10")).series_of("ee").newest_day == TODAY, (
        "as of no instant was the wrong tomorrow known"
    )
    known = archive.as_of(at("14:10")).series_of("ee")
    assert known == {ts: pytest.approx(hourly_prices(trial.truth["ee"])[ts]) for ts in known if ts > day_end(old)} | {
        ts: 1.0 for ts in known if ts < day_end(old)
    }


async def test_after_a_wrong_first_fill_the_years_are_filled_again(store: Store) -> None:
    quotes = right_quotes()
    first, second = ScriptedPrices(moved(HOUR_S)(quotes), name="elering"), ScriptedPrices(quotes, name="entsoe")
    second.is_down = DOWN
    trial = IngestTrial(store, first, second)
    await trial.ingest(FIRST, TOMORROW)
    record_filled_part(store.state, YEARS_FILLED_KEY, "2025", NOW + 1)
    first.quotes, second.is_down = quotes, None
    await trial.ingest(FIRST, TOMORROW, after_s=HOUR_S)
    assert hourly(store) == pytest.approx(hourly_prices(quotes["ee"]))
    assert store.state.read(YEARS_FILLED_KEY) == {}


def test_with_two_sources_what_is_held_or_unconfirmed_is_warned_of_and_listed(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    store.state.record_price_source_names(["elering", "entsoe"])
    trial = SettlingTrial(store, TODAY)
    trial.until(at("13:55"), entsoe=None)
    unconfirmed = (
        f"the prices of EE, FI for {TOMORROW} are unconfirmed: elering gave them, and no second source says the same"
    )
    assert judge_readiness(read_served_data(store, ESTONIA, trial.now), trial.now, pipeline_expected=True).warnings == [
        unconfirmed
    ]
    caplog.clear()
    trial.until(at("14:10"), entsoe=times(1.24, TOMORROW, zone="ee"))
    trial.until(at("14:40"))
    told = (
        f"'s prices of EE for {TOMORROW} are held back: 57.37 EUR/MWh at 2025-12-15T23:00:00Z where entsoe says 71.14 "
        "(0.806 times as high); neither is accepted for two hours; `./run import prices FILE` can settle them"
    )
    readiness = judge_readiness(read_served_data(store, ESTONIA, trial.now), trial.now, pipeline_expected=True)
    assert f"elering{told}" in readiness.warnings
    assert [line for line in caplog.messages if told in line] == [f"elering{told}"], "the log says it once"
    assert f"held back   elering{told}" in list(status_lines(read_status(store, ESTONIA, trial.now, is_past=False)))
    trial.until(at("14:50"), entsoe=right)
    assert (
        judge_readiness(read_served_data(store, ESTONIA, trial.now), trial.now, pipeline_expected=True).warnings == []
    )


def test_with_one_source_unconfirmed_prices_are_no_warning(store: Store) -> None:
    store.state.record_price_source_names(["elering"])
    trial = SettlingTrial(store, TODAY, sources=ONE)
    trial.until(at("13:55"))
    assert (
        judge_readiness(read_served_data(store, ESTONIA, trial.now), trial.now, pipeline_expected=True).warnings == []
    )


LIES = [
    right,
    moved(HOUR_S),
    moved(HOUR_S, TOMORROW),
    moved(-QUARTER_S, TODAY),
    times(1.24),
    times(0.1, TOMORROW),
    random(1, TODAY),
    random(2, TOMORROW),
    level(0, TOMORROW),
    copied(TOMORROW),
    in_hours(),
    first_quarters(TOMORROW),
    first_half(TOMORROW),
    swapped("ee", "fi"),
    None,
]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    liar=st.sampled_from(BOTH),
    told=st.lists(st.tuples(st.sampled_from(LIES), st.integers(5, 115)), min_size=1, max_size=5),
)
def test_beside_a_right_source_a_liar_only_ever_delays_what_is_right(
    store: Store, liar: str, told: list[tuple[Lie | None, int]]
) -> None:
    trial = SettlingTrial(emptied(store), TODAY)
    now, lie_since, none_since = at("13:55"), at("13:55"), at("13:55")
    said = _about_tomorrow(trial, right)
    for lie, minutes in [*told, (right, 1)]:
        # An outage doesn't end a lie, and two lies may say the same about tomorrow.
        if lie is not None and (about := _about_tomorrow(trial, lie)) != said:
            lie_since, said = now, about
        trial.until(now, **{liar: lie})
        assert trial.shows(TODAY) == "right"
        if trial.shows(TOMORROW) == "wrong":
            assert now - lie_since >= ACCEPT_DISPUTED_AFTER_S, "two hours of the same lie about tomorrow alone"
        if trial.shows(TOMORROW) == "none":
            assert now - none_since < ACCEPT_DISPUTED_AFTER_S + ASKED_EVERY_S
        else:
            none_since = now
        now += minutes * 60
    assert (trial.shows(TODAY), trial.shows(TOMORROW), trial.held()) == ("right", "right", [])


def _about_tomorrow(trial: SettlingTrial, lie: Lie) -> Quotes:
    quarters = quarters_of(TOMORROW)
    return {zone: {ts: said[ts] for ts in quarters if ts in said} for zone, said in lie(trial.truth).items()}

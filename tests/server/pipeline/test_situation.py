"""The pipeline's situation, read from a real store."""

from collections.abc import Iterable
from datetime import date, timedelta

import pytest

from tests.support.clocks import local
from tests.support.store.pipelines import NO_HISTORY, plain_run
from tests.support.store.stores import day_range, store_quotes
from tests.support.upstreams.elering import Quotes, flat_quotes
from tests.support.upstreams.sources import ScriptedWeather, estonian_quotes
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, Zone, day_start
from tunnihind.pipeline.back_fill import YEARS_FILLED_KEY, record_filled_part
from tunnihind.pipeline.schedule import Situation, ZoneSituation
from tunnihind.pipeline.situation import read_situation
from tunnihind.settling.witness import Witness
from tunnihind.sources.base import CovariateSource
from tunnihind.store.store import Store

NOW = local("2025-12-15 10:00")
TODAY = date(2025, 12, 15)
SEPTEMBER = date(2025, 9, 1)


def situation(store: Store, now: int = NOW, *sources: CovariateSource, history_start: date = NO_HISTORY) -> Situation:
    return read_situation(store, [ESTONIA], sources, history_start, {"ee": "model"}, {}, now)


def without(quotes: Quotes, *missing: int) -> Quotes:
    return {zone: {ts: price for ts, price in prices.items() if ts not in missing} for zone, prices in quotes.items()}


def hold(store: Store, day: date, zone: Zone = "ee", *, reason: str = "zeros") -> None:
    store.witnesses.put(Witness("first", zone, day, (), NOW, NOW, reason))


def days_ago(*back: int) -> tuple[date, ...]:
    return tuple(TODAY - timedelta(days=n) for n in back)


def test_an_empty_store_has_nothing(store: Store) -> None:
    assert situation(store) == Situation(ESTONIA, {"ee": ZoneSituation()})


def test_settled_through_the_last_whole_day(store: Store) -> None:
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=5), TODAY, QUARTER_S), NOW)
    assert situation(store).settled_through == TODAY


def test_a_missing_quarter_leaves_its_day_unsettled(store: Store) -> None:
    quotes = estonian_quotes(TODAY - timedelta(days=5), TODAY, QUARTER_S)
    store_quotes(store, without(quotes, day_start(TODAY) + 40 * QUARTER_S), NOW)
    assert situation(store).settled_through == TODAY - timedelta(days=1)


def test_a_gap_of_the_last_days_is_not_jumped_over(store: Store) -> None:
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=10), TODAY - timedelta(days=6)), NOW)
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=2), TODAY), NOW)
    assert situation(store).settled_through == TODAY - timedelta(days=6)


def test_prices_of_long_ago_settle_nothing_of_late(store: Store) -> None:
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=40), TODAY - timedelta(days=15)), NOW)
    assert situation(store).settled_through is None


def test_other_zones_prices_do_not_count(store: Store) -> None:
    quotes = flat_quotes(TODAY, TODAY, QUARTER_S)
    quotes.pop("ee")
    store_quotes(store, quotes, NOW)
    assert situation(store).settled_through is None


@pytest.mark.parametrize(("day", "quarters"), [(date(2026, 3, 29), 92), (date(2026, 10, 25), 100)])
def test_a_day_of_a_clock_change_is_whole_with_all_its_quarters(store: Store, day: date, quarters: int) -> None:
    quotes = estonian_quotes(day - timedelta(days=1), day, QUARTER_S)
    last = max(quotes["ee"])
    assert sum(ts >= day_start(day) for ts in quotes["ee"]) == quarters
    store_quotes(store, without(quotes, last), day_start(day))
    assert situation(store, day_start(day)).settled_through == day - timedelta(days=1)
    store_quotes(store, {"ee": {last: 1.0, last - QUARTER_S: 2.0}}, day_start(day) + 60)
    assert situation(store, day_start(day) + 60).settled_through == day


def test_a_held_day_of_the_past_keeps_nothing_up_but_today_and_tomorrow_do(store: Store) -> None:
    held = TODAY - timedelta(days=3)
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=6), TODAY - timedelta(days=4)), NOW)
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=2), TODAY - timedelta(days=1)), NOW)
    assert situation(store).settled_through == TODAY - timedelta(days=4)
    hold(store, held)
    assert situation(store).settled_through == TODAY - timedelta(days=1)
    hold(store, TODAY)
    assert situation(store).settled_through == TODAY - timedelta(days=1)


def test_a_held_day_of_another_zone_excuses_no_gap(store: Store) -> None:
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=6), TODAY - timedelta(days=4)), NOW)
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=2), TODAY), NOW)
    hold(store, TODAY - timedelta(days=3), "lv")
    assert situation(store).settled_through == TODAY - timedelta(days=4)


def test_held_days_are_retried_for_a_month_unless_the_ordinary_fetches_reach_them(store: Store) -> None:
    for day in days_ago(-1, 0, 2, 3, 30, 31):
        hold(store, day)
    hold(store, TODAY - timedelta(days=3), "fi")
    assert situation(store).held_days == days_ago(30, 3)


def test_a_day_that_is_held_no_more_is_not_retried(store: Store) -> None:
    hold(store, TODAY - timedelta(days=5))
    hold(store, TODAY - timedelta(days=5), reason="")
    assert situation(store).held_days == ()


def test_a_run_of_the_future_is_none_of_this_clocks(store: Store) -> None:
    store.runs.add(plain_run(NOW - HOUR_S))
    store.runs.add(plain_run(NOW + DAY_S))
    assert situation(store).zones["ee"].run_made_at == NOW - HOUR_S


def years(store: Store, now: int) -> tuple[int, ...]:
    return situation(store, now, history_start=date(2022, 1, 1)).missing_years


def months(
    store: Store, now: int, *, name: str = "weather", since: date = SEPTEMBER, history_start: date = SEPTEMBER
) -> tuple[date, ...]:
    source = ScriptedWeather(name, since=since)
    return situation(store, now, source, history_start=history_start).covariates[name].missing_parts


def fill_years(store: Store, at: int, chunks: Iterable[int]) -> None:
    for year in chunks:
        record_filled_part(store.state, YEARS_FILLED_KEY, str(year), at)


def test_history_is_missing_from_now_back_to_the_first_year_and_month(store: Store) -> None:
    assert years(store, NOW) == (2025, 2024, 2023, 2022)
    assert months(store, NOW) == (date(2025, 12, 1), date(2025, 11, 1), date(2025, 10, 1), date(2025, 9, 1))
    assert not situation(store).covariates


@pytest.mark.parametrize(
    ("since", "history_start", "first"),
    [
        (date(2024, 3, 14), date(2021, 1, 1), date(2024, 3, 1)),
        (date(2015, 1, 5), date(2023, 1, 1), date(2023, 1, 1)),
    ],
)
def test_each_source_is_filled_from_its_own_first_day_or_the_wanted_one(
    store: Store, since: date, history_start: date, first: date
) -> None:
    assert months(store, NOW, since=since, history_start=history_start)[-1] == first


def test_a_month_that_one_source_has_filled_is_still_missing_of_another(store: Store) -> None:
    record_filled_part(store.state, "months of weather filled", "2025-10-01", NOW)
    assert date(2025, 10, 1) not in months(store, NOW)
    assert date(2025, 10, 1) in months(store, NOW, name="entsoe-forecasts")


def test_a_year_begins_with_its_first_delivery_day(store: Store) -> None:
    assert years(store, local("2026-01-01 00:59"))[0] == 2025
    assert years(store, local("2026-01-01 01:00"))[0] == 2026


def test_what_was_filled_after_its_end_is_done_for_good(store: Store) -> None:
    fill_years(store, NOW, (2022, 2024))
    record_filled_part(store.state, "months of weather filled", "2025-10-01", NOW)
    assert years(store, NOW) == (2025, 2023)
    assert years(store, NOW + 400 * DAY_S) == (2027, 2026, 2025, 2023)
    assert months(store, NOW) == (date(2025, 12, 1), date(2025, 11, 1), date(2025, 9, 1))


def test_a_year_filled_early_is_filled_again_before_a_gap_can_open(store: Store) -> None:
    fill_years(store, NOW, (2022, 2023, 2024, 2025))
    assert years(store, NOW + 14 * DAY_S - 1) == ()
    assert years(store, NOW + 14 * DAY_S) == (2025,)
    assert years(store, NOW + 40 * DAY_S) == (2026, 2025)


def test_a_month_of_covariates_filled_before_its_end_is_filled_again_after_a_day(store: Store) -> None:
    for month in ("2025-12-01", "2025-11-01", "2025-10-01", "2025-09-01"):
        record_filled_part(store.state, "months of weather filled", month, NOW)
    assert months(store, NOW + DAY_S - 1) == ()
    assert months(store, NOW + DAY_S) == (date(2025, 12, 1),)
    assert months(store, local("2026-01-01 03:00")) == (date(2026, 1, 1), date(2025, 12, 1))


def test_what_was_filled_by_a_clock_that_ran_ahead_counts_as_never_filled(store: Store) -> None:
    fill_years(store, NOW + 900 * DAY_S, (2027, 2026, 2025, 2024, 2023, 2022))
    assert years(store, NOW) == (2025, 2024, 2023, 2022)
    assert years(store, NOW + 400 * DAY_S) == (2027, 2026, 2025, 2024, 2023, 2022)


@pytest.mark.parametrize("garbage", [["2025"], "2025", 7, {"2025": "yesterday"}, None])
def test_a_note_that_makes_no_sense_only_costs_a_fill(store: Store, garbage: list[str] | str | int | None) -> None:
    store.state.write(YEARS_FILLED_KEY, garbage)
    assert years(store, NOW) == (2025, 2024, 2023, 2022)
    fill_years(store, NOW, (2025,))
    assert years(store, NOW) == (2024, 2023, 2022)


def test_days_of_settled_history_are_counted_in_the_markets_time(store: Store) -> None:
    # Estonian clocks already show the 16th, but the delivery day is still the 15th.
    now = local("2025-12-16 00:30")
    store_quotes(store, estonian_quotes(TODAY, TODAY + timedelta(days=1)), now)
    for day in day_range(TODAY - timedelta(days=4), 4):
        hold(store, day)
    found = situation(store, now)
    assert found.settled_through == TODAY + timedelta(days=1)
    assert found.held_days == days_ago(4, 3)

"""Versions of prices, and the instants from which they count as known."""

from datetime import date

import pytest

from tests.support.store.stores import DAY, level, utc, whole_day
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S, day_end, day_start, hours_of, publication_time
from tunnihind.known import PriceHistory
from tunnihind.store.prices import AddedCounts, Price
from tunnihind.store.store import Store

NOON = utc("2025-12-15T11:00")
PUBLISHED = publication_time(DAY)
EVE = PUBLISHED + 600
"""Shortly after publication, when a running server first reads the day's prices."""


def as_of(store: Store, instant: int) -> PriceHistory:
    return store.prices.read_archive().as_of(instant)


def test_prices_seen_before_delivery_are_known_from_then_on(store: Store) -> None:
    assert store.prices.add(whole_day(DAY), source="a", seen_ts=EVE) == AddedCounts(new=24 * 4)
    assert as_of(store, EVE - 1).series_of("ee") == {}
    assert as_of(store, EVE).series_of("ee") == {ts: 10.0 + n for n, ts in enumerate(hours_of(DAY))}


def test_back_filled_prices_count_as_known_at_the_publication_of_their_day(store: Store) -> None:
    store.prices.add(whole_day(DAY), source="import", seen_ts=day_end(DAY) + 100 * DAY_S)
    assert as_of(store, PUBLISHED - 1).series_of("ee") == {}
    assert list(as_of(store, PUBLISHED).series_of("ee")) == list(hours_of(DAY))


def test_of_prices_first_seen_during_the_day_only_those_to_come_were_unknown_before(store: Store) -> None:
    store.prices.add(whole_day(DAY), source="a", seen_ts=NOON)
    assert list(as_of(store, PUBLISHED).series_of("ee")) == [ts for ts in hours_of(DAY) if ts <= NOON]
    assert list(as_of(store, NOON).series_of("ee")) == list(hours_of(DAY))


def test_a_correction_is_never_known_before_it_was_seen(store: Store) -> None:
    store.prices.add(whole_day(DAY), source="a", seen_ts=EVE)
    later = day_end(DAY) + 5 * DAY_S
    assert store.prices.add(whole_day(DAY, price=lambda n: -float(n)), source="b", seen_ts=later).corrected == 24 * 4
    first, last = hours_of(DAY)[0], hours_of(DAY)[-1]
    assert (as_of(store, later - 1).series_of("ee")[first], as_of(store, later - 1).series_of("ee")[last]) == (
        10.0,
        33.0,
    )
    assert (as_of(store, later).series_of("ee")[first], as_of(store, later).series_of("ee")[last]) == (0.0, -23.0)


def test_unchanged_prices_leave_no_trace_and_changed_ones_do_in_the_same_answer(store: Store) -> None:
    store.prices.add(whole_day(DAY), source="a", seen_ts=EVE)
    prices = [p._replace(eur_mwh=0.0) if p.ts == hours_of(DAY)[3] else p for p in whole_day(DAY)]
    assert store.prices.add(prices, source="b", seen_ts=EVE + 60) == AddedCounts(corrected=4, unchanged=23 * 4)
    assert store.prices.count() == 24 * 4 + 4


def test_zero_and_negative_prices_are_prices(store: Store) -> None:
    store.prices.add(whole_day(DAY, price=lambda n: 0.0 if n % 2 else -60.01), source="a", seen_ts=EVE)
    assert set(as_of(store, EVE).series_of("ee").values()) == {0.0, -60.01}
    assert store.prices.add(whole_day(DAY, price=level(0.0)), source="a", seen_ts=EVE + 1).corrected == 12 * 4


def test_prices_come_back_to_the_last_bit(store: Store) -> None:
    third = 100 / 3
    store.prices.add([Price("ee", day_start(DAY), HOUR_S, third)], source="a", seen_ts=EVE)
    assert as_of(store, EVE).series_of("ee") == {day_start(DAY): third}
    assert store.prices.add([Price("ee", day_start(DAY), HOUR_S, third)], source="a", seen_ts=EVE + 1).stored_count == 0


def test_back_and_forth_between_two_values_ends_at_the_last_one(store: Store) -> None:
    for n, price in enumerate([1.0, 2.0, 1.0, 2.0]):
        store.prices.add([Price("ee", day_start(DAY), HOUR_S, price)], source="a", seen_ts=EVE + n)
    assert [as_of(store, EVE + n).series_of("ee")[day_start(DAY)] for n in range(4)] == [1.0, 2.0, 1.0, 2.0]


def test_two_corrections_within_one_second_are_both_kept_in_order(store: Store) -> None:
    for price in [1.0, 2.0, 3.0]:
        store.prices.add([Price("ee", day_start(DAY), HOUR_S, price)], source="a", seen_ts=EVE)
    assert store.prices.count() == 3
    assert as_of(store, EVE).series_of("ee") == {day_start(DAY): 3.0}


def test_after_the_clock_was_set_back_a_correction_still_wins(store: Store) -> None:
    price = Price("ee", day_start(DAY), HOUR_S, 1.0)
    store.prices.add([price], source="a", seen_ts=EVE + 3 * HOUR_S)
    assert store.prices.add([price._replace(eur_mwh=2.0)], source="a", seen_ts=EVE).corrected == 1
    assert as_of(store, EVE).series_of("ee") == {}
    assert as_of(store, EVE + 3 * HOUR_S).series_of("ee") == {price.ts: 2.0}
    assert store.prices.read_archive().newest_versions().series_of("ee") == {price.ts: 2.0}


def test_a_clock_years_ahead_for_a_moment_does_not_hide_later_corrections(store: Store) -> None:
    price = Price("ee", day_start(DAY), HOUR_S, 1.0)
    store.prices.add([price], source="a", seen_ts=utc("2099-01-01"))
    store.prices.add([price._replace(eur_mwh=2.0)], source="a", seen_ts=NOON)
    assert as_of(store, PUBLISHED).series_of("ee") == {price.ts: 1.0}
    assert as_of(store, NOON).series_of("ee") == {price.ts: 2.0}


@pytest.mark.parametrize("hours_first", [True, False])
def test_whole_quarters_win_over_an_hour_whichever_came_first(store: Store, hours_first: bool) -> None:
    hours = whole_day(DAY, HOUR_S, price=level(1000.0))
    quarters = whole_day(DAY, QUARTER_S, price=float)
    for n, prices in enumerate([hours, quarters] if hours_first else [quarters, hours]):
        store.prices.add(prices, source="import", seen_ts=day_end(DAY) + n)
    assert as_of(store, PUBLISHED).series_of("ee") == {ts: 4 * n + 1.5 for n, ts in enumerate(hours_of(DAY))}


def test_an_hour_stands_where_its_quarters_are_not_whole(store: Store) -> None:
    hours = whole_day(DAY, HOUR_S, price=level(1000.0))
    quarters = [price for price in whole_day(DAY, QUARTER_S, price=float) if price.ts != day_start(DAY) + QUARTER_S]
    store.prices.add([*hours, *quarters], source="import", seen_ts=day_end(DAY))
    first, second = list(as_of(store, PUBLISHED).series_of("ee").values())[:2]
    assert (first, second) == (1000.0, 5.5)


def test_an_hour_lacking_a_quarter_does_not_exist(store: Store) -> None:
    quarters = [price for price in whole_day(DAY, QUARTER_S) if price.ts != day_start(DAY) + QUARTER_S]
    store.prices.add(quarters, source="a", seen_ts=EVE)
    assert list(as_of(store, EVE).series_of("ee")) == list(hours_of(DAY))[1:]


@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
@pytest.mark.parametrize(("day", "hours"), [(date(2025, 3, 30), 23), (date(2025, 10, 26), 25), (DAY, 24)])
def test_a_day_has_the_hours_that_its_clocks_give_it(store: Store, day: date, hours: int, step_s: int) -> None:
    store.prices.add(whole_day(day, step_s), source="a", seen_ts=day_end(day))
    history = as_of(store, publication_time(day))
    assert list(history.series_of("fi")) == list(hours_of(day))
    assert len(history.series_of("ee")) == hours
    assert (history.series_of("ee").newest_ts, history.series_of("ee").newest_day) == (hours_of(day)[-1], day)


def test_zones_are_kept_apart(store: Store) -> None:
    store.prices.add(whole_day(DAY, zones=["lv"]), source="a", seen_ts=EVE)
    history = as_of(store, EVE)
    assert len(history.series_of("lv")) == 24
    assert [history.series_of(zone) for zone in ("ee", "lt", "fi")] == [{}, {}, {}]
    assert history.series_of("ee").newest_day is None
    assert store.prices.read_archive(zones=["ee"]).newest_versions().series_of("lv") == {}


def test_history_since_an_instant_begins_there(store: Store) -> None:
    store.prices.add(whole_day(DAY), source="a", seen_ts=EVE)
    assert min(store.prices.read_archive(NOON).newest_versions().series_of("ee")) == NOON


def test_years_apart_in_one_answer_are_all_kept(store: Store) -> None:
    days = [date(year, 12, 15) for year in (2010, 2021, 2023, 2024, 2025)]
    prices = [price for day in reversed(days) for price in whole_day(day, zones=["ee"])]
    assert store.prices.add(prices, source="import", seen_ts=NOON + 2 * DAY_S).new == 24 * 5
    assert store.prices.add(prices, source="import", seen_ts=NOON + 3 * DAY_S) == AddedCounts(unchanged=24 * 5)
    assert len(store.prices.read_archive().newest_versions().series_of("ee")) == 24 * 5


def test_nothing_to_add_is_nothing_added(store: Store) -> None:
    assert store.prices.add([], source="a", seen_ts=NOON) == AddedCounts()
    assert store.prices.read_archive().as_of(NOON).series_of("ee") == {}
    assert store.prices.read_archive().newest_versions().series_of("ee").newest_ts is None


def test_the_newest_price_is_told_per_zone(store: Store) -> None:
    assert store.prices.newest_ts("ee") is None
    store.prices.add(whole_day(DAY, QUARTER_S, zones=["ee"]), source="a", seen_ts=EVE)
    store.prices.add(whole_day(DAY, zones=["lv"]), source="a", seen_ts=EVE)
    assert store.prices.newest_ts("ee") == day_end(DAY) - QUARTER_S
    assert store.prices.newest_ts("lv") == day_end(DAY) - HOUR_S
    assert store.prices.newest_ts("fi") is None

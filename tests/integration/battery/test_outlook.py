"""What a battery's plan knows of the time ahead."""

from datetime import date, timedelta

import pytest

from custom_components.tunnihind.battery.outlook import Outlook, outlook, usual_load, usual_sun
from custom_components.tunnihind.core.market import ESTONIA, HOUR_S
from custom_components.tunnihind.prices.timeline import Timeline
from tests.support.battery.days import LOSSLESS
from tests.support.household.timelines import DAY_S, NIGHT, QUARTER_S, hour, line, settled

NOON = NIGHT + 12 * HOUR_S
LOAD = {NIGHT + place * HOUR_S: 1.0 for place in range(48)}


def ahead(
    buying: Timeline,
    selling: Timeline | None = None,
    now: int = NIGHT,
    *,
    load: dict[int, float] | None = None,
    sun: dict[int, float] | None = None,
    usual: dict[int, float] | None = None,
) -> Outlook | None:
    return outlook(
        LOSSLESS,
        buying,
        selling,
        now,
        load_kwh=LOAD if load is None else load,
        sun_kwh=sun or {},
        usual_sun_kwh=usual or {},
    )


def test_the_first_step_is_the_rest_of_the_present_period() -> None:
    found = ahead(line(settled(NIGHT, [0.1, 0.2, 0.3])), now=NIGHT + 1200)
    assert found is not None
    assert found.steps.starts.tolist() == [NIGHT + 1200, NIGHT + HOUR_S, NIGHT + 2 * HOUR_S]
    assert found.steps.end == NIGHT + 3 * HOUR_S
    assert found.steps.buying.tolist() == [0.1, 0.2, 0.3]
    assert found.steps.use_kw.tolist() == [1, 1, 1]


def test_steps_are_quarters_if_either_price_is_by_the_quarter() -> None:
    hourly = line(settled(NIGHT, [0.1, 0.2]))
    quarters = hourly.with_step(QUARTER_S)
    for buying, selling in ((hourly, quarters), (quarters, hourly)):
        found = ahead(buying, selling, NIGHT + 20 * 60)
        assert found is not None
        assert found.steps.starts.tolist() == [NIGHT + 1200, *range(NIGHT + 1800, NIGHT + 2 * HOUR_S, QUARTER_S)]
        assert found.steps.buying.tolist() == [0.1] * 3 + [0.2] * 4
        assert found.steps.selling.tolist() == found.steps.buying.tolist()


def test_settled_prices_are_followed_by_the_median_of_the_forecast() -> None:
    found = ahead(line(settled(NIGHT, [0.1]), [hour(NIGHT + HOUR_S, 0.2, low=0.0, high=0.9)]))
    assert found is not None
    assert found.steps.buying.tolist() == [0.1, 0.2]


def test_without_a_selling_contract_a_surplus_earns_nothing() -> None:
    found = ahead(line(settled(NIGHT, [0.1, 0.2])))
    assert found is not None
    assert found.steps.selling.tolist() == [0, 0]


def test_the_steps_end_at_the_first_unknown_price_or_load() -> None:
    whole = line(settled(NIGHT, [0.1] * 6))
    gap = line(settled(NIGHT, [0.1, 0.1, 0.1, None, 0.1, 0.1]))
    gap_in_load = {start: load for start, load in LOAD.items() if start != NIGHT + 3 * HOUR_S}
    for found in (ahead(gap), ahead(whole, gap), ahead(gap, whole), ahead(whole, load=gap_in_load)):
        assert found is not None
        assert found.steps.end == NIGHT + 3 * HOUR_S


@pytest.mark.parametrize(
    ("buying", "selling", "load"),
    [
        (line(), None, LOAD),
        (line(settled(NIGHT, [None, 0.1])), None, LOAD),
        (line(settled(NIGHT, [0.1])), line(), LOAD),
        (line(settled(NIGHT, [0.1])), None, {}),
        (line(settled(NIGHT - DAY_S, [0.1])), None, LOAD),
    ],
    ids=["no prices", "no present price", "no selling price", "no load", "old prices"],
)
def test_nothing_is_planned_without_the_present_price_and_load(
    buying: Timeline, selling: Timeline | None, load: dict[int, float]
) -> None:
    assert ahead(buying, selling, load=load) is None


def test_the_usual_sun_stands_in_after_a_forecast_that_ends_at_noon() -> None:
    prices = line(settled(NIGHT, [0.1] * 24))
    forecast = {NOON - 2 * HOUR_S: 3.0, NOON - HOUR_S: 4.0}
    usual = {NIGHT + place * HOUR_S: 2.0 for place in range(10, 16)}
    found = ahead(prices, sun=forecast, usual=usual)
    assert found is not None
    assert found.sun_known_until == NOON
    assert found.steps.use_kw[8:17].tolist() == [1, 1, -2, -3, -1, -1, -1, -1, 1]


def test_the_usual_sun_stands_in_before_a_forecast_of_tomorrow_only() -> None:
    prices = line(settled(NIGHT, [0.1] * 48))
    tomorrow = {NOON + DAY_S + place * HOUR_S: 5.0 for place in range(2)}
    found = ahead(prices, sun=tomorrow, usual={NOON: 2.0, NOON + DAY_S: 2.0})
    assert found is not None
    assert found.steps.use_kw[[11, 12, 36, 37]].tolist() == [1, -1, -4, -4]


def test_a_forecast_of_the_sun_to_the_end_needs_no_stand_in() -> None:
    found = ahead(line(settled(NIGHT, [0.1] * 3)), sun={NIGHT + place * HOUR_S: 0.5 for place in range(6)})
    assert found is not None
    assert found.sun_known_until is None
    assert found.steps.use_kw.tolist() == [0.5] * 3


def test_a_home_without_sun_lacks_no_forecast() -> None:
    found = ahead(line(settled(NIGHT, [0.1] * 3)))
    assert found is not None
    assert found.sun_known_until is None


def test_an_old_forecast_of_the_sun_is_replaced_by_the_usual_sun() -> None:
    prices = line(settled(NIGHT, [0.1] * 3))
    usual = {NIGHT + place * HOUR_S: 2.0 for place in range(3)}
    for old in ({}, {NIGHT - DAY_S: 5.0}):
        found = ahead(prices, sun=old, usual=usual)
        assert found is not None
        assert found.sun_known_until is not None
        assert found.sun_known_until <= NIGHT
        assert found.steps.use_kw.tolist() == [-1] * 3


def clock_load(first: date, days: int) -> dict[int, float]:
    """Return a load that is the hour of the clock, 100 more on working days."""
    start, end = ESTONIA.midnight(first), ESTONIA.midnight(first + timedelta(days=days))
    locals_ = {hour: ESTONIA.local_time(hour) for hour in range(start, end, HOUR_S)}
    return {hour: wall.hour + (100 if wall.weekday() < 5 else 0) for hour, wall in locals_.items()}


@pytest.mark.parametrize(
    ("changes", "lengths"),
    [(date(2026, 3, 29), [23, 24]), (date(2026, 10, 25), [25, 24])],
    ids=["23 hours", "25 hours"],
)
def test_the_usual_load_follows_the_clock_when_the_clocks_change(changes: date, lengths: list[int]) -> None:
    first, end = ESTONIA.midnight(changes), ESTONIA.midnight(changes + timedelta(days=2))
    past = clock_load(changes - timedelta(days=28), 28)
    expected = usual_load(past, ESTONIA, first, end)
    assert len(expected) == sum(lengths)
    sunday, monday = (changes, 0), (changes + timedelta(days=1), 100)
    for hour_, load in expected.items():
        wall = ESTONIA.local_time(hour_)
        assert load == wall.hour + dict((sunday, monday))[wall.date()]


def test_a_public_holiday_has_the_load_of_days_off() -> None:
    holiday = date(2026, 2, 24)
    first = ESTONIA.midnight(holiday)
    expected = usual_load(clock_load(date(2026, 2, 1), 23), ESTONIA, first, first + DAY_S)
    assert list(expected.values()) == [*range(24)]


def test_only_the_last_four_weeks_of_load_count() -> None:
    first = ESTONIA.midnight(date(2026, 6, 1))
    past = clock_load(date(2026, 5, 4), 28)
    older = dict.fromkeys(range(first - 60 * DAY_S, first - 28 * DAY_S, HOUR_S), 1000.0)
    newer = dict.fromkeys(range(first, first + DAY_S, HOUR_S), 1000.0)
    assert usual_load({**older, **past, **newer}, ESTONIA, first, first + DAY_S) == usual_load(
        past, ESTONIA, first, first + DAY_S
    )


def test_a_kind_of_day_without_a_past_has_the_load_of_the_other_kind() -> None:
    monday = ESTONIA.midnight(date(2026, 6, 1))
    past = clock_load(date(2026, 5, 30), 2)
    assert list(usual_load(past, ESTONIA, monday, monday + DAY_S).values()) == [*range(24)]


def test_hours_without_any_past_are_left_out() -> None:
    first = ESTONIA.midnight(date(2026, 6, 1))
    assert usual_load({}, ESTONIA, first, first + DAY_S) == {}
    assert usual_load({first - DAY_S: 0.4}, ESTONIA, first, first + DAY_S) == {first: 0.4}


def test_the_usual_sun_is_the_mean_of_two_weeks_by_hour() -> None:
    older = {NOON - days * DAY_S: 9.0 for days in range(15, 20)}
    past = {NOON - days * DAY_S: float(days) for days in range(1, 15)}
    assert usual_sun({**older, **past}, NIGHT, NIGHT + 2 * DAY_S) == {NOON: 7.5, NOON + DAY_S: 7.5}


def test_the_worth_at_the_end_is_neither_nothing_nor_the_highest_price() -> None:
    found = ahead(line(settled(NIGHT, [0.1] * 12 + [0.5] * 12)))
    assert found is not None
    assert 0.05 < found.end_worth < 0.5

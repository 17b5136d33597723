"""The timeline of hours."""

from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S, QUARTER_S
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.support.markets.price_strategies import HOURS, lines

_PLACES = st.integers(-2 * HOUR_S, 64 * HOUR_S) | st.integers(-2, 64).map(lambda hours: hours * HOUR_S)


def _somewhere(hours: list[Period], place: int) -> int:
    return (min(hour.start for hour in hours) if hours else HOURS.start) + place


@given(lines(), _PLACES)
def test_an_instant_finds_its_hour_and_nothing_in_a_gap(hours: list[Period], place: int) -> None:
    moment = _somewhere(hours, place)
    expected = next((hour for hour in hours if hour.start <= moment < hour.end), None)
    assert Timeline(HOUR_S, hours).period_at(moment) == expected


@given(lines(), _PLACES, _PLACES)
def test_between_returns_exactly_the_overlapping_hours_in_order(hours: list[Period], one: int, other: int) -> None:
    start, end = sorted((_somewhere(hours, one), _somewhere(hours, other)))
    expected = sorted((hour for hour in hours if hour.start < end and start < hour.end), key=lambda hour: hour.start)
    assert list(Timeline(HOUR_S, hours).periods_between(start, end)) == expected


@given(lines())
def test_the_order_in_which_hours_come_does_not_matter(hours: list[Period]) -> None:
    assert Timeline(HOUR_S, hours).periods == Timeline(HOUR_S, reversed(hours)).periods


@given(lines())
def test_settled_until_is_the_end_of_the_newest_settled_hour(hours: list[Period]) -> None:
    until = Timeline(HOUR_S, hours).settled_until
    settled = [hour for hour in hours if hour.settled]
    assert (until is None) == (not settled)
    assert all(hour.end <= until for hour in settled if until)
    assert until is None or any(hour.end == until for hour in settled)


def test_an_empty_timeline_has_no_periods() -> None:
    line = Timeline(HOUR_S)
    assert (line.period_at(0), line.periods_between(0, HOUR_S), line.settled_until) == (None, (), None)


def test_an_hour_ends_where_the_next_begins() -> None:
    first, second = (Period(start, start + HOUR_S, 0.1, 0.1, 0.1, settled=True) for start in (0, HOUR_S))
    line = Timeline(HOUR_S, [first, second])
    assert line.period_at(HOUR_S - 1) == first
    assert line.period_at(HOUR_S) == second
    assert line.period_at(2 * HOUR_S) is None
    assert line.periods_between(0, HOUR_S) == (first,)


@given(lines())
def test_an_hour_has_the_mean_of_its_quarters_and_a_quarter_the_price_of_its_hour(periods: list[Period]) -> None:
    step_s = periods[0].length_s if periods else HOUR_S
    line = Timeline(step_s, periods)
    hours, quarters = line.with_step(HOUR_S), line.with_step(QUARTER_S)
    assert {period.length_s for period in hours.periods} <= {HOUR_S}
    assert {period.length_s for period in quarters.periods} <= {QUARTER_S}
    for quarter in quarters.periods:
        known = line.period_at(quarter.start)
        assert known is not None
        assert (quarter.price, quarter.low, quarter.high, quarter.settled) == (
            known.price,
            known.low,
            known.high,
            known.settled,
        )
    begun = {quarter.start - quarter.start % HOUR_S for quarter in quarters.periods}
    whole = {start for start in begun if len(quarters.periods_between(start, start + HOUR_S)) == 4}
    assert {hour.start for hour in hours.periods} == whole
    for hour in hours.periods:
        parts = quarters.periods_between(hour.start, hour.end)
        assert abs(hour.price - sum(part.price for part in parts) / 4) <= 1e-6
        assert hour.low <= hour.price <= hour.high
        assert hour.settled == all(part.settled for part in parts)

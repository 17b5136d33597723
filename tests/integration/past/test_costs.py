"""The cost of energy, and the sums of costs."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.past.paid_prices import (
    FIVE_MIN_S,
    NO_PRICE,
    NO_READING,
    CostRow,
    HourPrice,
    LeftOutHour,
    LeftOutReason,
    MeasuredEnergy,
    cost_rows,
    hourly_costs,
)
from tunnihind.core.market import HOUR_S

HOUR = 1_768_374_000
NO_RATE = LeftOutHour(LeftOutReason.NO_RATE)
STEEP = HourPrice((0.40, 0.20, 0.10, 0.10))


def fives(*quarters: float) -> dict[int, float]:
    """Return five-minute readings that sum up to these quarters, all in the last five minutes of each."""
    kwh = [amount for quarter in quarters for amount in (0.0, 0.0, quarter)]
    return {HOUR + i * FIVE_MIN_S: amount for i, amount in enumerate(kwh)}


def test_an_hour_is_charged_by_its_mean_with_hourly_readings() -> None:
    assert hourly_costs(MeasuredEnergy({HOUR: 2.0}, {}), {HOUR: STEEP}) == {HOUR: 0.4}


def test_an_hour_is_charged_by_the_quarter_with_five_minute_readings() -> None:
    energy = MeasuredEnergy({HOUR: 2.0}, fives(0.0, 0.5, 0.5, 1.0))
    assert hourly_costs(energy, {HOUR: STEEP}) == {HOUR: pytest.approx(0.5 * 0.2 + 1.5 * 0.1)}


def test_five_minute_readings_that_do_not_cover_the_hour_do_not_count() -> None:
    incomplete = {start: kwh for start, kwh in fives(2.0, 0.0, 0.0, 0.0).items() if start != HOUR}
    for readings in (incomplete, fives(2.0, 0.0, 0.0, 1.0)):
        assert hourly_costs(MeasuredEnergy({HOUR: 2.0}, readings), {HOUR: STEEP}) == {HOUR: 0.4}


def test_gaps_in_readings_and_hours_without_a_price_are_listed() -> None:
    later = HOUR + 3 * HOUR_S
    energy = MeasuredEnergy({HOUR: 1.0, HOUR + HOUR_S: 1.0, later: 1.0}, {})
    assert hourly_costs(energy, {HOUR: STEEP, HOUR + HOUR_S: NO_RATE, later: STEEP}) == {
        HOUR: 0.2,
        HOUR + HOUR_S: NO_RATE,
        HOUR + 2 * HOUR_S: NO_READING,
        later: 0.2,
    }


def test_a_negative_price_gives_a_negative_cost() -> None:
    assert hourly_costs(MeasuredEnergy({HOUR: 3.0}, {}), {HOUR: HourPrice((-0.01,) * 4)}) == {HOUR: -0.03}


def test_a_reading_that_comes_late_moves_all_later_sums() -> None:
    first = cost_rows({}, {HOUR: 1.0, HOUR + 2 * HOUR_S: 3.0}, HOUR)
    second = cost_rows(first, {HOUR: 1.0, HOUR + HOUR_S: 2.0, HOUR + 2 * HOUR_S: 3.0}, HOUR)
    assert [row.total for row in first.values()] == [1.0, 4.0]
    assert second == {HOUR: CostRow(1.0, 1.0), HOUR + HOUR_S: CostRow(2.0, 3.0), HOUR + 2 * HOUR_S: CostRow(3.0, 6.0)}


def test_a_removed_reading_has_no_cost_any_more() -> None:
    stored = cost_rows({}, {HOUR: 1.0, HOUR + HOUR_S: 2.0}, HOUR)
    assert cost_rows(stored, {HOUR + HOUR_S: 2.0}, HOUR) == {HOUR: CostRow(None, 0.0), HOUR + HOUR_S: CostRow(2.0, 2.0)}


@pytest.mark.parametrize(("reason", "kept"), [(NO_PRICE, 1.0), (NO_RATE, None)])
def test_a_cost_stays_when_the_server_forgets_a_price_but_not_without_a_rate(
    reason: LeftOutHour, kept: float | None
) -> None:
    stored = cost_rows({}, {HOUR: 1.0, HOUR + HOUR_S: 2.0}, HOUR)
    rows = cost_rows(stored, {HOUR: reason, HOUR + HOUR_S: 2.0}, HOUR)
    assert rows[HOUR].cost == kept
    assert rows[HOUR + HOUR_S].total == (kept or 0) + 2.0


HOURS = st.integers(0, 50).map(lambda i: HOUR + i * HOUR_S)
CENTS = st.integers(-10_000, 10_000).map(lambda cents: cents / 100)


@given(
    st.dictionaries(HOURS, CENTS),
    st.dictionaries(HOURS, CENTS | st.sampled_from([NO_PRICE, NO_RATE, NO_READING])),
    HOURS,
)
def test_a_second_run_corrects_and_never_doubles(
    before: dict[int, float], found: dict[int, float | LeftOutHour], start: int
) -> None:
    stored = cost_rows({}, before, HOUR)
    rows = {**stored, **cost_rows(stored, found, start)}
    assert {**rows, **cost_rows(rows, found, start)} == rows
    assert {hour: row for hour, row in rows.items() if hour < start} == {
        hour: row for hour, row in stored.items() if hour < start
    }
    ordered = [rows[hour] for hour in sorted(rows)]
    assert [row.total for row in ordered] == pytest.approx(list(accumulate(row.cost or 0.0 for row in ordered)))
    for hour, cost in found.items():
        if hour >= start and not isinstance(cost, LeftOutHour):
            assert rows[hour].cost == cost

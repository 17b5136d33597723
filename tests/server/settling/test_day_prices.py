"""The prices of a day at any steps: their means, their differences, and the rows that replace settled prices."""

from datetime import date
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.markets.day_quotes import AUTUMN, SPRING
from tunnihind.core.market import HOUR_S, QUARTER_S, STEPS, day_end, day_start
from tunnihind.settling.day_prices import DayPrices

DAY: Final = date(2025, 12, 15)
START: Final = day_start(DAY)
FIVE_MINUTES: Final = 300


@pytest.fixture
def three_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunnihind.settling.day_prices.STEPS", (*STEPS, FIVE_MINUTES))


def whole_day(step_s: int, day: date = DAY) -> DayPrices:
    """Return a day on which each step costs one more than the step before."""
    return DayPrices.of(day, [float(n) for n in range((day_end(day) - day_start(day)) // step_s)])


@pytest.mark.parametrize("day", [DAY, SPRING, AUTUMN])
@pytest.mark.usefixtures("three_steps")
def test_prices_of_a_short_step_give_the_longer_steps(day: date) -> None:
    prices = whole_day(FIVE_MINUTES, day)
    count = (day_end(day) - day_start(day)) // HOUR_S
    assert list(prices.by_step[QUARTER_S].values()) == [3.0 * n + 1 for n in range(4 * count)]
    assert list(prices.hours.values()) == [12.0 * n + 5.5 for n in range(count)]
    assert prices.is_whole(day)
    assert len(prices.in_order) == 12 * count


@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S, FIVE_MINUTES])
@pytest.mark.usefixtures("three_steps")
def test_versions_are_compared_at_the_shortest_step_that_both_have(step_s: int) -> None:
    ours, theirs = whole_day(FIVE_MINUTES), DayPrices({step_s: whole_day(FIVE_MINUTES).by_step[step_s]})
    assert ours.agrees_with(theirs)
    assert [pair.ts for pair in ours.pairs_with(theirs)] == list(range(START, day_end(DAY), step_s))
    assert ours.has_periods_missing_from(theirs) == (step_s > FIVE_MINUTES)


@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
@pytest.mark.usefixtures("three_steps")
def test_another_price_of_a_period_replaces_all_its_settled_parts(step_s: int) -> None:
    settled, corrected = whole_day(FIVE_MINUTES), DayPrices({step_s: {START: 100.0}})
    rows = list(corrected.rows_replacing(settled))
    assert rows == [(ts, FIVE_MINUTES, 100.0) for ts in range(START, START + step_s, FIVE_MINUTES)]
    confirmed = DayPrices({step_s: {START: settled.by_step[step_s][START]}})
    assert [price for *_, price in confirmed.rows_replacing(settled)] == [
        float(n) for n in range(step_s // FIVE_MINUTES)
    ]


def test_the_mean_of_parts_replaces_a_settled_price_of_the_period() -> None:
    quarters = DayPrices({QUARTER_S: {START + n * QUARTER_S: 10.0 * n for n in range(4)}})
    rows = set(quarters.rows_replacing(DayPrices({HOUR_S: {START: 7.0}})))
    assert rows == {(START, HOUR_S, 15.0), *((START + n * QUARTER_S, QUARTER_S, 10.0 * n) for n in range(4))}


some_prices = st.floats(-500, 4000)


@given(st.dictionaries(st.integers(0, 95), some_prices), st.dictionaries(st.integers(0, 23), some_prices))
def test_an_hour_has_the_mean_of_four_quarters_or_its_own_price(
    quarters: dict[int, float], hours: dict[int, float]
) -> None:
    prices = DayPrices(
        {
            QUARTER_S: {START + n * QUARTER_S: price for n, price in quarters.items()},
            HOUR_S: {START + n * HOUR_S: price for n, price in hours.items()},
        }
    )
    for n in range(24):
        four = [quarters[part] for part in range(4 * n, 4 * n + 4) if part in quarters]
        expected = sum(four) / 4 if len(four) == 4 else hours.get(n)
        assert prices.hours.get(START + n * HOUR_S) == expected

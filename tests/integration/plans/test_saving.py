"""The saving of waiting and its certainty, by the rule in the module's docstring."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S, rounded_price
from custom_components.tunnihind.plans.saving import Saving, average_percentiles, window_saving
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.support.household.timelines import NIGHT, QUARTER_S, hour, line, predicted, settled

P90 = NormalDist().inv_cdf(0.9)
BAND = st.tuples(st.floats(-0.1, 0.5), st.floats(0, 0.2), st.floats(0, 0.3)).map(
    lambda one: (one[0] - one[1], one[0], one[0] + one[2])
)


def hours(*pieces: tuple[float, float]) -> list[tuple[int, int]]:
    return [(NIGHT + int(start * HOUR_S), NIGHT + int(end * HOUR_S)) for start, end in pieces]


def saving_of(timeline: Timeline, pieces: list[tuple[int, int]], at_once: int = NIGHT) -> Saving:
    saving = window_saving(timeline, pieces, at_once)
    assert saving is not None
    return saving


def rho(apart_h: float) -> float:
    return 0.45 * math.exp(-apart_h / 2.5) + 0.55 * math.exp(-apart_h / 34)


def test_the_saving_of_settled_hours_is_certain() -> None:
    saving = saving_of(line(settled(NIGHT, [0.30, 0.20, 0.10, 0.14])), hours((2, 4)))
    assert (saving.expected, saving.low, saving.high, saving.chance) == (0.13, 0.13, 0.13, 1.0)


def test_starting_at_once_saves_nothing_and_has_no_chance_of_more() -> None:
    saving = saving_of(line(predicted(NIGHT, [(0.1, 0.2, 0.3)] * 3)), hours((0, 3)))
    assert (saving.expected, saving.low, saving.high, saving.chance) == (0.0, 0.0, 0.0, 0.0)


def test_equal_prices_save_nothing_despite_rounding_errors() -> None:
    saving = saving_of(line(settled(NIGHT, [0.1] * 6)), hours((3, 6)))
    assert (saving.expected, saving.chance) == (0.0, 0.0)


@pytest.mark.parametrize("gap", [0, 1, 3])
def test_without_the_price_of_an_hour_the_saving_is_unknown(gap: int) -> None:
    prices: list[float | None] = [0.3, 0.3, 0.1, 0.1]
    prices[gap] = None
    assert window_saving(line(settled(NIGHT, prices)), hours((2, 4)), NIGHT) is None


def test_part_hours_count_by_their_time() -> None:
    timeline = line(settled(NIGHT, [0.4, 0.2, 0.1]))
    saving = saving_of(timeline, [(NIGHT + 5 * QUARTER_S, NIGHT + 11 * QUARTER_S)], NIGHT + 2 * QUARTER_S)
    # At once: half of the first hour, the second; the window: three quarters each of the second and third.
    assert saving.expected == rounded_price((0.5 * 0.4 + 0.2) / 1.5 - (0.75 * 0.2 + 0.75 * 0.1) / 1.5)


def test_two_pieces_in_one_hour_both_count() -> None:
    pieces = [
        (NIGHT + HOUR_S, NIGHT + HOUR_S + QUARTER_S),
        (NIGHT + HOUR_S + 2 * QUARTER_S, NIGHT + HOUR_S + 3 * QUARTER_S),
    ]
    saving = saving_of(line(settled(NIGHT, [0.3, 0.1])), pieces)
    assert saving.expected == 0.2


def test_against_a_settled_hour_only_the_predicted_ones_are_uncertain() -> None:
    timeline = line([hour(NIGHT, 0.20)], predicted(NIGHT + HOUR_S, [(0.05, 0.10, 0.18)]))
    saving = saving_of(timeline, hours((1, 2)))
    assert (saving.low, saving.expected, saving.high) == (0.02, 0.10, 0.15)
    assert saving.chance == pytest.approx(NormalDist(0.10, 0.08 / P90).cdf(0.20), abs=1e-3)


def test_a_saving_that_is_expected_to_be_a_loss_has_less_than_an_even_chance() -> None:
    timeline = line([hour(NIGHT, 0.10)], predicted(NIGHT + HOUR_S, [(0.05, 0.15, 0.20)]))
    saving = saving_of(timeline, hours((1, 2)))
    assert saving.expected == -0.05
    # It pays when the predicted hour falls: its lower side.
    assert saving.chance == pytest.approx(1 - NormalDist(0, 0.10 / P90).cdf(0.05), abs=1e-3)


def test_two_predicted_hours_depend_on_each_other_by_their_distance() -> None:
    band = (0.0, 0.10, 0.20)
    high = (0.20, 0.30, 0.40)
    for apart in (1, 5, 30):
        timeline = line(predicted(NIGHT, [high]), predicted(NIGHT + apart * HOUR_S, [band]))
        saving = saving_of(timeline, hours((apart, apart + 1)))
        spread = 0.10 * math.sqrt(2 - 2 * rho(apart))
        assert (saving.low, saving.high) == pytest.approx((0.20 - spread, 0.20 + spread), abs=1e-4)


@given(st.lists(st.tuples(BAND, st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_an_average_has_the_spread_of_the_whole_quadratic_form(
    hours_of: list[tuple[tuple[float, float, float], bool, bool]],
) -> None:
    chosen = [
        hour(NIGHT + place * HOUR_S, band[1]) if known else predicted(NIGHT + place * HOUR_S, [band])[0]
        for place, (band, known, present) in enumerate(hours_of)
        if present
    ]
    if not chosen:
        return
    starts = np.array([one.start for one in chosen]) / HOUR_S
    apart = np.abs(starts[:, np.newaxis] - starts)
    correlation = 0.45 * np.exp(-apart / 2.5) + 0.55 * np.exp(-apart / 34)
    below = np.array([one.price - one.low for one in chosen]) / len(chosen)
    above = np.array([one.high - one.price for one in chosen]) / len(chosen)
    low, middle, high = average_percentiles(chosen)
    assert middle == pytest.approx(np.mean([one.price for one in chosen]), abs=1e-4)
    assert low == pytest.approx(middle - math.sqrt(below @ correlation @ below), abs=2e-4)
    assert high == pytest.approx(middle + math.sqrt(above @ correlation @ above), abs=2e-4)


@given(st.lists(BAND, min_size=4, max_size=40), st.data())
def test_a_saving_is_in_order_and_its_chance_fits_it(
    bands: list[tuple[float, float, float]], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(bands) // 2))
    length = data.draw(st.integers(1, len(bands) - start))
    saving = saving_of(Timeline(HOUR_S, predicted(NIGHT, bands)), hours((start, start + length)))
    assert saving.low <= saving.expected <= saving.high
    assert 0 <= saving.chance <= 1
    if saving.low > 0:
        assert saving.chance >= 0.9
    if saving.high < 0:
        assert saving.chance <= 0.1


def test_the_average_of_settled_hours_is_certain() -> None:
    assert average_percentiles(settled(NIGHT, [0.1, 0.2])) == (0.15, 0.15, 0.15)


def test_the_average_of_many_hours_is_surer_than_of_one() -> None:
    one, day = (
        [Period(NIGHT + n * HOUR_S, NIGHT + (n + 1) * HOUR_S, 0.1, 0.0, 0.2, settled=False) for n in range(k)]
        for k in (1, 24)
    )
    assert average_percentiles(one) == (0.0, 0.1, 0.2)
    low, _, high = average_percentiles(day)
    assert 0.02 < low < 0.04
    assert 0.16 < high < 0.18

"""From five-minute statistics of a meter to the energy of some minutes."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.ledger.completion import (
    EnergyStretch,
    energy_by_slice,
    energy_from_counter,
    energy_from_power,
)
from custom_components.tunnihind.past.paid_prices import FIVE_MIN_S
from custom_components.tunnihind.prices.timeline import HOUR_S, QUARTER_S

START = 1_800_000_000 - 1_800_000_000 % HOUR_S
TWO_HOURS = range(START, START + 2 * HOUR_S, FIVE_MIN_S)
FIRST = (START, START + QUARTER_S)
SECOND = (START + QUARTER_S, START + 2 * QUARTER_S)


def counted(kwh: float = 0.1) -> dict[int, float]:
    """Return the sums of a counter that counts evenly, from five minutes before the start on."""
    starts = [START - FIVE_MIN_S, *TWO_HOURS]
    return {start: 500 + kwh * place for place, start in enumerate(starts)}


def test_a_counter_counts_between_its_readings() -> None:
    assert energy_by_slice(energy_from_counter(counted()), [FIRST, SECOND]) == pytest.approx({FIRST: 0.3, SECOND: 0.3})


def test_the_first_reading_only_says_where_counting_begins() -> None:
    sums = counted()
    del sums[START - FIVE_MIN_S]
    assert energy_by_slice(energy_from_counter(sums), [FIRST, SECOND]) == pytest.approx({SECOND: 0.3})


def test_energy_counted_during_a_gap_is_spread_evenly() -> None:
    """Home Assistant was off for half an hour, or the meter unavailable; half of it in the first quarter."""
    sums = counted()
    for start in range(START, START + 2 * QUARTER_S - FIVE_MIN_S, FIVE_MIN_S):
        del sums[start]
    assert energy_by_slice(energy_from_counter(sums), [FIRST, SECOND]) == pytest.approx({FIRST: 0.3, SECOND: 0.3})


def test_a_replaced_meter_with_a_higher_count_adds_no_energy() -> None:
    sums = {start: total + (7_000 if start >= START + QUARTER_S else 0) for start, total in counted().items()}
    assert energy_by_slice(energy_from_counter(sums), [FIRST, SECOND]) == pytest.approx({FIRST: 0.3})


def test_a_sum_that_falls_is_no_energy() -> None:
    sums = {start: total - (100 if start >= START + FIVE_MIN_S else 0) for start, total in counted().items()}
    assert energy_by_slice(energy_from_counter(sums), [FIRST]) == pytest.approx({FIRST: 0.2})


def test_a_power_is_added_up() -> None:
    kilowatts = dict.fromkeys(TWO_HOURS, 2.0)
    assert energy_by_slice(energy_from_power(kilowatts), [FIRST]) == pytest.approx({FIRST: 0.5})


def test_a_gap_in_a_power_has_the_mean_of_its_neighbours() -> None:
    kilowatts = dict.fromkeys(TWO_HOURS, 2.0) | dict.fromkeys(
        range(START + HOUR_S, START + 2 * HOUR_S, FIVE_MIN_S), 1.0
    )
    for start in range(START + HOUR_S - 600, START + HOUR_S + 600, FIVE_MIN_S):
        del kilowatts[start]
    hole = (START + HOUR_S - 600, START + HOUR_S + 600)
    assert energy_by_slice(energy_from_power(kilowatts), [hole]) == pytest.approx({hole: 1.5 / 3})


def test_a_long_gap_in_a_power_is_unknown() -> None:
    kilowatts = {START - FIVE_MIN_S: 2.0, START + HOUR_S + QUARTER_S: 2.0}
    assert energy_by_slice(energy_from_power(kilowatts), [FIRST, SECOND]) == {}


def test_power_that_a_device_feeds_back_does_not_count() -> None:
    assert energy_by_slice(energy_from_power(dict.fromkeys(TWO_HOURS, -3.0)), [FIRST]) == {FIRST: 0.0}


def test_a_power_no_home_can_have_is_not_known() -> None:
    assert energy_by_slice(energy_from_power(dict.fromkeys(TWO_HOURS, 2_000.0)), [FIRST]) == {}


@given(
    st.lists(st.floats(0, 8), min_size=24, max_size=24),
    st.sets(st.integers(1, 22)),
    st.sets(st.integers(1, 119)),
)
def test_with_any_gaps_no_energy_is_counted_twice_or_lost(used: list[float], missing: set[int], cuts: set[int]) -> None:
    """A counter read at both ends: its energy, cut at any minutes, adds up to what it counted."""
    sums = {
        start: total
        for place, (start, total) in enumerate(zip(TWO_HOURS, accumulate(used), strict=True))
        if place not in missing
    }
    begins, ends = START + FIVE_MIN_S, START + 2 * HOUR_S
    edges = sorted({begins, ends, *(START + cut * 60 for cut in cuts if begins < START + cut * 60)})
    slices = list(pairwise(edges))
    found = energy_by_slice(energy_from_counter(sums), slices)
    assert found.keys() == set(slices)
    assert sum(found.values()) == pytest.approx(sum(used[1:]), abs=1e-6)


def test_slices_outside_the_readings_are_unknown() -> None:
    assert energy_by_slice([EnergyStretch(START, START + 600, 1.0)], [FIRST, (START, START + 600)]) == {
        (START, START + 600): 1.0
    }

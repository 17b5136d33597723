"""From statistics of a meter to the energy of some minutes."""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S, QUARTER_S
from custom_components.tunnihind.past.meter import (
    CounterReading,
    EnergyStretch,
    energy_by_slice,
    energy_from_counter,
    energy_from_power,
    with_trusted_counts,
)
from custom_components.tunnihind.past.paid_prices import FIVE_MIN_S
from custom_components.tunnihind.plans.solver import Piece

START = 1_800_000_000 - 1_800_000_000 % HOUR_S
TWO_HOURS = range(START, START + 2 * HOUR_S, FIVE_MIN_S)
FIRST = (START, START + QUARTER_S)
SECOND = (START + QUARTER_S, START + 2 * QUARTER_S)
PER_STEP = 2.0 / 12
"""What a device of 2 kW uses in five minutes."""


def recorded(
    counts: Sequence[float | None], *, increasing: bool = True, every_s: int = FIVE_MIN_S
) -> list[CounterReading]:
    """Return a counter's readings every five minutes from the start on, with the totals of Home Assistant's recorder.

    While a count is None, the counter is away. The recorder takes a fall of more than a tenth for a reset, but only if
    the counter is said to increase.
    """
    readings: list[CounterReading] = []
    total, zero, before = 0.0, None, 0.0
    for place, count in enumerate(counts):
        if count is None or (increasing and count < 0):
            continue
        if zero is None:
            zero = count
        elif increasing and count < 0.9 * before:
            total, zero = total + before - zero, 0.0
        before = count
        readings.append(CounterReading(START + place * every_s, count, total + count - zero))
    return readings


def even(since: float, steps: int = 24) -> list[float]:
    """Return the counts of two hours of a counter that counts 2 kW evenly."""
    return [since + PER_STEP * step for step in range(steps + 1)]


def disturbed(counts: Sequence[float], at: range, change: Callable[[float], float | None]) -> list[float | None]:
    return [change(count) if place in at else count for place, count in enumerate(counts)]


def total_kwh(stretches: Sequence[EnergyStretch]) -> float:
    return sum(stretch.kwh for stretch in stretches)


def known_s(stretches: Sequence[EnergyStretch]) -> int:
    return sum(stretch.end - stretch.start for stretch in stretches)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param(even(500), {FIRST: 0.5, SECOND: 0.5}, id="a counter counts between its readings"),
        pytest.param([None, *even(500)], {SECOND: 0.5}, id="the first reading only says where counting begins"),
        pytest.param(
            [500.0, *[None] * 5, 501.0, 501.0],
            {FIRST: 0.5, SECOND: 0.5},
            id="energy counted during a gap of half an hour is spread evenly",
        ),
        pytest.param(
            disturbed(even(500), range(4, 25), lambda count: count + 7_000),
            {FIRST: 0.5},
            id="a replaced meter with a higher count adds no energy",
        ),
    ],
)
def test_the_first_quarters_of_a_counter(counts: list[float | None], expected: dict[Piece, float]) -> None:
    assert energy_by_slice(energy_from_counter(recorded(counts)), [FIRST, SECOND]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("counts", "increasing", "kwh", "steps"),
    [
        # The recorder takes the fall from 29 to 20.2 kWh for a reset, and adds 20.2 kWh. The spike's time is unknown.
        pytest.param(
            [20.0, 20.1, 23.0, 26.0, 29.0, 20.2, 20.3],
            True,
            0.2,
            2,
            id="a spike in steps counts nothing twice",
        ),
        pytest.param([*even(300, 12), *even(0.1, 12)], True, 4.1, 25, id="a start near zero loses no energy"),
        pytest.param([*even(300, 12), *even(40, 12)], True, 4.0, 24, id="a start at another number loses one step"),
        pytest.param([*even(300, 12), *even(40, 12)], False, 4.0, 24, id="a fall to another number loses one step"),
    ],
)
def test_a_counter_that_falls(counts: list[float], increasing: bool, kwh: float, steps: int) -> None:
    stretches = energy_from_counter(recorded(counts, increasing=increasing))
    assert total_kwh(stretches) == pytest.approx(kwh)
    assert known_s(stretches) == steps * FIVE_MIN_S


@pytest.mark.parametrize("increasing", [True, False])
@pytest.mark.parametrize(
    ("at", "change"),
    [
        pytest.param(range(10, 12), lambda count: count - 1, id="lower for ten minutes"),
        pytest.param(range(10, 22), lambda count: count - 1, id="lower for an hour"),
        pytest.param(range(10, 12), lambda count: count + 3, id="higher for ten minutes"),
        pytest.param(range(10, 22), lambda count: count + 3, id="higher for an hour"),
        pytest.param(range(10, 12), lambda _: 0.0, id="zero for ten minutes"),
        pytest.param(range(10, 22), lambda _: 0.0, id="zero for an hour"),
        pytest.param(range(10, 12), lambda count: count / 1_000, id="another unit for ten minutes"),
        pytest.param(range(10, 12), lambda count: count * 1_000, id="a thousand times for ten minutes"),
        pytest.param((5, 9, 10, 17), lambda _: 0.0, id="zero several times"),
        pytest.param((5, 6, 12, 18, 19), lambda count: count - 2 + count % 5, id="lower and higher"),
    ],
)
def test_a_counter_that_comes_back_has_counted_from_end_to_end(
    at: range, change: Callable[[float], float | None], increasing: bool
) -> None:
    counts = even(700)
    stretches = energy_from_counter(recorded(disturbed(counts, at, change), increasing=increasing))
    assert total_kwh(stretches) == pytest.approx(4.0)
    assert known_s(stretches) == 2 * HOUR_S


def test_a_dip_between_two_readings_counts_nothing_twice() -> None:
    """The recorder saw a zero within five minutes, and adds the whole count to its total."""
    readings = [
        CounterReading(START + place * FIVE_MIN_S, count, count + (700 if place > 5 else 0))
        for place, count in enumerate(even(700))
    ]
    assert total_kwh(energy_from_counter(readings)) == pytest.approx(4.0)


def test_a_dip_that_may_be_a_reset_is_unknown() -> None:
    """The counter shows 1 kWh, then 0, then 1.5 kWh: a device of 6 kW, or a wrong reading."""
    stretches = energy_from_counter(recorded([0.5, 1.0, 0.0, 1.5, 1.6]))
    known = {stretch.start - START: stretch.kwh for stretch in stretches}
    assert known == pytest.approx({0: 0.5, 3 * FIVE_MIN_S: 0.1})


def test_a_counter_of_each_day_counts_on_every_day() -> None:
    """Each day's use passes that of the day before, by and by."""
    days = [[0.0] * 36 + even(0, 12 * hours) for hours in (1, 2, 3)]
    stretches = energy_from_counter(recorded([count for day in days for count in day]))
    assert total_kwh(stretches) == pytest.approx(2 + 4 + 6)


def test_resets_that_the_meter_itself_reports_are_certain() -> None:
    readings = [
        CounterReading(START + step * FIVE_MIN_S, PER_STEP * (step % 3 + 1), PER_STEP * step, step // 3)
        for step in range(25)
    ]
    stretches = energy_from_counter(readings)
    assert total_kwh(stretches) == pytest.approx(4.0)
    assert known_s(stretches) == 2 * HOUR_S


def test_a_total_that_the_household_corrected_counts() -> None:
    """A wrong rise stays in the count, and the household takes it out of the recorder's total."""
    readings = [
        CounterReading(START + place * FIVE_MIN_S, count + (5 if place > 5 else 0), count)
        for place, count in enumerate(even(700))
    ]
    assert total_kwh(energy_from_counter(readings)) == pytest.approx(4.0)


@pytest.mark.parametrize(("since", "known_h"), [(700.0, 96), (50.0, 93)])
@pytest.mark.parametrize("increasing", [True, False])
def test_hourly_counts_show_that_a_reset_was_none(since: float, known_h: int, increasing: bool) -> None:
    """A home may have used 50 kWh within an hour after a reset, but not 700 kWh."""
    true = [since + 0.5 * hour for hour in range(97)]
    hours = recorded(disturbed(true, range(40, 42), lambda _: 0.0), increasing=increasing, every_s=HOUR_S)
    stretches = energy_from_counter(with_trusted_counts(hours))
    known = 96 if not increasing else known_h
    assert known_s(stretches) == known * HOUR_S
    assert total_kwh(stretches) == pytest.approx(0.5 * known)


def test_a_reset_between_two_hours_that_was_none_is_not_counted() -> None:
    hours = [
        CounterReading(START + place * HOUR_S, count, count - 50 + (70 if place > 40 else 0))
        for place, count in enumerate(50 + 0.5 * hour for hour in range(97))
    ]
    assert total_kwh(energy_from_counter(with_trusted_counts(hours))) <= 48


def test_hourly_counts_of_a_counter_of_each_day_lose_no_energy() -> None:
    """A car charges with 11 kW after each midnight, so the counter soon shows as much as on the evening before."""
    day = list(accumulate([0.5, 11.0, 11.0, *[0.5] * 21]))
    hours = recorded([0.0, *day * 5], every_s=HOUR_S)
    stretches = energy_from_counter(with_trusted_counts(hours))
    assert total_kwh(stretches) == pytest.approx(5 * day[-1])
    assert known_s(stretches) == 5 * 24 * HOUR_S


@given(st.lists(st.sampled_from([0.0, 0.0, 0.3, 1.0, 1.0, 7.5]), min_size=97, max_size=200), st.integers(0, 100))
def test_imported_hours_are_charged_as_imported_whatever_their_state_is(used: list[float], counted: int) -> None:
    """First hours whose state is their own energy, then those of the meter."""
    counts = list(accumulate([1.0] * counted, initial=5_000.0))
    states = used + counts[1:]
    totals = [*accumulate(used), *(sum(used) + count - 5_000 for count in counts[1:])]
    readings = zip(states, totals, strict=True)
    hours = [CounterReading(START + place * HOUR_S, *reading) for place, reading in enumerate(readings, 1)]
    stretches = energy_from_counter(with_trusted_counts([CounterReading(START, 0.0, 0.0), *hours]))
    assert total_kwh(stretches) == pytest.approx(totals[-1])


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


@st.composite
def disturbed_counts(
    draw: st.DrawFn, since: Sequence[float], *, lowest: float, most_per_step: float
) -> tuple[list[float], list[float | None]]:
    """Return the true counts of a counter that only increases, and what it showed.

    The first and the last count are right. Between them, the counter is away, stands still, or is higher or lower by
    up to 30 kWh for at most forty minutes at a time, but it never shows less than `lowest`.
    """
    used = draw(st.lists(st.floats(0, most_per_step), min_size=5, max_size=40))
    true = list(accumulate(used, initial=draw(st.sampled_from(since))))
    shown: list[float | None] = [*true]
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(1, len(true) - 2))
        places = range(first, min(first + draw(st.integers(1, 8)), len(true) - 1))
        wrong_kwh = draw(st.floats(-30, 30))
        kind = draw(st.sampled_from(["away", "shifted", "still", "zero"]))
        for place in places:
            count = {"shifted": true[place], "still": true[first], "zero": -wrong_kwh}.get(kind, 0.0) + wrong_kwh
            shown[place] = None if kind == "away" else max(count, lowest)
    return true, shown


@given(disturbed_counts([0.0, 1.0, 5.0, 500.0, 20_000.0], lowest=0.0, most_per_step=8.0), st.booleans())
def test_no_disturbance_makes_a_counter_count_more_than_its_end_less_its_start(
    counts: tuple[list[float], list[float | None]], increasing: bool
) -> None:
    true, shown = counts
    assert total_kwh(energy_from_counter(recorded(shown, increasing=increasing))) <= true[-1] - true[0] + 1e-6


@given(disturbed_counts([5_000.0], lowest=4_900.0, most_per_step=0.8), st.booleans())
def test_where_the_counter_was_certainly_not_reset_all_its_energy_is_known(
    counts: tuple[list[float], list[float | None]], increasing: bool
) -> None:
    true, shown = counts
    stretches = energy_from_counter(recorded(shown, increasing=increasing))
    assert total_kwh(stretches) == pytest.approx(true[-1] - true[0])
    assert known_s(stretches) == (len(true) - 1) * FIVE_MIN_S


@given(
    st.lists(st.floats(0, 8), min_size=24, max_size=24),
    st.sets(st.integers(1, 23)),
    st.sets(st.integers(1, 119)),
)
def test_with_any_gaps_no_energy_is_counted_twice_or_lost(used: list[float], missing: set[int], cuts: set[int]) -> None:
    """A counter read at both ends: its energy, cut at any minutes, adds up to what it counted."""
    counts = [None if place in missing else count for place, count in enumerate(accumulate(used, initial=500.0))]
    edges = sorted({START, START + 2 * HOUR_S, *(START + cut * 60 for cut in cuts)})
    slices = list(pairwise(edges))
    found = energy_by_slice(energy_from_counter(recorded(counts)), slices)
    assert found.keys() == set(slices)
    assert sum(found.values()) == pytest.approx(sum(used), abs=1e-6)


def test_slices_outside_the_readings_are_unknown() -> None:
    assert energy_by_slice([EnergyStretch(START, START + 600, 1.0)], [FIRST, (START, START + 600)]) == {
        (START, START + 600): 1.0
    }


def test_a_dip_that_comes_back_a_hair_lower_or_after_an_hour_of_silence_counts_nothing_twice() -> None:
    hair = energy_from_counter(recorded([*[20.0] * 30, 15.0, 15.0, *[19.9999999] * 30]))
    assert total_kwh(hair) == 0
    silent = energy_from_counter(recorded([*[20.0] * 3, *[0.0] * 3, *[None] * 14, *[20.0] * 3]))
    assert total_kwh(silent) == 0

"""Computes the energy that a meter measured from the meter's statistics, as pure functions.

The ledger and `import_costs` both use these functions, so that both count the same energy of a meter.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Final

from ..core.market import HOUR_S
from ..plans.solver import Piece
from .paid_prices import FIVE_MIN_S

# If a power meter has no readings for up to an hour, for example during a restart, the gap is filled with the mean of
# the readings before and after the gap.
_LONGEST_GAP_S: Final = HOUR_S
# Readings of more than 100 kW are ignored, because a home's grid connection doesn't allow so much power. The first
# reading after the replacement of a meter may be much too high.
_MAX_KW: Final = 100.0
LONGEST_EXCURSION_S: Final = 24 * HOUR_S
"""A counter that falls or rises for longer than this is not expected to come back."""
# A counter that falls to at most this fraction of its earlier reading may have started again at zero.
_RESET_FRACTION: Final = 0.1
# A counter may come back this much lower, as a fraction of its fall: by its last digit, or by the rounding of floats.
_HAIR_FRACTION: Final = 0.02
_KWH_TOLERANCE: Final = 1e-6
# Whether a count of an hourly reading is trusted depends on the readings of two days before and two days after it.
_HOURS_AROUND: Final = 48
# A counter that starts again at zero about once a day has a reset in at most this many hours.
_HOURS_PER_DAILY_RESET: Final = 32
# Totals in place of counts are a cycle of their own. The real cycles are times of resets.
_TOTALS: Final = -1.0


@dataclass(frozen=True, slots=True)
class EnergyStretch:
    """The energy in kWh from `start` to `end` (UTC seconds), assumed to be spread evenly over this time."""

    start: int
    end: int
    kwh: float

    @property
    def is_plausible(self) -> bool:
        """Return whether a home can use `kwh` in the time from `start` to `end`."""
        return self.kwh <= _MAX_KW * (self.end - self.start) / HOUR_S


@dataclass(frozen=True, slots=True)
class CounterReading:
    """A reading of an energy meter that counts upwards, in kWh. `at` is its time in UTC seconds.

    `count` is the number that the meter showed. `total` is the recorder's running total, which goes on where the
    recorder noticed a reset of the meter. `cycle` changes if the meter itself reported a reset.
    """

    at: int
    count: float
    total: float
    cycle: float | None = None


@dataclass(frozen=True, slots=True)
class GridEnergy:
    """What a home's meters counted in a period, in kWh: `bought` from the grid, `sold` to it, and the battery's own."""

    bought: float
    sold: float
    charged: float
    discharged: float


def energy_from_counter(readings: Iterable[CounterReading]) -> list[EnergyStretch]:
    """Return the energy that a meter counted between its right readings, which are in chronological order.

    If readings are wrong or missing, one `EnergyStretch` covers the whole gap. A reading is wrong if the counter falls
    or rises and comes back within a day. If the energy between two right readings is not certain, because the counter
    may have been reset between them, or if it is implausibly large, the stretch is left out.
    """
    cycles = (_right_readings(list(cycle)) for _, cycle in groupby(readings, key=lambda reading: reading.cycle))
    right = (reading for cycle in cycles for reading in cycle)
    stretches = (
        EnergyStretch(before.at, after.at, kwh)
        for before, after in pairwise(right)
        if (kwh := _kwh_between(before, after)) is not None
    )
    return [stretch for stretch in stretches if stretch.is_plausible]


def with_trusted_counts(hours: Sequence[CounterReading]) -> list[CounterReading]:
    """Return readings at the ends of hours. Where a count is not trusted, the recorder's total takes its place.

    Another program may have imported hours whose count is the energy of the hour, or anything else. So most counts
    around must rise by as much as the total, and be more than this rise. If a counter starts again every day, its
    hourly counts can't tell a day with little energy from a dip, but the recorder's total is right.
    """
    pairs = list(pairwise([*hours[:1], *hours]))
    rises = [0, *accumulate(_rises_with_total(before, after) for before, after in pairs)]
    resets = [0, *accumulate(_is_near_zero(before, after) for before, after in pairs)]
    trusted: list[CounterReading] = []
    for place, reading in enumerate(hours):
        first, end = max(place - _HOURS_AROUND, 0), min(place + _HOURS_AROUND + 1, len(hours))
        is_count = 2 * (rises[end] - rises[first]) > end - first
        is_daily = _HOURS_PER_DAILY_RESET * (resets[end] - resets[first]) > end - first
        if is_count and not is_daily:
            trusted.append(reading)
        else:
            trusted.append(replace(reading, count=reading.total, cycle=_TOTALS))
    return trusted


def energy_from_power(means: Mapping[int, float]) -> list[EnergyStretch]:
    """Return the energy that a device used, computed from the device's mean power.

    `means` maps the start of each five-minute period to the device's mean power in kW. Negative power counts as 0.
    Implausibly high power is ignored. Gaps of at most an hour are filled.
    """
    measured = [
        EnergyStretch(start, start + FIVE_MIN_S, max(kilowatts, 0.0) * FIVE_MIN_S / HOUR_S)
        for start, kilowatts in sorted(means.items())
    ]
    stretches = [stretch for stretch in measured if stretch.is_plausible]
    holes = (
        EnergyStretch(before.end, after.start, (before.kwh + after.kwh) / 2 * (after.start - before.end) / FIVE_MIN_S)
        for before, after in pairwise(stretches)
        if 0 < after.start - before.end <= _LONGEST_GAP_S
    )
    return sorted([*stretches, *holes], key=lambda stretch: stretch.start)


def energy_by_slice(stretches: Sequence[EnergyStretch], slices: Iterable[Piece]) -> dict[Piece, float]:
    """Return the energy in kWh of each slice in `slices` that `stretches` cover completely.

    `stretches` must be in chronological order and must not overlap.
    """
    found: dict[Piece, float] = {}
    ends = [stretch.end for stretch in stretches]
    for start, end in slices:
        covered_s, kwh = 0, 0.0
        for stretch in (stretches[index] for index in range(bisect_right(ends, start), len(stretches))):
            if stretch.start >= end:
                break
            seconds = min(stretch.end, end) - max(stretch.start, start)
            covered_s += seconds
            kwh += stretch.kwh * seconds / (stretch.end - stretch.start)
        if covered_s == end - start:
            found[start, end] = kwh
    return found


def energy_by_period(stretches: Sequence[EnergyStretch], periods: Iterable[Piece]) -> dict[Piece, float]:
    """Return the energy in kWh of each period at whose start and end the meter was read, to within five minutes.

    Without these readings, the share of the period in a longer stretch would be a guess. `stretches` are those of
    `energy_by_slice`.
    """
    ends = [stretch.end for stretch in stretches]

    def is_read_at(instant: int) -> bool:
        around = stretches[index] if (index := bisect_right(ends, instant)) < len(ends) else None
        return around is None or around.start >= instant or around.end - around.start <= FIVE_MIN_S

    return energy_by_slice(stretches, (one for one in periods if all(map(is_read_at, one))))


def _right_readings(readings: list[CounterReading]) -> list[CounterReading]:
    """Remove the wrong readings from the readings of one cycle. What still falls afterwards is a reset."""
    index = 1
    while index < len(readings):
        wrong = _wrong_readings(readings, index)
        if wrong:
            del readings[wrong]
            index = wrong.start
        else:
            index += 1
    return readings


def _wrong_readings(readings: Sequence[CounterReading], index: int) -> slice | None:
    """Return the readings that are wrong because the counter falls at `index`, or None if it doesn't fall or was reset.

    The fewest readings around the fall are wrong without which the counter doesn't fall: those before the fall (a
    spike), those from the fall on (a dip) or both. A counter that was reset rises to its earlier reading too, but by
    and by. So if the counter may have been reset, one of the rises must be a jump of at least half the fall. No jump is
    needed if a spike ends where it began, not near zero, since no reset ends there but by chance.
    """
    before, after = readings[index - 1], readings[index]
    fall = before.count - after.count
    if fall <= 0:
        return None
    is_near_zero = _is_near_zero(before, after)
    may_be_reset = before.total <= after.total or is_near_zero
    smallest_jump = fall / 2 if may_be_reset else 0.0
    hair = fall * _HAIR_FRACTION
    earlier = _excursion(readings, range(index - 1, -1, -1), smallest_jump)
    later = _excursion(readings, range(index, len(readings)), smallest_jump)
    highest_later = max(readings[last].count for last, _ in later)
    fewest, wrong = len(earlier) + len(later), None
    for wrong_before, (first, jumped_before) in enumerate(earlier):
        if readings[first].count > highest_later + hair:
            continue
        for wrong_after, (last, jumped_after) in enumerate(later[: max(fewest - wrong_before, 0)]):
            is_certain = jumped_before or jumped_after or (not wrong_after and not is_near_zero)
            if readings[first].count <= readings[last].count + hair and is_certain:
                fewest, wrong = wrong_before + wrong_after, slice(first + 1, last)
                break
    return wrong


def _excursion(readings: Sequence[CounterReading], places: range, smallest_jump: float) -> list[tuple[int, bool]]:
    """Return the places of up to a day, each with whether the counter has jumped between it and the first of `places`.

    More than an hour away, a rise of more than four times `smallest_jump` is no jump back, but the use of energy.
    """
    has_jumped = not smallest_jump
    found = [(places[0], has_jumped)]
    for near, far in pairwise(places):
        away_s = abs(readings[far].at - readings[places[0]].at)
        if away_s > LONGEST_EXCURSION_S:
            break
        rise = (readings[far].count - readings[near].count) * places.step
        is_jump = smallest_jump <= rise and (rise <= 4 * smallest_jump or away_s <= HOUR_S)
        has_jumped = has_jumped or is_jump
        found.append((far, has_jumped))
    return found


def _rises_with_total(before: CounterReading, after: CounterReading) -> bool:
    """Return whether the count rises by as much as the total, and is more than this rise."""
    rise = after.total - before.total
    return abs(after.count - before.count - rise) <= _KWH_TOLERANCE < after.count - rise


def _is_near_zero(before: CounterReading, after: CounterReading) -> bool:
    """Return whether the counter falls to near zero, where counters start again."""
    return after.count < before.count and after.count <= _RESET_FRACTION * before.count


def _kwh_between(before: CounterReading, after: CounterReading) -> float | None:
    """Return the energy between two right readings, or None if it is not certain."""
    counted, recorded = after.count - before.count, after.total - before.total
    if after.cycle != before.cycle or _is_near_zero(before, after):
        return recorded if recorded >= 0 else None
    if counted < 0:  # a reset to a number that is not near zero
        return None
    if recorded > counted + _KWH_TOLERANCE:
        # The recorder noticed a reset where the counter came back. It was none if a home can't use so much energy.
        return None if EnergyStretch(before.at, after.at, recorded).is_plausible else counted
    return max(recorded, 0.0)  # less than counted if the household has corrected the recorder's total

"""From the recorder's five-minute statistics of a meter to the energy of some minutes.

Why those: the recorder has already made up for what is hard. It counts on where a meter was reset or begins again at
zero, converts units, weighs a power by how long it held, and goes on after a restart. They are kept for days; of the
states themselves, users may exclude any. Statistics by the hour are too coarse for windows of quarters.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ..plans.solver import Piece
from ..prices.timeline import HOUR_S

FIVE_MIN_S: Final = 300
# A hole this long in a power is taken to have the mean of what was before and after it: a restart, a lost connection.
_LONGEST_HOLE_S: Final = HOUR_S
# More than the largest connection of a home takes. A reading above it comes from a meter that was replaced.
_MOST_KW: Final = 100.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a meter counted in [start, end), UTC seconds: kWh, evenly spread."""

    start: int
    end: int
    kwh: float

    @property
    def is_plausible(self) -> bool:
        """Whether a device of a home may have used so much."""
        return self.kwh <= _MOST_KW * (self.end - self.start) / HOUR_S


def of_counter(sums: Mapping[int, float]) -> list[Stretch]:
    """Return what a counter counted between its readings.

    `sums` are kWh at the end of five minutes, by their start. Where rows are missing, the next one has the energy since
    the row before. The first row says only where counting begins. A sum that falls, by a meter's noise or because its
    owner put it right, is no energy.
    """
    rows = sorted(sums.items())
    stretches = (
        Stretch(before + FIVE_MIN_S, start + FIVE_MIN_S, max(total - total_before, 0.0))
        for (before, total_before), (start, total) in pairwise(rows)
    )
    return [stretch for stretch in stretches if stretch.is_plausible]


def of_power(means: Mapping[int, float]) -> list[Stretch]:
    """Return what a device used, by its mean power of five minutes, kW by their start; what it gave does not count."""
    measured = [
        Stretch(start, start + FIVE_MIN_S, max(kilowatts, 0.0) * FIVE_MIN_S / HOUR_S)
        for start, kilowatts in sorted(means.items())
    ]
    stretches = [stretch for stretch in measured if stretch.is_plausible]
    holes = (
        Stretch(before.end, after.start, (before.kwh + after.kwh) / 2 * (after.start - before.end) / FIVE_MIN_S)
        for before, after in pairwise(stretches)
        if 0 < after.start - before.end <= _LONGEST_HOLE_S
    )
    return sorted([*stretches, *holes], key=lambda stretch: stretch.start)


def energy_in(stretches: Sequence[Stretch], slices: Iterable[Piece]) -> dict[Piece, float]:
    """Return the energy, kWh, of those slices that the stretches cover wholly.

    The stretches are in the order of time and don't overlap.
    """
    found: dict[Piece, float] = {}
    ends = [stretch.end for stretch in stretches]
    for start, end in slices:
        covered_s, kwh = 0, 0.0
        for stretch in stretches[bisect_right(ends, start) :]:
            if stretch.start >= end:
                break
            seconds = min(stretch.end, end) - max(stretch.start, start)
            covered_s += seconds
            kwh += stretch.kwh * seconds / (stretch.end - stretch.start)
        if covered_s == end - start:
            found[start, end] = kwh
    return found

"""A home battery, the time ahead that a plan knows, and the course that the plan chooses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.market import HOUR_S

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Battery:
    """A battery at a home's grid connection. All powers are on the side of alternating current.

    A part of the round-trip `efficiency` (0 to 1) is lost each way: of 1 kWh charged, sqrt(efficiency) kWh are stored,
    and 1 kWh stored gives sqrt(efficiency) kWh. `wear` is in EUR per kWh discharged. The stored energy stays between
    `lowest_kwh` and `highest_kwh`. If `charges_from_grid` is false, only surplus sun is stored. If `sells` is false,
    the battery only covers the home's own use.
    """

    charge_kw: float
    discharge_kw: float
    efficiency: float
    wear: float
    lowest_kwh: float
    highest_kwh: float
    charges_from_grid: bool = True
    sells: bool = True


@dataclass(frozen=True, slots=True)
class Steps:
    """The time ahead of a plan, in steps without gaps. All arrays have one value per step.

    `starts` are UTC seconds, and the last step ends at `end`. `buying` and `selling` are prices in EUR/kWh. `use_kw` is
    the home's mean use without the battery, less the sun's power. If it is negative, the home has a surplus. `room_kw`
    is the greatest power of a battery that charges from the grid. If it is None, only the battery limits its power.
    """

    starts: NDArray[np.int64]
    end: int
    buying: Floats
    selling: Floats
    use_kw: Floats
    room_kw: Floats | None = None

    @property
    def hours(self) -> Floats:
        """The length of each step in hours."""
        return np.diff(self.starts, append=self.end) / HOUR_S

    def part(self, first: int, last: int) -> Steps:
        """Return the steps from place `first` to before place `last`."""
        end = self.end if last == len(self.starts) else int(self.starts[last])
        places = slice(first, last)
        room_kw = None if self.room_kw is None else self.room_kw[places]
        return Steps(self.starts[places], end, self.buying[places], self.selling[places], self.use_kw[places], room_kw)


@dataclass(frozen=True, slots=True)
class Target:
    """The energy in kWh that should be stored `at` a time (UTC seconds), as far as the battery can reach it."""

    at: int
    stored_kwh: float


@dataclass(frozen=True, slots=True)
class Course:
    """What a battery does in each step.

    `power_kw` is positive while the battery charges, and negative while it discharges. `stored_kwh` is the energy
    stored at the end of each step. `cost` is what the home pays for electricity, and for the battery's wear, in EUR,
    less the worth of the energy that is stored at the end. `worth_now` is the worth in EUR of one more kWh stored now.
    """

    power_kw: Floats
    stored_kwh: Floats
    cost: float
    worth_now: float

"""The account of one battery: what it really saved, by the home's meters."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Final

from mashumaro.codecs import BasicDecoder, BasicEncoder

from ..core.market import HOUR_S, SHORTEST_STEP_S
from ..past.meter import LONGEST_EXCURSION_S, GridEnergy
from ..plans.solver import Piece
from .account import CORRECTABLE_S, GIVE_UP_AFTER_S
from .settled_prices import SettledPrices

# The account is updated in each quarter-hour. After a longer pause, the computer was asleep, or its clock was changed.
_LONGEST_PAUSE_S: Final = 2 * SHORTEST_STEP_S


@dataclass(frozen=True, slots=True)
class BatteryTotal:
    """What a battery did in some billed periods, and what that saved.

    `hours` are those with a reading and settled prices, and the other figures are theirs. `paid` is what the home paid
    for its electricity less what it got for what it sold, and `without_battery` what it would have paid without the
    battery. `wear` is what the discharging cost the battery. All three are in EUR. `charged` and `discharged` are in
    kWh. `unread_h` are the hours in which a meter has no reading.
    """

    hours: float = 0.0
    paid: float = 0.0
    without_battery: float = 0.0
    wear: float = 0.0
    charged: float = 0.0
    discharged: float = 0.0
    unread_h: float = 0.0

    def __add__(self, other: BatteryTotal) -> BatteryTotal:
        return BatteryTotal(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def saved(self) -> float:
        """What the battery saved in EUR, less its wear. A negative saving is a loss."""
        return self.without_battery - self.paid - self.wear


NO_BATTERY_TOTAL: Final = BatteryTotal()


@dataclass(frozen=True, slots=True)
class BilledPeriod:
    """A period [start, end) in UTC seconds by which the home is billed, in which the battery's plan was on.

    `wear` is in EUR per kWh discharged. `energy` is None if a meter has no reading.
    """

    start: int
    end: int
    wear: float
    energy: GridEnergy | None = None

    def total(self, buying: SettledPrices, selling: SettledPrices | None) -> BatteryTotal:
        """Return what the battery did and saved. Without a settled price, the total is empty.

        `selling` is None if the household gets nothing for what it sells.
        """
        hours = (self.end - self.start) / HOUR_S
        if self.energy is None:
            return BatteryTotal(unread_h=hours)
        buying_price = buying.mean(self.start, self.end)
        selling_price = selling.mean(self.start, self.end) if selling else 0.0
        if buying_price is None or selling_price is None:
            return NO_BATTERY_TOTAL
        energy = self.energy
        without = energy.bought - energy.sold - energy.charged + energy.discharged
        # A home may buy and sell in one period, and would do so without the battery too.
        both = min(energy.bought, energy.sold)
        return BatteryTotal(
            hours=hours,
            paid=energy.bought * buying_price - energy.sold * selling_price,
            without_battery=(both + max(without, 0.0)) * buying_price - (both + max(-without, 0.0)) * selling_price,
            wear=energy.discharged * self.wear,
            charged=energy.charged,
            discharged=energy.discharged,
        )


@dataclass(eq=False)
class BatteryAccount:
    """The billed periods in which a battery's plan was on. The fields are what Home Assistant stores.

    Each period is kept until its figures no longer change, and is then added to `closed`. `since` is the time when the
    account was opened, in UTC seconds. `missing` has the names of needed meters that the home lacks.
    """

    since: int
    periods: list[BilledPeriod] = field(default_factory=list)
    closed: BatteryTotal = NO_BATTERY_TOTAL
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Begin to count after a restart: the first reading after it may contain the energy of the time before."""
        self._seen_at: int | None = None
        self._on_since: int | None = None
        self._open = NO_BATTERY_TOTAL

    @property
    def total(self) -> BatteryTotal:
        """The energy, costs and saving of all periods since the account was opened."""
        return self.closed + self._open

    @property
    def prices_needed_since(self) -> int | None:
        """The earliest time (UTC seconds) whose prices the account still needs, or None if it needs none."""
        return self.periods[0].start if self.periods else None

    def update(
        self,
        now: int,
        *,
        is_on: bool,
        wear: float,
        step_s: int,
        buying: SettledPrices,
        selling: SettledPrices | None,
    ) -> None:
        """Update the account as of `now` (UTC seconds).

        `is_on` says whether the battery's plan is on from now on. A period of `step_s` seconds counts if the plan was
        on all the time. The other arguments are those of `BilledPeriod`.
        """
        if self._seen_at is None or not self._seen_at <= now <= self._seen_at + _LONGEST_PAUSE_S:
            self._on_since = None
            self.periods = [one for one in self.periods if one.end <= now]
        self._seen_at = now
        if self._on_since is not None:
            first = max([self._on_since, *(one.end for one in self.periods[-1:])])
            starts = range(-(-first // step_s) * step_s, now - step_s + 1, step_s)
            self.periods += [BilledPeriod(start, start + step_s, wear) for start in starts]
        if not is_on:
            self._on_since = None
        elif self._on_since is None:
            self._on_since = now
        self._close_periods(now, buying, selling)

    def periods_to_read(self, now: int) -> list[Piece]:
        """Return the periods whose energy has to be read at `now` (UTC seconds).

        If a reading is missing, all readings of the last day are read again, because they may still prove wrong.
        """
        if all(one.energy for one in self.periods):
            return []
        settled_until = now - LONGEST_EXCURSION_S
        return [(one.start, one.end) for one in self.periods if one.energy is None or one.end > settled_until]

    def update_readings(self, readings: Mapping[Piece, GridEnergy | None], missing: tuple[str, ...] = ()) -> bool:
        """Set what the meters counted in periods, and return whether this changes anything.

        None means that the energy of a period is unknown.
        """
        before = self.missing, self.periods
        self.missing = missing
        self.periods = [replace(one, energy=readings.get((one.start, one.end), one.energy)) for one in self.periods]
        return before != (self.missing, self.periods)

    def hours_without_price(self, prices: SettledPrices) -> set[int]:
        """Return the starts of all hours in which the account's periods lack a price of `prices`."""
        return {hour for one in self.periods for hour in prices.hours_without_price(one.start, one.end)}

    def _close_periods(self, now: int, buying: SettledPrices, selling: SettledPrices | None) -> None:
        """Add each period that no longer changes to the closed total, and compute the total of all others."""
        kept, self._open = [], NO_BATTERY_TOTAL
        for one in self.periods:
            age_s, total = now - one.end, one.total(buying, selling)
            if age_s < CORRECTABLE_S or (age_s < GIVE_UP_AFTER_S and total == NO_BATTERY_TOTAL):
                kept.append(one)
                self._open += total
            else:
                self.closed += total
        self.periods = kept


BATTERY_ACCOUNT_DECODER: Final = BasicDecoder(BatteryAccount)
BATTERY_ACCOUNT_ENCODER: Final = BasicEncoder(BatteryAccount)
"""The encoder makes of an account what JSON can store, and the decoder reads it again.

If the stored value has the wrong form, the decoder raises LookupError, TypeError, AttributeError or ValueError.
"""

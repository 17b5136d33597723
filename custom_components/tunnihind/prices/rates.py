"""What the network and the state charge per kilowatt-hour: one table, each entry with its dates and its source.

Figures are in c/kWh without VAT, as the price lists give them. To bring the table up to date, end the entry that no
longer holds with `until`, add the new one, and set `as_of` to the day on which the source was read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

# State fees change once a year. A figure that nobody has looked at for longer may be wrong.
_OLD_AFTER_YEARS: Final = 1


class Part(StrEnum):
    """A part of the price that comes on top of the market's."""

    MARGIN = "margin"
    BALANCING = "balancing"
    NETWORK = "network"
    RENEWABLE = "renewable"
    SECURITY = "security"
    EXCISE = "excise"


class Package(StrEnum):
    """A package of the network operator Elektrilevi (up to 63 A), or rates of one's own."""

    VORK_1 = "vork_1"
    VORK_2 = "vork_2"
    VORK_4 = "vork_4"
    VORK_5 = "vork_5"
    OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRates:
    """What transmission costs at each time of the network's clock. None: the package has no peak."""

    day: float
    night: float
    peak: float | None = None
    rest_day_peak: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry[Rate]:
    """One rate of the table: it holds from `since` to `until`, both included (None: as far as is known).

    `as_of` is the day on which the source was read. `disputed` is what other sources give, in c/kWh.
    """

    rate: Rate
    since: date
    until: date | None = None
    source: str
    as_of: date
    disputed: float | None = None

    def holds_on(self, day: date) -> bool:
        """Tell whether this is the rate of that day."""
        return self.since <= day and (self.until is None or day <= self.until)

    def is_outdated_on(self, day: date, *, compared_on: date | None = None) -> bool:
        """Tell whether it has ended by that day, or is old."""
        return (self.until is not None and self.until < day) or self.is_old_on(day, compared_on=compared_on)

    def is_old_on(self, day: date, *, compared_on: date | None = None) -> bool:
        """Tell whether by that day it is more than a year that its source was read.

        A household that has compared it with its invoice on `compared_on` knows it as of then.
        """
        seen = max(self.as_of, compared_on or self.as_of)
        return (seen.year + _OLD_AFTER_YEARS, seen.month, seen.day) < (day.year, day.month, day.day)


_READ: Final = date(2026, 11, 20)
_PRICE_LIST: Final = date(2026, 6, 1)
_ELEKTRILEVI: Final = "Elektrilevi's price list of 2026-06-01, as four projects quote it"
_BALANCING_SOURCE: Final = "Elering's balancing capacity fee, as several projects quote it"


def _of_price_list(rates: NetworkRates) -> tuple[Entry[NetworkRates]]:
    return (Entry(rate=rates, since=_PRICE_LIST, source=_ELEKTRILEVI, as_of=_READ),)


NETWORK: Final[Mapping[Package, Sequence[Entry[NetworkRates]]]] = {
    Package.VORK_1: _of_price_list(NetworkRates(day=7.72, night=7.72)),
    Package.VORK_2: _of_price_list(NetworkRates(day=6.07, night=3.51)),
    Package.VORK_4: _of_price_list(NetworkRates(day=3.69, night=2.10)),
    Package.VORK_5: _of_price_list(NetworkRates(day=5.29, night=3.03, peak=8.18, rest_day_peak=4.74)),
}
"""Transmission by package, oldest entry first."""

FEES: Final[Mapping[Part, Sequence[Entry[float]]]] = {
    Part.BALANCING: (
        Entry(rate=0.373, since=date(2026, 1, 1), until=date(2026, 12, 31), source=_BALANCING_SOURCE, as_of=_READ),
        Entry(rate=0.297, since=date(2027, 1, 1), until=date(2027, 12, 31), source=_BALANCING_SOURCE, as_of=_READ),
    ),
    Part.RENEWABLE: (
        Entry(
            rate=0.84,
            since=date(2026, 1, 1),
            until=date(2026, 12, 31),
            source="Elering's renewable energy fee of 2026, as several projects quote it",
            as_of=_READ,
        ),
    ),
    Part.SECURITY: (
        Entry(
            rate=0.758,
            since=date(2026, 1, 1),
            source="Elering's security of supply fee, as several projects quote it",
            as_of=_READ,
        ),
    ),
    Part.EXCISE: (
        Entry(
            rate=0.21,
            since=date(2026, 1, 1),
            until=date(2026, 4, 30),
            source="the electricity excise, as three projects quote it",
            as_of=_READ,
        ),
        Entry(
            rate=0.307,
            since=date(2026, 5, 1),
            source="the electricity excise, as two projects quote it; Elektrilevi's list still has 0.21",
            as_of=_READ,
            disputed=0.21,
        ),
    ),
}
"""What the state and the system operator charge, oldest entry first."""


def nearest_entry[Rate](entries: Sequence[Entry[Rate]], day: date) -> Entry[Rate]:
    """Return the entry of that day, or the last one before it; before all of them, the first."""
    begun = [entry for entry in entries if entry.since <= day]
    return begun[-1] if begun else entries[0]

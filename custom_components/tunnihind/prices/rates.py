"""The network and state fees per kilowatt-hour in Estonia, by date, from `rates.json`.

The server reads `rates.json` too. All figures are in c/kWh without VAT, as in the price lists. To update a rate, end
the old entry with `until` and add a new entry. `as_of` of the new entry is the day on which the source was read.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from .zones import Zone

# State fees change once a year. A figure that was checked more than a year ago may be wrong.
_OLD_AFTER_YEARS: Final = 1


class Part(StrEnum):
    """A part of the household price that is added to the market price."""

    MARGIN = "margin"
    BALANCING = "balancing"
    NETWORK = "network"
    RENEWABLE = "renewable"
    SECURITY = "security"
    EXCISE = "excise"


class Package(StrEnum):
    """A package of the network operator Elektrilevi, or the household's own network rates.

    The packages are for connections up to 63 A.
    """

    VORK_1 = "vork_1"
    VORK_2 = "vork_2"
    VORK_4 = "vork_4"
    VORK_5 = "vork_5"
    OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRates:
    """The transmission rates of a package, by the time of the network's clock.

    In a package without peaks, `peak` and `rest_day_peak` are None.
    """

    day: float
    night: float
    peak: float | None = None
    rest_day_peak: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry[Rate]:
    """A rate in the table.

    The rate holds from `since` to `until`, both included. If the last day is unknown, `until` is None. `as_of` is the
    day on which the source was read. `disputed` is the different figure of another source, in c/kWh.
    """

    rate: Rate
    since: date
    until: date | None = None
    source: str
    as_of: date
    disputed: float | None = None

    def holds_on(self, day: date) -> bool:
        """Return whether the rate holds on that day."""
        return self.since <= day and (self.until is None or day <= self.until)

    def is_outdated_on(self, day: date, *, compared_on: date | None = None) -> bool:
        """Return whether the rate has ended before that day or is old."""
        return (self.until is not None and self.until < day) or self.is_old_on(day, compared_on=compared_on)

    def is_old_on(self, day: date, *, compared_on: date | None = None) -> bool:
        """Return whether the rate's source was read more than a year before that day.

        `compared_on` is the day on which the household compared the rate with an invoice. Comparing with an invoice
        counts like reading the source.
        """
        seen = max(self.as_of, compared_on or self.as_of)
        return (seen.year + _OLD_AFTER_YEARS, seen.month, seen.day) < (day.year, day.month, day.day)


def _entry[Rate](row: dict[str, Any], rate: Callable[[Any], Rate]) -> Entry[Rate]:
    fields: dict[str, Any] = row | {"rate": rate(row["rate"])}
    fields.update((name, date.fromisoformat(row[name])) for name in ("since", "until", "as_of") if name in row)
    return Entry(**fields)


_TABLE: Final = json.loads(Path(__file__).with_name("rates.json").read_text(encoding="utf-8"))

NETWORK: Final[Mapping[Package, Sequence[Entry[NetworkRates]]]] = {
    Package(name): [_entry(row, lambda times: NetworkRates(**times)) for row in rows]
    for name, rows in _TABLE["network"].items()
}
"""Transmission by package, oldest entry first."""

FEES: Final[Mapping[Part, Sequence[Entry[float]]]] = {
    Part(name): [_entry(row, float) for row in rows] for name, rows in _TABLE["fees"].items()
}
"""The charges of the state and the system operator, oldest entry first."""


@dataclass(frozen=True, slots=True)
class PriceLists:
    """The network packages and state fees of a zone.

    If the table has no rates for the zone, `packages` and `fees` are empty.
    """

    packages: Mapping[Package, Sequence[Entry[NetworkRates]]] = field(default_factory=dict)
    fees: Mapping[Part, Sequence[Entry[float]]] = field(default_factory=dict)


_PRICE_LISTS: Final = {Zone.EE: PriceLists(NETWORK, FEES)}
_NO_PRICE_LISTS: Final = PriceLists()


def price_lists_of(zone: Zone) -> PriceLists:
    """Return the price lists of a zone."""
    return _PRICE_LISTS.get(zone, _NO_PRICE_LISTS)


def nearest_entry[Rate](entries: Sequence[Entry[Rate]], day: date) -> Entry[Rate]:
    """Return the last entry that began on or before that day. If no entry had begun, return the first entry."""
    begun = [entry for entry in entries if entry.since <= day]
    return begun[-1] if begun else entries[0]

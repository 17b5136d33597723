"""Reads `rates.json`, the table of network rates and other fees in Estonia by date.

All rates in the table are in c/kWh without VAT. When a rate changes, add `until` to the old entry and add a new entry.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from .market import ESTONIA, Market
from .network_clock import NetworkRatePeriod

# Most fees change once a year, so a rate whose source was last read more than a year ago may be wrong.
_OLD_AFTER_YEARS: Final = 1
# The attributes of `DatedRate` that have other names than the keys in `rates.json`.
_ATTRIBUTES: Final = {"as_of": "source_read_on", "disputed": "rate_of_other_source"}


class Part(StrEnum):
    """A part of the household price besides the market price and VAT."""

    MARGIN = "margin"
    BALANCING = "balancing"
    NETWORK = "network"
    RENEWABLE = "renewable"
    SECURITY = "security"
    EXCISE = "excise"
    OTHER = "other"
    """All fees besides the margin and the network fee in one sum, as the server's page asks for them."""


class Package(StrEnum):
    """A network package of Elektrilevi for connections up to 63 A, or the household's own network rates."""

    VORK_1 = "vork_1"
    VORK_2 = "vork_2"
    VORK_4 = "vork_4"
    VORK_5 = "vork_5"
    OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRates:
    """A network package's transmission rate in each `NetworkRatePeriod`.

    Rates from `rates.json` are in c/kWh, and a household's own rates are in EUR/kWh. If a package in `rates.json` has
    no peak rates, `peak` and `rest_day_peak` are None.
    """

    day: float
    night: float
    peak: float | None = None
    rest_day_peak: float | None = None

    def rate_in(self, period: NetworkRatePeriod) -> float:
        """Return the rate in a class of hours."""
        rate: float = getattr(self, period)
        return rate


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedRate[Rate]:
    """A rate in the table `rates.json`.

    The rate applies from `since` to `until`, both days included. If the last day of the rate is unknown, `until` is
    None. `source_read_on` is the day on which somebody last read the source. If another source states a different rate,
    `rate_of_other_source` is that rate in c/kWh.
    """

    rate: Rate
    since: date
    until: date | None = None
    source: str
    source_read_on: date
    rate_of_other_source: float | None = None

    def applies_on(self, day: date) -> bool:
        """Return whether `day` is one of the days from `since` to `until`."""
        return self.since <= day and (self.until is None or day <= self.until)

    def is_outdated_on(self, day: date, *, compared_with_invoice_on: date | None = None) -> bool:
        """Return whether the rate ended before `day`, or `is_old_on` is true for `day`."""
        return (self.until is not None and self.until < day) or self.is_old_on(
            day, compared_with_invoice_on=compared_with_invoice_on
        )

    def is_old_on(self, day: date, *, compared_with_invoice_on: date | None = None) -> bool:
        """Return whether the rate's source was last read more than a year before `day`.

        If the household compared the rate with an invoice on `compared_with_invoice_on`, the source counts as read on
        that day too.
        """
        seen = max(self.source_read_on, compared_with_invoice_on or self.source_read_on)
        return (seen.year + _OLD_AFTER_YEARS, seen.month, seen.day) < (day.year, day.month, day.day)


def _dated_rate[Rate](row: dict[str, Any], rate: Callable[[Any], Rate]) -> DatedRate[Rate]:
    fields = {_ATTRIBUTES.get(key, key): value for key, value in row.items()} | {"rate": rate(row["rate"])}
    dates = ("since", "until", "source_read_on")
    fields.update((name, date.fromisoformat(fields[name])) for name in dates if name in fields)
    return DatedRate(**fields)


_TABLE: Final = json.loads(Path(__file__).with_name("rates.json").read_text(encoding="utf-8"))

NETWORK_RATES: Final[Mapping[Package, Sequence[DatedRate[NetworkRates]]]] = {
    Package(name): [_dated_rate(row, lambda times: NetworkRates(**times)) for row in rows]
    for name, rows in _TABLE["network"].items()
}
"""The transmission rates of each package except `OWN`. The oldest entry of each package comes first."""

FEE_RATES: Final[Mapping[Part, Sequence[DatedRate[float]]]] = {
    Part(name): [_dated_rate(row, float) for row in rows] for name, rows in _TABLE["fees"].items()
}
"""The fees of the state and the system operator. The oldest entry of each fee comes first."""


@dataclass(frozen=True, slots=True)
class RateTable:
    """The rates of the network packages and of the fees in a zone.

    If the table `rates.json` has no rates for the zone, `packages` and `fees` are empty.
    """

    packages: Mapping[Package, Sequence[DatedRate[NetworkRates]]] = field(default_factory=dict)
    fees: Mapping[Part, Sequence[DatedRate[float]]] = field(default_factory=dict)


_RATE_TABLES: Final = {ESTONIA.code: RateTable(NETWORK_RATES, FEE_RATES)}
_NO_RATES: Final = RateTable()


def rate_table_of(zone: Market) -> RateTable:
    """Return the rate table of Estonia, or an empty rate table for any other zone."""
    return _RATE_TABLES.get(zone.code, _NO_RATES)


def nearest_rate[Rate](entries: Sequence[DatedRate[Rate]], day: date) -> DatedRate[Rate]:
    """Return the newest entry that began on or before `day`, or the oldest entry if all entries begin after `day`."""
    begun = [entry for entry in entries if entry.since <= day]
    return begun[-1] if begun else entries[0]

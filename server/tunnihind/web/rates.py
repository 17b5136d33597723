"""What network and state charge a household per kilowatt-hour, by date: one table, in c/kWh without VAT.

The Home Assistant integration has the same table, with the source of each rate (`prices/rates.py`). They share no code;
`tests/integration/prices/test_page_tariff.py` keeps them alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

type Package = Literal["vork_1", "vork_2", "vork_4", "vork_5"]
"""A package of the network operator Elektrilevi, up to 63 A."""

type Fee = Literal["balancing", "renewable", "security", "excise"]
"""What is charged alike at all hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRates:
    """What transmission costs at each time of the network's clock. None: the package has no peak."""

    day: float
    night: float
    peak: float | None = None
    rest_day_peak: float | None = None


@dataclass(frozen=True, slots=True)
class Entry[Rate]:
    """A rate that holds from `since` to `until`, both included; None: as far as is known.

    `disputed` is what another source gives.
    """

    rate: Rate
    since: date
    until: date | None = None
    disputed: float | None = None

    def holds_on(self, day: date) -> bool:
        """Tell whether this is the rate of that day."""
        return self.since <= day and (self.until is None or day <= self.until)


READ_ON: Final = date(2026, 11, 20)
"""When the sources of the table were last read."""

PRICE_LIST: Final = date(2026, 6, 1)
"""From when on the network's rates hold."""

NETWORK: Final[Mapping[Package, Sequence[Entry[NetworkRates]]]] = {
    "vork_1": (Entry(NetworkRates(day=7.72, night=7.72), PRICE_LIST),),
    "vork_2": (Entry(NetworkRates(day=6.07, night=3.51), PRICE_LIST),),
    "vork_4": (Entry(NetworkRates(day=3.69, night=2.10), PRICE_LIST),),
    "vork_5": (Entry(NetworkRates(day=5.29, night=3.03, peak=8.18, rest_day_peak=4.74), PRICE_LIST),),
}
"""Transmission by package, oldest entry first."""

FEES: Final[Mapping[Fee, Sequence[Entry[float]]]] = {
    "balancing": (
        Entry(0.373, date(2026, 1, 1), date(2026, 12, 31)),
        Entry(0.297, date(2027, 1, 1), date(2027, 12, 31)),
    ),
    "renewable": (Entry(0.84, date(2026, 1, 1), date(2026, 12, 31)),),
    "security": (Entry(0.758, date(2026, 1, 1)),),
    "excise": (Entry(0.21, date(2026, 1, 1), date(2026, 4, 30)), Entry(0.307, date(2026, 5, 1), disputed=0.21)),
}
"""What state and system operator charge, oldest entry first."""


def nearest_entry[Rate](entries: Sequence[Entry[Rate]], day: date) -> Entry[Rate]:
    """Return the entry of that day, or the last one before it; before all of them, the first."""
    begun = [entry for entry in entries if entry.since <= day]
    return begun[-1] if begun else entries[0]

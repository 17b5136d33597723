"""The fees that a household pays on top of the market's price: supplier's margin, network and others.

Estonian rates come from the integration's table, `custom_components/tunnihind/prices/rates.json`, which the wheel
includes. In other countries a household enters its own rates. Fees are in c/kWh without VAT where people read or enter
them, and in EUR/MWh where they are added to a market price.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from tunnihind.market import ESTONIA, HOUR_S, Market, Zone, floor_hour
from tunnihind.public_holidays import is_holiday

type Package = Literal["vork_1", "vork_2", "vork_4", "vork_5"]
"""A package of the network operator Elektrilevi, up to 63 A."""

type Fee = Literal["balancing", "renewable", "security", "excise"]
"""A fee that is the same at all hours."""

type Part = Literal["margin", "network", "other"] | Fee
type NetworkTime = Literal["day", "night", "peak", "rest_day_peak"]

EUR_MWH_PER_CENT_KWH: Final = 10
PACKAGE_ZONE: Final[Zone] = "ee"
"""The zone in which households choose a package. In other zones they enter their rates."""

_DECIMALS: Final = 4
"""All rates and margins have at most three decimals in c/kWh. More decimals are errors of binary fractions."""

_SATURDAY: Final = 5
_DAY: Final = (time(7), time(22))
_PEAK_MONTHS: Final = frozenset({11, 12, 1, 2, 3})
_MORNING_PEAK: Final = (time(9), time(12))
_EVENING_PEAK: Final = (time(16), time(20))


class NetworkRates(msgspec.Struct, frozen=True, kw_only=True):
    """The price of transmission at each time of the network's clock; None for the peaks of a package without peaks."""

    day: float
    night: float
    peak: float | None = None
    rest_day_peak: float | None = None


class Entry[Rate](msgspec.Struct, frozen=True, kw_only=True):
    """A rate that holds from `since` to `until`, both included.

    `until` is None if the end is not known. `as_of` is the day on which the source was read. `disputed` is the rate of
    another source.
    """

    rate: Rate
    since: date
    until: date | None = None
    as_of: date
    disputed: float | None = None


class _Table(msgspec.Struct, frozen=True):
    network: dict[Package, tuple[Entry[NetworkRates], ...]]
    fees: dict[Fee, tuple[Entry[float], ...]]


def _read_table() -> _Table:
    installed = Path(__file__).with_name("rates.json")
    in_clone = Path(__file__).parents[3] / "custom_components/tunnihind/prices/rates.json"
    return msgspec.json.decode((installed if installed.exists() else in_clone).read_bytes(), type=_Table)


_TABLE: Final = _read_table()

NETWORK: Final[Mapping[Package, Sequence[Entry[NetworkRates]]]] = _TABLE.network
"""Transmission by package, oldest entry first."""

FEES: Final[Mapping[Fee, Sequence[Entry[float]]]] = _TABLE.fees
"""The fees of state and system operator, oldest entry first."""

PRICE_LIST: Final = max(entries[-1].since for entries in NETWORK.values())
"""The day from which the network's rates hold."""

READ_ON: Final = min(entries[-1].as_of for entries in (*NETWORK.values(), *FEES.values()))
"""When the sources of the table were last read."""


def nearest_entry[Rate](entries: Sequence[Entry[Rate]], day: date) -> Entry[Rate]:
    """Return the entry of that day, else the last entry before it, else the first entry."""
    begun = [entry for entry in entries if entry.since <= day]
    return begun[-1] if begun else entries[0]


class UnknownRate(NamedTuple):
    """A part whose rate isn't known on a day, because the day is after the last known rate or before the first one."""

    part: Part
    bound: date
    is_after: bool


@dataclass(frozen=True, slots=True)
class PackageTariff:
    """An Estonian household's network package and its supplier's margin, c/kWh without VAT."""

    package: Package
    margin: float

    @property
    def has_nights(self) -> bool:
        """Whether the package has a separate night rate."""
        rates = NETWORK[self.package][-1].rate
        return rates.day != rates.night

    def parts(self, ts: int) -> Mapping[Part, float]:
        """Return the price of each part at an instant, c/kWh without VAT.

        An unknown rate is replaced by the nearest one.
        """
        wall = ESTONIA.local(ts)
        network, fees = _rates_on(wall.date(), self.package)
        return {"margin": self.margin, "network": _rate_at(_network_time(wall, network), network), **fees}

    def network_time(self, ts: int) -> NetworkTime | None:
        """Return which rate of the package holds at an instant; None if the package has only one rate."""
        wall = ESTONIA.local(ts)
        rates = nearest_entry(NETWORK[self.package], wall.date()).rate
        return None if rates.day == rates.night else _network_time(wall, rates)

    def unknown_rates(self, day: date) -> Iterator[UnknownRate]:
        """Yield the parts for which the table has no rate on a day, with the nearest known rate."""
        nearest: dict[Part, Entry[NetworkRates] | Entry[float]] = {"network": nearest_entry(NETWORK[self.package], day)}
        nearest.update({fee: nearest_entry(entries, day) for fee, entries in FEES.items()})
        for part, entry in nearest.items():
            if day < entry.since:
                yield UnknownRate(part, entry.since, is_after=False)
            elif entry.until is not None and entry.until < day:
                yield UnknownRate(part, entry.until, is_after=True)


@dataclass(frozen=True, slots=True)
class OwnTariff:
    """A household's own rates, c/kWh without VAT: the network's rates by day and night, the margin, and other fees.

    Day is 07 to 22 by the market's clock on working days, and night is the rest, as in Estonia.
    """

    market: Market
    margin: float
    day: float
    night: float
    other: float

    @property
    def has_nights(self) -> bool:
        """Whether the network has a separate night rate."""
        return self.day != self.night

    def parts(self, ts: int) -> Mapping[Part, float]:
        """Return the price of each part at an instant, c/kWh without VAT."""
        network = self.night if self.network_time(ts) == "night" else self.day
        return {"margin": self.margin, "network": network, "other": self.other}

    def network_time(self, ts: int) -> NetworkTime | None:
        """Return which rate of the network holds at an instant; None if there is only one rate."""
        if not self.has_nights:
            return None
        return "night" if is_night(self.market.local(ts), self.market.country) else "day"

    def unknown_rates(self, _day: date) -> Iterator[UnknownRate]:
        """Yield nothing, because a household's own rates hold on all days."""
        return iter(())


type Tariff = PackageTariff | OwnTariff


@dataclass(frozen=True, slots=True)
class Surcharge:
    """The amounts added to the market's price by the hour, EUR/MWh without VAT.

    `steps` are amounts, each with the instant from which it is added, oldest first. The first amount also counts before
    its instant. Without steps, nothing is added.
    """

    steps: tuple[tuple[int, float], ...] = ()

    def at(self, ts: int) -> float:
        """Return the amount added at an instant."""
        if not self.steps:
            return 0.0
        return self.steps[max(0, bisect_right(self.steps, ts, key=itemgetter(0)) - 1)][1]


NO_SURCHARGE: Final = Surcharge()


def surcharge(tariff: Tariff, first: int, last: int) -> Surcharge:
    """Return the amounts that a tariff adds in the hours from `first` to `last`, unix seconds."""
    return Surcharge(tuple(_steps(tariff, range(floor_hour(first), last + 1, HOUR_S))))


def _steps(tariff: Tariff, hours: range) -> Iterator[tuple[int, float]]:
    amounts = ((hour, round(sum(tariff.parts(hour).values()) * EUR_MWH_PER_CENT_KWH, _DECIMALS)) for hour in hours)
    for amount, same in groupby(amounts, key=itemgetter(1)):
        since, _ = next(same)
        yield since, amount


@lru_cache(maxsize=256)
def _rates_on(day: date, package: Package) -> tuple[NetworkRates, Mapping[Part, float]]:
    """Return a day's network rates, and the fees of the state and the system operator.

    It is cached, because a page asks for each hour.
    """
    return (
        nearest_entry(NETWORK[package], day).rate,
        {fee: nearest_entry(entries, day).rate for fee, entries in FEES.items()},
    )


def _network_time(wall: datetime, rates: NetworkRates) -> NetworkTime:
    """Return which rate of a package holds at an Estonian wall time.

    Day is 07 to 22 on working days, and night is the rest. A package with peaks has them from November to March: 09 to
    12 and 16 to 20 on working days, 16 to 20 on days of rest (Elektrilevi's price list).
    """
    is_rest_day = _is_rest_day(wall, ESTONIA.country)
    if rates.peak is not None and wall.month in _PEAK_MONTHS:
        if _is_within(wall, _EVENING_PEAK):
            return "rest_day_peak" if is_rest_day else "peak"
        if not is_rest_day and _is_within(wall, _MORNING_PEAK):
            return "peak"
    return "night" if is_night(wall, ESTONIA.country) else "day"


def is_night(wall: datetime, country: str) -> bool:
    """Return whether networks without peaks have their night rate at a wall time of a country (ISO 3166)."""
    return _is_rest_day(wall, country) or not _is_within(wall, _DAY)


def _is_rest_day(wall: datetime, country: str) -> bool:
    return wall.weekday() >= _SATURDAY or is_holiday(wall.date(), country)


def _is_within(wall: datetime, span: tuple[time, time]) -> bool:
    starts, ends = span
    return starts <= wall.time() < ends


def _rate_at(when: NetworkTime, rates: NetworkRates) -> float:
    rate: float = getattr(rates, when)
    return rate

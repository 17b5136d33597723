"""The fees per kWh that a household pays on top of the market's price: the supplier's margin, network fees and others.

Estonian rates, except the margin, come from the integration's table, `custom_components/tunnihind/prices/rates.json`,
which is copied into the server's wheel. Outside Estonia, a household enters its own rates. All rates are in c/kWh
without VAT. The amounts of a `Surcharge` are in EUR/MWh without VAT.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from tunnihind.market import ESTONIA, HOUR_S, Market, Zone, floor_hour
from tunnihind.public_holidays import is_holiday

type Package = Literal["vork_1", "vork_2", "vork_4", "vork_5"]
"""A package of the network operator Elektrilevi for connections up to 63 A."""

type Fee = Literal["balancing", "renewable", "security", "excise"]
"""A fee of the state or the system operator. Its rate is the same at all hours of a day."""

type Part = Literal["margin", "network", "other"] | Fee
type NetworkRatePeriod = Literal["day", "night", "peak", "rest_day_peak"]

EUR_MWH_PER_CENT_KWH: Final = 10
PACKAGE_ZONE: Final[Zone] = "ee"
"""The zone in which households choose a package. In other zones, households enter their rates."""

_DECIMALS: Final = 4
"""Amounts in EUR/MWh are rounded to this many decimals. Rounding removes the errors of binary fractions."""

_SATURDAY: Final = 5
_DAY_RATE_TIMES: Final = (time(7), time(22))
_PEAK_MONTHS: Final = frozenset({11, 12, 1, 2, 3})
_MORNING_PEAK: Final = (time(9), time(12))
_EVENING_PEAK: Final = (time(16), time(20))


class NetworkRates(msgspec.Struct, frozen=True, kw_only=True):
    """A package's network rates by day, by night and in peak hours.

    In a package without peak hours, `peak` and `rest_day_peak` are None.
    """

    day: float
    night: float
    peak: float | None = None
    rest_day_peak: float | None = None


class DatedRate[Rate](msgspec.Struct, frozen=True, kw_only=True):
    """A rate that holds from `since` to `until`, both days included.

    If the last day isn't known, `until` is None. `as_of` is the day on which the rate's source was read. If another
    source states a different rate, `disputed` is that rate.
    """

    rate: Rate
    since: date
    until: date | None = None
    as_of: date
    disputed: float | None = None


class _RateTable(msgspec.Struct, frozen=True):
    network: dict[Package, tuple[DatedRate[NetworkRates], ...]]
    fees: dict[Fee, tuple[DatedRate[float], ...]]


def _read_rate_table() -> _RateTable:
    installed = Path(__file__).with_name("rates.json")
    in_clone = Path(__file__).parents[3] / "custom_components/tunnihind/prices/rates.json"
    return msgspec.json.decode((installed if installed.exists() else in_clone).read_bytes(), type=_RateTable)


_RATE_TABLE: Final = _read_rate_table()

NETWORK_RATES: Final[Mapping[Package, Sequence[DatedRate[NetworkRates]]]] = _RATE_TABLE.network
"""The network rates of each package, the oldest first."""

FEE_RATES: Final[Mapping[Fee, Sequence[DatedRate[float]]]] = _RATE_TABLE.fees
"""The rates of each fee of the state and the system operator, the oldest first."""

PRICE_LIST_SINCE: Final = max(entries[-1].since for entries in NETWORK_RATES.values())
"""The day from which the newest network rates hold."""

NEWEST_RATES_READ_SINCE: Final = min(entries[-1].as_of for entries in (*NETWORK_RATES.values(), *FEE_RATES.values()))
"""The newest rates of the table were read from their sources on this day or later."""


def nearest_rate[Rate](entries: Sequence[DatedRate[Rate]], day: date) -> DatedRate[Rate]:
    """Return the newest rate that begins on `day` or earlier, even if this rate ends before `day`.

    If all rates begin after `day`, return the first rate.
    """
    begun = [entry for entry in entries if entry.since <= day]
    return begun[-1] if begun else entries[0]


class UnknownRate(NamedTuple):
    """A part of the price whose rate is unknown on a certain day.

    If `is_after_bound` is true, `bound` is the last day of the last rate before that day. Otherwise, all known rates
    begin after that day, and `bound` is the first day of the first rate.
    """

    part: Part
    bound: date
    is_after_bound: bool


@dataclass(frozen=True, slots=True)
class PackageTariff:
    """The fees of an Estonian household with a network package.

    `margin` is the supplier's margin in c/kWh without VAT.
    """

    package: Package
    margin: float

    def part_amounts(self, ts: int) -> Mapping[Part, float]:
        """Return the amount of each part of the tariff at an instant, in c/kWh without VAT.

        If a part has no known rate at `ts`, use its last rate before `ts`, or else its first rate.
        """
        wall = ESTONIA.local_time(ts)
        network, fees = _rates_on(wall.date(), self.package)
        return {"margin": self.margin, "network": _network_rate(_network_rate_period(wall, network), network), **fees}

    def network_rate_period(self, ts: int) -> NetworkRatePeriod | None:
        """Return the kind of network rate that holds at an instant.

        If the package has no separate night rate on the day of `ts`, return None.
        """
        wall = ESTONIA.local_time(ts)
        rates = nearest_rate(NETWORK_RATES[self.package], wall.date()).rate
        return None if rates.day == rates.night else _network_rate_period(wall, rates)

    def unknown_rates(self, day: date) -> Iterator[UnknownRate]:
        """Yield the parts of the price, except the margin, for which the table has no rate on a day."""
        nearest: dict[Part, DatedRate[NetworkRates] | DatedRate[float]] = {
            "network": nearest_rate(NETWORK_RATES[self.package], day)
        }
        nearest.update({fee: nearest_rate(entries, day) for fee, entries in FEE_RATES.items()})
        for part, entry in nearest.items():
            if day < entry.since:
                yield UnknownRate(part, entry.since, is_after_bound=False)
            elif entry.until is not None and entry.until < day:
                yield UnknownRate(part, entry.until, is_after_bound=True)


@dataclass(frozen=True, slots=True)
class OwnTariff:
    """A household's own rates in c/kWh without VAT.

    `day` and `night` are the network's day rate and night rate. The day rate applies on working days from 07 to 22 in
    local time, as in Estonia. The night rate applies at night, on weekends and on public holidays.
    """

    market: Market
    margin: float
    day: float
    night: float
    other: float

    @property
    def has_night_rate(self) -> bool:
        """True if the network has a separate night rate."""
        return self.day != self.night

    def part_amounts(self, ts: int) -> Mapping[Part, float]:
        """Return the amount of each part of the tariff at an instant, in c/kWh without VAT."""
        network = self.night if self.network_rate_period(ts) == "night" else self.day
        return {"margin": self.margin, "network": network, "other": self.other}

    def network_rate_period(self, ts: int) -> NetworkRatePeriod | None:
        """Return the kind of network rate that holds at an instant.

        If the network has no separate night rate, return None.
        """
        if not self.has_night_rate:
            return None
        return "night" if _is_night(self.market.local_time(ts), self.market.country) else "day"

    def unknown_rates(self, _day: date) -> Iterator[UnknownRate]:
        """Yield nothing, because a household's own rates hold on all days."""
        return iter(())


type Tariff = PackageTariff | OwnTariff


class SurchargeStep(NamedTuple):
    """An amount in EUR/MWh without VAT that is added to the market's price from `since` (unix seconds) on.

    `is_night_rate` is true if the amount contains the network's night rate.
    """

    since: int
    eur_mwh: float
    is_night_rate: bool


@dataclass(frozen=True, slots=True)
class Surcharge:
    """The amount that is added to the market's price. The amount may change from hour to hour.

    If `steps` is empty, nothing is added. The first step also applies before its start.
    """

    steps: tuple[SurchargeStep, ...] = ()

    def amount_at(self, ts: int) -> float:
        """Return the amount that is added to the market's price at an instant, in EUR/MWh without VAT."""
        step = self._step(ts)
        return step.eur_mwh if step else 0.0

    def is_night_rate_at(self, ts: int) -> bool:
        """Return whether the amount at an instant contains the network's night rate."""
        step = self._step(ts)
        return step is not None and step.is_night_rate

    def _step(self, ts: int) -> SurchargeStep | None:
        begun = bisect_right(self.steps, ts, key=attrgetter("since"))
        return self.steps[max(0, begun - 1)] if self.steps else None


NO_SURCHARGE: Final = Surcharge()


def tariff_surcharge(tariff: Tariff, first: int, last: int) -> Surcharge:
    """Return a tariff's surcharge for the hours from `first` to `last` (unix seconds)."""
    return Surcharge(tuple(_surcharge_steps(tariff, range(floor_hour(first), last + 1, HOUR_S))))


def _surcharge_steps(tariff: Tariff, hours: range) -> Iterator[SurchargeStep]:
    by_hour = (
        SurchargeStep(
            hour,
            round(sum(tariff.part_amounts(hour).values()) * EUR_MWH_PER_CENT_KWH, _DECIMALS),
            tariff.network_rate_period(hour) == "night",
        )
        for hour in hours
    )
    for _, same in groupby(by_hour, key=itemgetter(1, 2)):
        yield next(same)


@lru_cache(maxsize=256)
def _rates_on(day: date, package: Package) -> tuple[NetworkRates, Mapping[Part, float]]:
    """Return a package's rates on a day, and the rates of the fees of the state and the system operator.

    If a rate is unknown on this day, `nearest_rate` chooses another. The rates are cached, because a page needs them
    for each hour.
    """
    return (
        nearest_rate(NETWORK_RATES[package], day).rate,
        {fee: nearest_rate(entries, day).rate for fee, entries in FEE_RATES.items()},
    )


def _network_rate_period(wall: datetime, rates: NetworkRates) -> NetworkRatePeriod:
    """Return the kind of network rate that applies at a local time in Estonia.

    The rules come from Elektrilevi's price list. From November to March, some packages have peak rates: from 09 to 12
    and from 16 to 20 on working days, and from 16 to 20 on weekends and public holidays. Outside peak hours, the day
    rate applies on working days from 07 to 22, and the night rate at night, on weekends and on public holidays.
    """
    is_rest_day = _is_rest_day(wall, ESTONIA.country)
    if rates.peak is not None and wall.month in _PEAK_MONTHS:
        if _is_within(wall, _EVENING_PEAK):
            return "rest_day_peak" if is_rest_day else "peak"
        if not is_rest_day and _is_within(wall, _MORNING_PEAK):
            return "peak"
    return "night" if _is_night(wall, ESTONIA.country) else "day"


def _is_night(wall: datetime, country: str) -> bool:
    """Return whether a local time is from 22 to 07, on a weekend or on a public holiday.

    `country` is an ISO 3166 code.
    """
    return _is_rest_day(wall, country) or not _is_within(wall, _DAY_RATE_TIMES)


def _is_rest_day(wall: datetime, country: str) -> bool:
    return wall.weekday() >= _SATURDAY or is_holiday(wall.date(), country)


def _is_within(wall: datetime, span: tuple[time, time]) -> bool:
    starts, ends = span
    return starts <= wall.time() < ends


def _network_rate(when: NetworkRatePeriod, rates: NetworkRates) -> float:
    rate: float = getattr(rates, when)
    return rate

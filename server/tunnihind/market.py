"""Facts about the day-ahead market. The facts about each zone are in `MARKETS`.

Instants are unix seconds, UTC. A delivery day is a calendar day of Central European time, with 23, 24 or 25 hours. A
delivery day begins at 01:00 on the clocks of all four zones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final, Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

type Zone = Literal["ee", "lv", "lt", "fi"]
type ZoneCode = Literal["EE", "LV", "LT", "FI"]

ZONES: Final[tuple[Zone, ...]] = get_args(Zone.__value__)
"""All zones whose prices a server can store."""

type VatRates = tuple[tuple[int, float], ...]
"""VAT rates as fractions, each with the instant from which the rate applies. The oldest rate comes first, and applies
from instant 0."""

QUARTER_S: Final = 900
HOUR_S: Final = 3600
DAY_S: Final = 86_400
WEEK_S: Final = 7 * DAY_S

STEPS: Final = (HOUR_S, QUARTER_S)
"""The steps of stored and served prices in seconds, the longest first."""


class SeriesKey(NamedTuple):
    """Names a series by its zone and its step in seconds."""

    zone: Zone
    step_s: int


@dataclass(frozen=True, slots=True)
class PriceLimits:
    """The lowest and the highest possible price in EUR/MWh."""

    floor: float
    cap: float


HARMONISED_LIMITS: Final = PriceLimits(floor=-500.0, cap=4000.0)
"""The price limits of the market coupling. All zones have the same limits."""


@dataclass(frozen=True, slots=True)
class Market:
    """The facts about one price zone."""

    zone: Zone
    code: ZoneCode
    """The zone's name in the API. This name is also the ISO 3166 code of the zone's country."""
    adjective: str
    """The word for the zone in English sentences, such as `Estonian`."""
    neighbours: tuple[Zone, ...]
    """All other zones, in the order that the model needs. The last zone lies across the Gulf of Finland, so its price
    differs from this zone's price if the cables are full. Among the zones before the last, the first has the prices
    that are most similar to this zone's."""
    time_zone: ZoneInfo
    """The time zone of the clocks in this price zone."""
    latitude: float
    """The middle of the zone, degrees north."""
    longitude: float
    """The middle of the zone, degrees east."""
    vat_rates_by_day: tuple[tuple[date, float], ...]
    """The legal VAT rates as fractions, each with its first day, oldest first."""
    publication_watch: tuple[time, time] = (time(13, 45), time(15, 30))
    """The two local times between which the prices of the next delivery day normally appear. The prices are late if
    they are missing at the second time."""
    currency: Literal["EUR"] = "EUR"
    limits: PriceLimits = HARMONISED_LIMITS
    """The price limits of the market coupling, or the operator's own limits."""

    @property
    def country(self) -> str:
        """The ISO 3166 code of the zone's country."""
        return self.code

    @property
    def neighbour_countries(self) -> tuple[str, ...]:
        """The ISO 3166 codes of the neighbours' countries."""
        return tuple(zone.upper() for zone in self.neighbours)

    @property
    def zones(self) -> tuple[Zone, ...]:
        """All zones, the market's zone first."""
        return (self.zone, *self.neighbours)

    @property
    def legal_vat_rates(self) -> VatRates:
        """The legal VAT rates. Each rate applies from the local midnight at which its first day begins.

        The oldest rate also applies before its first day.
        """
        (_, oldest), *later = self.vat_rates_by_day
        midnights = (self.midnight(day) for day, _ in later)
        return ((0, oldest), *zip(midnights, (rate for _, rate in later), strict=True))

    def with_limits(self, limits: PriceLimits) -> Market:
        """Return a copy of this market with `limits` as its price limits."""
        return replace(self, limits=limits)

    def local_time(self, ts: float) -> datetime:
        """Return the zone's local time at an instant."""
        return datetime.fromtimestamp(ts, self.time_zone)

    def instant(self, day: date, at: time) -> int:
        """Return the instant of a local time on a calendar day."""
        return int(datetime.combine(day, at, self.time_zone).timestamp())

    def midnight(self, day: date) -> int:
        """Return the instant at which a calendar day begins in the zone's local time."""
        return self.instant(day, time())

    def prices_late_from(self, day: date) -> int:
        """Return the instant from which missing prices of a delivery day count as late."""
        return self.instant(day - timedelta(days=1), self.publication_watch[1])

    def is_in_publication_watch(self, now: float) -> bool:
        """Return whether the local time at `now` is in `publication_watch`, whose second time is excluded."""
        first, last = self.publication_watch
        return first <= self.local_time(now).time() < last

    def newest_expected_day(self, now: float) -> date:
        """Return the last delivery day whose prices may already be published at `now`."""
        local, today = self.local_time(now), delivery_day(now)
        # In the first hour after local midnight, `today` is still yesterday's delivery day, but normally, the prices of
        # the next delivery day have been published already.
        is_out = local.time() >= self.publication_watch[0] or local.date() > today
        return today + timedelta(days=1) if is_out else today


ESTONIA: Final = Market(
    zone="ee",
    code="EE",
    adjective="Estonian",
    neighbours=("lv", "lt", "fi"),
    time_zone=ZoneInfo("Europe/Tallinn"),
    latitude=58.6,
    longitude=25.5,
    vat_rates_by_day=((date(2009, 7, 1), 0.20), (date(2024, 1, 1), 0.22), (date(2025, 7, 1), 0.24)),
)

LATVIA: Final = Market(
    zone="lv",
    code="LV",
    adjective="Latvian",
    neighbours=("lt", "ee", "fi"),
    time_zone=ZoneInfo("Europe/Riga"),
    latitude=56.9,
    longitude=24.9,
    vat_rates_by_day=((date(2012, 7, 1), 0.21),),
)

LITHUANIA: Final = Market(
    zone="lt",
    code="LT",
    adjective="Lithuanian",
    neighbours=("lv", "ee", "fi"),
    time_zone=ZoneInfo("Europe/Vilnius"),
    latitude=55.3,
    longitude=23.9,
    vat_rates_by_day=((date(2009, 9, 1), 0.21),),
)

FINLAND: Final = Market(
    zone="fi",
    code="FI",
    adjective="Finnish",
    neighbours=("lv", "lt", "ee"),
    time_zone=ZoneInfo("Europe/Helsinki"),
    latitude=62.6,
    longitude=25.5,
    # In Finland, VAT was 10% on electricity and 24% on network fees from December 2022 to April 2023.
    vat_rates_by_day=(
        (date(2013, 1, 1), 0.24),
        (date(2022, 12, 1), 0.10),
        (date(2023, 5, 1), 0.24),
        (date(2024, 9, 1), 0.255),
    ),
)

MARKETS: Final[Mapping[Zone, Market]] = {market.zone: market for market in (ESTONIA, LATVIA, LITHUANIA, FINLAND)}
"""The market of each zone that a server can serve."""

SPECIFIED_VAT_RATE: Final = 0.22
"""The VAT rate that the API's specification sets for Estonia. The operator can set another rate, because the legal rate
has been higher since 2025-07-01."""

DELIVERY_TZ: Final = ZoneInfo("Europe/Brussels")

QUARTERS_SINCE: Final = date(2025, 10, 1)
"""The first delivery day that was traded in quarters of an hour."""

_PAST_SETTLED_S: Final = 48 * HOUR_S
PUBLIC_WINDOW_S: Final = 72 * HOUR_S

_GATE_CLOSURE: Final = time(12, 0)
_PUBLICATION_TIME: Final = time(12, 55)


def iso_utc(ts: int) -> str:
    """Write an instant in UTC in the format `2025-12-15T10:00:00Z` (ISO 8601)."""
    return datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def floor_hour(ts: float) -> int:
    """Return the start of the UTC hour that contains an instant."""
    return int(ts // HOUR_S) * HOUR_S


def utc_midnight(day: date) -> int:
    """Return the instant at which a UTC day begins."""
    return int(datetime.combine(day, time(), UTC).timestamp())


def delivery_day(ts: float) -> date:
    """Return the delivery day of an instant."""
    return datetime.fromtimestamp(ts, DELIVERY_TZ).date()


@lru_cache(maxsize=8192)
def day_start(day: date) -> int:
    """Return the first instant of a delivery day."""
    return int(datetime.combine(day, time(), DELIVERY_TZ).timestamp())


def day_end(day: date) -> int:
    """Return the instant at which a delivery day ends and the next delivery day begins."""
    return day_start(day + timedelta(days=1))


def hours_of(day: date) -> range:
    """Return the starts of a delivery day's 23, 24 or 25 hours."""
    return range(day_start(day), day_end(day), HOUR_S)


def market_time_unit(day: date) -> int:
    """Return the market time unit of a delivery day in seconds."""
    return QUARTER_S if day >= QUARTERS_SINCE else HOUR_S


@lru_cache(maxsize=8192)
def publication_time(day: date) -> int:
    """Return the official publication time of a delivery day's prices: 12:55 Brussels time on the day before."""
    return int(datetime.combine(day - timedelta(days=1), _PUBLICATION_TIME, DELIVERY_TZ).timestamp())


@lru_cache(maxsize=8192)
def gate_closure(day: date) -> int:
    """Return the instant at which bidding for a delivery day ends: 12:00 Brussels time on the day before."""
    return int(datetime.combine(day - timedelta(days=1), _GATE_CLOSURE, DELIVERY_TZ).timestamp())


def hourly_prices(quarters: Mapping[int, float]) -> dict[int, float]:
    """Map each hour with four known quarters to the unrounded mean of their prices in EUR/MWh.

    An hour with a missing quarter has no price, because the mean of the other quarters would be wrong.
    """
    hours: dict[int, float] = {}
    for hour in sorted({floor_hour(ts) for ts in quarters}):
        values = [quarters[ts] for ts in range(hour, hour + HOUR_S, QUARTER_S) if ts in quarters]
        if len(values) == HOUR_S // QUARTER_S:
            hours[hour] = sum(values) / len(values)
    return hours


def rounded_market_price(eur_mwh: float) -> float:
    """Round a price in EUR/MWh to the 2 decimals that the API serves. Never returns -0.0."""
    return round(eur_mwh, 2) + 0.0


def consumer_price(eur_mwh: float, vat_rate: float) -> float:
    """Convert a market price to a consumer price in EUR/kWh with VAT, rounded to 4 decimals. Never returns -0.0."""
    return round(eur_mwh / 1000 * (1 + vat_rate), 4) + 0.0


def vat_rate_at(rates: VatRates, ts: int) -> float:
    """Return the VAT rate that applies at an instant, as a fraction."""
    return next(rate for since, rate in reversed(rates) if since <= ts)


def free_until(newest_settled: int | None, now: int) -> int:
    """Return the end of the public window.

    The public window ends 48 hours after the start of the newest settled hour, but no later than 72 hours after `now`.
    If there are no settled prices, the current hour counts as the newest settled hour.
    """
    newest = floor_hour(now) if newest_settled is None else newest_settled
    return min(newest + _PAST_SETTLED_S, now + PUBLIC_WINDOW_S)

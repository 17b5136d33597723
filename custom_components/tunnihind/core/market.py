"""Facts about the day-ahead market. The facts about each zone are in `MARKETS`.

Instants are unix seconds, UTC. A delivery day is a calendar day of Central European time, with 23, 24 or 25 hours. A
delivery day begins at 01:00 on the clocks of all four zones.
"""

from collections.abc import Iterator, Mapping, Sequence
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

SHORTEST_STEP_S: Final = min(STEPS)
"""Prices may change at each multiple of this time: past costs are counted in periods of this length."""


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
class VatLaw:
    """The legal VAT rate from `since` on, as a fraction. The oldest rate of a zone is since `date.min`.

    If network and state fees have a VAT rate of their own, `network_rate` is that rate.
    """

    since: date
    rate: float
    network_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Market:
    """The facts about one price zone."""

    zone: Zone
    code: ZoneCode
    """The zone's name in the API."""
    country: str
    """The ISO 3166 code of the zone's country."""
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
    vat_laws: tuple[VatLaw, ...]
    """The legal VAT rates, oldest first."""
    publication_watch: tuple[time, time] = (time(13, 45), time(15, 30))
    """The two local times between which the prices of the next delivery day normally appear. The prices are late if
    they are missing at the second time."""
    currency: Literal["EUR"] = "EUR"
    limits: PriceLimits = HARMONISED_LIMITS
    """The price limits of the market coupling, or the operator's own limits."""

    @property
    def neighbour_countries(self) -> tuple[str, ...]:
        """The ISO 3166 codes of the neighbours' countries."""
        return tuple(MARKETS[zone].country for zone in self.neighbours)

    @property
    def zones(self) -> tuple[Zone, ...]:
        """All zones, the market's zone first."""
        return (self.zone, *self.neighbours)

    @property
    def legal_vat_rates(self) -> VatRates:
        """The legal VAT rates. Each rate applies from the local midnight at which its first day begins."""
        oldest, *later = self.vat_laws
        return ((0, oldest.rate), *((self.midnight(law.since), law.rate) for law in later))

    def legal_vat_rate(self, day: date, *, on_network: bool = False) -> float:
        """Return the legal VAT rate on a calendar day, as a fraction.

        If `on_network` is true, return the rate on network and state fees. Otherwise, return the rate on electricity
        and on the supplier's fees.
        """
        law = next(law for law in reversed(self.vat_laws) if law.since <= day)
        return law.rate if law.network_rate is None or not on_network else law.network_rate

    def with_limits(self, limits: PriceLimits) -> Market:
        """Return a copy of this market with `limits` as its price limits."""
        return replace(self, limits=limits)

    def local_time(self, ts: float) -> datetime:
        """Return the zone's local time at an instant."""
        return datetime.fromtimestamp(ts, self.time_zone)

    def instant(self, day: date, at: time) -> int:
        """Return the instant at which the zone's clocks show `at` on a calendar day.

        If the clocks show `at` twice on a day in autumn, return the first instant. If the clocks skip `at` on a day in
        spring, use the offset from UTC before the clock change: 03:30 means 04:30.
        """
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
    country="EE",
    adjective="Estonian",
    neighbours=("lv", "lt", "fi"),
    time_zone=ZoneInfo("Europe/Tallinn"),
    latitude=58.6,
    longitude=25.5,
    # Estonia's VAT law: Käibemaksuseadus § 15
    vat_laws=(VatLaw(date.min, 0.20), VatLaw(date(2024, 1, 1), 0.22), VatLaw(date(2025, 7, 1), 0.24)),
)

LATVIA: Final = Market(
    zone="lv",
    code="LV",
    country="LV",
    adjective="Latvian",
    neighbours=("lt", "ee", "fi"),
    time_zone=ZoneInfo("Europe/Riga"),
    latitude=56.9,
    longitude=24.9,
    # Latvia's VAT law: Pievienotās vērtības nodokļa likums, 41. pants
    vat_laws=(VatLaw(date.min, 0.21),),
)

LITHUANIA: Final = Market(
    zone="lt",
    code="LT",
    country="LT",
    adjective="Lithuanian",
    neighbours=("lv", "ee", "fi"),
    time_zone=ZoneInfo("Europe/Vilnius"),
    latitude=55.3,
    longitude=23.9,
    # Lithuania's VAT law: Pridėtinės vertės mokesčio įstatymas, 19 straipsnis
    vat_laws=(VatLaw(date.min, 0.21),),
)

FINLAND: Final = Market(
    zone="fi",
    code="FI",
    country="FI",
    adjective="Finnish",
    neighbours=("lv", "lt", "ee"),
    time_zone=ZoneInfo("Europe/Helsinki"),
    latitude=62.6,
    longitude=25.5,
    # Finland's VAT law: Arvonlisäverolaki 84 §. In the winter of 2022/23, Finland lowered the VAT rate on electricity,
    # but not on transmission or on the electricity tax.
    vat_laws=(
        VatLaw(date.min, 0.24),
        VatLaw(date(2022, 12, 1), 0.10, network_rate=0.24),
        VatLaw(date(2023, 5, 1), 0.24),
        VatLaw(date(2024, 9, 1), 0.255),
    ),
)

MARKETS: Final[Mapping[Zone, Market]] = {market.zone: market for market in (ESTONIA, LATVIA, LITHUANIA, FINLAND)}
"""The market of each zone that a server can serve."""

MARKET_OF_CODE: Final[Mapping[str, Market]] = {market.code: market for market in MARKETS.values()}
"""The market of each zone, by the zone's name in the API."""

SPECIFIED_VAT_RATE: Final = 0.22
"""The VAT rate that the API's specification sets for Estonia. The operator can set another rate, because the legal rate
has been higher since 2025-07-01."""

DELIVERY_TZ: Final = ZoneInfo("Europe/Brussels")

QUARTERS_SINCE: Final = date(2025, 10, 1)
"""The first delivery day that was traded in quarters of an hour."""

FORECAST_STALE_AFTER_S: Final = 3 * HOUR_S
"""A forecast that is older than this many seconds counts as old. A server makes a forecast every hour."""

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


def whole_periods[Value](
    parts: Mapping[int, Value], part_s: int, step_s: int = HOUR_S
) -> Iterator[tuple[int, Sequence[Value]]]:
    """Yield each period of `step_s` seconds whose parts of `part_s` seconds are all known, with the parts' values.

    `parts` maps the starts of the parts to their values. A period with an unknown part is left out, because the mean of
    its other parts would be wrong.
    """
    for start in sorted({ts - ts % step_s for ts in parts}):
        values = [parts[ts] for ts in range(start, start + step_s, part_s) if ts in parts]
        if len(values) == step_s // part_s:
            yield start, values


def hourly_prices(quarters: Mapping[int, float]) -> dict[int, float]:
    """Map each hour with four known quarters to the unrounded mean of their prices in EUR/MWh."""
    return {hour: sum(prices) / len(prices) for hour, prices in whole_periods(quarters, QUARTER_S)}


def rounded_market_price(eur_mwh: float) -> float:
    """Round a price in EUR/MWh to the 2 decimals that the API serves. Never returns -0.0."""
    return round(eur_mwh, 2) + 0.0


def consumer_price(eur_mwh: float, vat_rate: float) -> float:
    """Convert a market price to a consumer price in EUR/kWh with VAT, rounded to 4 decimals. Never returns -0.0."""
    return rounded_price(eur_mwh / 1000 * (1 + vat_rate))


def rounded_price(amount: float) -> float:
    """Round a price, a saving or a cost in EUR/kWh or EUR to 4 decimals. Never returns -0.0."""
    return round(amount, 4) + 0.0


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

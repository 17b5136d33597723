"""A server's answers: prices, forecasts and their accuracy, scores of plans, and the server's description of itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean
from typing import Final

from ..core.market import HOUR_S, MARKET_OF_CODE, Market, ZoneCode, whole_periods
from ..prices.zones import country_name, id_suffix

_PRICE_DECIMALS: Final = 2
_NAME: Final = "Tunnihind"
_ENGLISH: Final = "en"


@dataclass(frozen=True, slots=True)
class Band:
    """The 10th percentile, median and 90th percentile of a price.

    In a server's answers, the percentiles are in EUR/MWh without VAT.
    """

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Backtest:
    """The accuracy of the server's model in forecasts of past days, each made with the data known then.

    `mae` is the forecasts' mean absolute error in EUR/MWh for the first `horizon_h` hours after the newest price that
    was settled when the forecast was made. `baseline_mae` is the mean absolute error of the price one week earlier, for
    the same hours. `skill` is 1 - `mae` / `baseline_mae`.
    """

    mae: float
    baseline_mae: float
    skill: float
    horizon_h: int


@dataclass(frozen=True, slots=True)
class PlanScore:
    """The server's scores of plans: the savings of four-hour plans and of a boiler.

    `scored_days` is the number of days whose plans count in `next_day_share` and `baseline_share`, at most 30. Savings
    are measured against the mean price of the day or the week. `next_day_share`, `baseline_share` and `week_share` are
    fractions of the greatest possible saving. `next_day_share` is the saving of plans that use the four hours with the
    lowest forecasts for the next day. `baseline_share` is the saving of plans that use the four hours that were
    cheapest one week earlier. `week_share` is the saving of plans that use the four hours with the lowest forecasts for
    the next seven days. If the server sends null for this share, `week_share` is None.

    `boiler_eur_a_year` is a boiler's yearly saving in EUR without VAT. The boiler uses 3 kW, and heats each day in the
    three hours with the lowest forecasts. `ideal_boiler_eur_a_year` is the boiler's greatest possible yearly saving.
    """

    scored_days: int
    next_day_share: float
    baseline_share: float
    week_share: float | None
    boiler_eur_a_year: float
    ideal_boiler_eur_a_year: float


class Mode(StrEnum):
    """The kind of prices that a server serves."""

    LIVE = "live"
    DEMO = "demo"
    """A simulated market with made-up prices."""
    REHEARSAL = "rehearsal"
    """A past day with the prices and forecasts known then. The server's clock runs on from that day."""


@dataclass(frozen=True, slots=True)
class About:
    """The answer of `GET /api/about`: the server's description of itself.

    `zone` is the zone of the prices at the requested address. `zones` maps the server's zones to their paths, relative
    to the path of the first zone. `zones` leaves out zones that the integration doesn't support. `vat_rate` is the
    present VAT rate of the server's consumer prices, as a fraction. `vat_rate_is_chosen` is true if the server's
    operator chose one VAT rate for all dates. `full_horizon` is true if the server's quarter-hour forecast reaches
    beyond the public window. `price_scale` lists the market prices in EUR/MWh at which the colour of a price changes.
    If the server sends no valid scale, `price_scale` is empty.
    """

    version: str
    instance_id: str
    vat_rate: float
    attribution: str
    zone: ZoneCode = "EE"
    zones: Mapping[ZoneCode, str] = field(default_factory=lambda: {"EE": ""})
    vat_rate_is_chosen: bool = False
    mode: Mode = Mode.LIVE
    full_horizon: bool = False
    price_scale: tuple[float, ...] = ()

    @property
    def chosen_vat_rate(self) -> float | None:
        """The VAT rate that the server's operator chose for all dates, or None if the legal rates apply."""
        return self.vat_rate if self.vat_rate_is_chosen else None

    def instance_id_of(self, zone: Market) -> str:
        """Return the id of the server's installation, followed by the suffix of `zone`."""
        return self.instance_id.removesuffix(id_suffix(MARKET_OF_CODE[self.zone])) + id_suffix(zone)


@dataclass(frozen=True, slots=True)
class MarketPrices:
    """The answer of `GET /api/v1/forecast` or `GET /api/v1/quarters`, perhaps with prices of other answers added.

    Instants are UTC seconds. `now` is the server's time in the answer to one of these two requests. `settled` maps
    the starts of periods to prices. `forecast` maps the starts of periods to bands. All prices are in EUR/MWh without
    VAT. A period is `step_s` seconds long: 3600 or 900. Two answers that differ only in `now` are equal.
    """

    now: int = field(compare=False)
    made_at: int | None
    last_refresh: int | None
    backtest: Backtest | None
    settled: dict[int, float]
    forecast: dict[int, Band]
    step_s: int
    zone: ZoneCode = "EE"

    def market_price(self, instant: int) -> float | None:
        """Return the market price (EUR/MWh) at `instant`: the settled price, or else the forecast's median.

        If there is neither a settled price nor a forecast, return None.
        """
        start = instant - instant % self.step_s
        if start in self.settled:
            return self.settled[start]
        return self.forecast[start].p50 if start in self.forecast else None

    def with_hourly_prices(self) -> MarketPrices:
        """Return the answer with hourly prices instead of quarter-hour prices.

        If the price of a quarter is unknown, the quarter's hour has no price. If all four quarters are settled, the
        hour is settled, and its price is their mean price. Otherwise, the hour's percentiles are the means of the
        quarters' percentiles. All percentiles of a settled quarter equal its price. Means are rounded to 2 decimals,
        like the server's prices.
        """
        if self.step_s == HOUR_S:
            return self
        settled = {hour: _mean(prices) for hour, prices in whole_periods(self.settled, self.step_s)}
        known = self.forecast | {start: Band(price, price, price) for start, price in self.settled.items()}
        forecast = {
            hour: Band(*map(_mean, zip(*((band.p10, band.p50, band.p90) for band in bands), strict=True)))
            for hour, bands in whole_periods(known, self.step_s)
            if hour not in settled
        }
        return replace(self, settled=settled, forecast=forecast, step_s=HOUR_S)


def _mean(prices: Iterable[float]) -> float:
    return round(fmean(prices), _PRICE_DECIMALS)


_MODE_WORDS: Final = {
    "en": {Mode.DEMO: "demo", Mode.REHEARSAL: "rehearsal"},
    "et": {Mode.DEMO: "demo", Mode.REHEARSAL: "proov"},
    "ru": {Mode.DEMO: "демо", Mode.REHEARSAL: "репетиция"},
}
_CREDIT_MARKS: Final = {
    "en": {Mode.DEMO: "Demo, simulated prices", Mode.REHEARSAL: "Rehearsal, prices of a past day"},
    "et": {Mode.DEMO: "Demo, väljamõeldud hinnad", Mode.REHEARSAL: "Proov, möödunud päeva hinnad"},
    "ru": {Mode.DEMO: "Демо, вымышленные цены", Mode.REHEARSAL: "Репетиция, цены прошедшего дня"},
}


def server_name(mode: Mode, zone: Market, language: str) -> str:
    """Return the display name of a server, such as "Tunnihind Finland demo".

    The name doesn't mention the zone Estonia or the live mode.
    """
    country = country_name(zone, language) if id_suffix(zone) else None
    word = _MODE_WORDS.get(language, _MODE_WORDS[_ENGLISH]).get(mode)
    return " ".join(part for part in (_NAME, country, word) if part)


def credit_with_mode(credit: str, mode: Mode, language: str) -> str:
    """Return the credit line, with words like "Demo, simulated prices" before it if the prices are not live."""
    mark = _CREDIT_MARKS.get(language, _CREDIT_MARKS[_ENGLISH]).get(mode)
    return f"{mark} · {credit}" if mark else credit

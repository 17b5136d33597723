"""Writes prices and times in the reader's language, unit and time zone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from math import ceil, floor
from statistics import fmean
from typing import Final, Literal

from tunnihind.api.periods import ServedPeriods
from tunnihind.api.served_data import Percentiles
from tunnihind.core.cheapest_hours import CheapestPrice
from tunnihind.core.market import DAY_S, Market, VatRates, consumer_price, rounded_market_price, vat_rate_at
from tunnihind.web.options import PageOptions, VatChoice
from tunnihind.web.surcharge import NO_SURCHARGE, Surcharge
from tunnihind.web.texts import ClockTime, Texts, half_up, texts_in

EUR_MWH_PER_CENT_KWH: Final = 10


@dataclass(frozen=True, slots=True)
class PricedPeriod:
    """A period with a settled price, a forecast or both. Prices are in EUR/MWh without VAT."""

    ts: int
    settled: float | None
    forecast: Percentiles | None

    @property
    def eur_mwh(self) -> float:
        """The settled price, or the forecast's median if the price isn't settled."""
        return self.percentiles.p50 if self.settled is None else self.settled

    @property
    def percentiles(self) -> Percentiles:
        """The percentiles of the forecast. Raises ValueError if the period has no forecast."""
        if self.forecast is None:
            raise ValueError(f"period {self.ts} has no forecast")
        return self.forecast


def priced_periods(served: ServedPeriods) -> dict[int, PricedPeriod]:
    """Map the start of each served period (unix seconds) to the period, in chronological order."""
    settled, forecast = served.settled, served.forecast
    return {
        ts: PricedPeriod(
            ts,
            rounded_market_price(settled[ts]) if ts in settled else None,
            Percentiles(*map(rounded_market_price, forecast[ts])) if ts in forecast else None,
        )
        for ts in sorted({*settled, *forecast})
    }


def group_by_day[Day](periods: Mapping[int, PricedPeriod], days: Mapping[int, Day]) -> dict[Day, list[PricedPeriod]]:
    """Group the periods by day. Each day keeps the order of `periods`. `days` maps the start of a period to its day."""
    grouped: dict[Day, list[PricedPeriod]] = {}
    for ts, period in periods.items():
        grouped.setdefault(days[ts], []).append(period)
    return grouped


@dataclass(frozen=True, slots=True)
class Vat:
    """The VAT in the shown prices, and the choices of VAT that the page offers.

    `rates` lists the VAT rates in the shown prices, each with the instant from which it applies. `choices` maps each
    possible choice to its VAT rate today.
    """

    choice: VatChoice
    rates: VatRates
    choices: Mapping[VatChoice, float]

    @property
    def rate_today(self) -> float:
        """The VAT rate that today's shown prices include."""
        return self.choices[self.choice]

    def rate_at(self, ts: int) -> float:
        """Return the VAT rate that the shown price at an instant includes."""
        return vat_rate_at(self.rates, ts)


def shown_vat(options: PageOptions, market: Market, api_rate: float, now: int) -> Vat:
    """Return the VAT that the reader chose, or the default.

    For prices in cents and for household prices, the default is the legal rate. For market prices in EUR/MWh, the
    default is no VAT.

    `api_rate` is the API's VAT rate at `now` (unix seconds). If `api_rate` is zero, the choice `none` replaces the
    choice `api`. If `api_rate` equals the legal rate, the choice `law` replaces the choice `api`.
    """
    lawful = vat_rate_at(market.legal_vat_rates, now)
    choices: dict[VatChoice, float] = {"none": 0.0, "api": api_rate, "law": lawful}
    choice = options.vat or ("law" if options.unit == "kwh" or options.tariff else "none")
    if api_rate in {0.0, lawful}:
        del choices["api"]
        if choice == "api":
            choice = "law" if api_rate else "none"
    rates = market.legal_vat_rates if choice == "law" else ((0, choices[choice]),)
    return Vat(choice, rates, choices)


_CENTS_PER_EURO: Final = 100
_WHOLE_CENTS_FROM: Final = 9.95
"""Forecasts from this amount in cents on are written without decimals. With one decimal, it would be 10.0."""
_WITH_YEAR_FROM_S: Final = 180 * DAY_S
"""`moment_text` writes the year of an instant that is at least this many seconds before or after `now`."""


def _has_unsettled(periods: Iterable[PricedPeriod]) -> bool:
    return any(period.settled is None for period in periods)


@dataclass(frozen=True, slots=True)
class Display:
    """Writes a market's prices and times for one set of options."""

    options: PageOptions
    market: Market
    vat: Vat
    surcharge: Surcharge = NO_SURCHARGE

    @property
    def texts(self) -> Texts:
        """The texts in the reader's language."""
        return texts_in(self.options.lang, self.options.zone)

    @property
    def time_zone(self) -> tzinfo:
        """The time zone of the page's days and times: UTC if the reader has chosen UTC, or else the price zone's."""
        return UTC if self.options.tz == "utc" else self.market.time_zone

    @property
    def unit(self) -> str:
        """The symbol of the reader's unit, such as c/kWh."""
        return self.texts(f"unit.{self.options.unit}")

    @property
    def cent(self) -> int:
        """1 c/kWh in the reader's unit."""
        return 1 if self.options.unit == "kwh" else EUR_MWH_PER_CENT_KWH

    @property
    def step_s(self) -> int:
        """The length of the shown periods in seconds."""
        return self.options.step_s

    @property
    def vat_percents(self) -> dict[str, str]:
        """Today's VAT rate for each choice of VAT, written in percent."""
        return {choice: self.texts.vat_percent(rate) for choice, rate in self.vat.choices.items()}

    @property
    def fee_kind(self) -> Literal["market", "package", "own"]:
        """The kind of fees in the shown prices: no fees, those of a household with a package, or the reader's own."""
        if self.options.tariff is None:
            return "market"
        return "package" if self.options.has_packages else "own"

    @property
    def basis(self) -> str:
        """Words that name the VAT and the fees in the shown prices."""
        return self._basis_text("basis.{}")

    @property
    def unit_and_basis(self) -> str:
        """The unit's symbol, followed by words that name the VAT and the fees in the shown prices."""
        return f"{self.unit}, {self.basis}"

    @property
    def brief_unit_and_basis(self) -> str:
        """The brief form of `unit_and_basis`."""
        return self._basis_text("unit.brief.{}")

    def _basis_text(self, key: str) -> str:
        package = self.texts(f"package.{self.options.package}") if self.fee_kind == "package" else ""
        fees = {"market": "", "package": "fees.", "own": "own."}[self.fee_kind]
        included = fees + ("withoutVat" if self.vat.choice == "none" else "withVat")
        return self.texts(
            key.format(included), unit=self.unit, vat=self.texts.vat_percent(self.vat.rate_today), package=package
        )

    def shown_amount(self, eur_mwh: float, ts: int) -> float:
        """Add fees and VAT to a market price, convert the sum to the reader's unit, and round it as the API does."""
        rate = self.vat.rate_at(ts)
        eur_mwh += self.surcharge.amount_at(ts)
        if self.options.unit == "kwh":
            # The rounding removes the errors of binary fractions.
            return round(_CENTS_PER_EURO * consumer_price(eur_mwh, rate), 2)
        return rounded_market_price(eur_mwh * (1 + rate))

    def shown_price(self, period: PricedPeriod) -> float:
        """Return a period's price in the reader's unit. If the price isn't settled, use the forecast's median."""
        return self.shown_amount(period.eur_mwh, period.ts)

    def price_text(self, period: PricedPeriod) -> str:
        """Write a settled price with two decimals, and a forecast as `_forecast_text` does."""
        return self._amount_text(self.shown_price(period), [period], 2)

    def _amount_text(self, amount: float, periods: Iterable[PricedPeriod], decimals: int) -> str:
        """Write an amount. If the price of any period is a forecast, write it as `_forecast_text` does."""
        return self._forecast_text(amount) if _has_unsettled(periods) else self.texts.number(amount, decimals)

    def _forecast_text(self, amount: float) -> str:
        """Write the amount of a forecast: below 10 cents with one decimal, because small prices would look equal."""
        return self.texts.rounded_number(amount, self._forecast_decimals(amount))

    def _forecast_decimals(self, amount: float) -> int:
        return 1 if self.options.unit == "kwh" and abs(amount) < _WHOLE_CENTS_FROM else 0

    def price_with_about(self, period: PricedPeriod) -> str:
        """Write a period's price. If the price is a forecast, add "about"."""
        return self._with_about(self.price_text(period), [period])

    def mean_price_with_about(self, periods: Sequence[PricedPeriod]) -> str:
        """Return the mean price of `periods` as text. If the price of any period is a forecast, add "about"."""
        return self._with_about(self._amount_text(self.mean_price(periods), periods, 2), periods)

    def _with_about(self, written: str, periods: Iterable[PricedPeriod]) -> str:
        return self.texts("about", price=written) if _has_unsettled(periods) else written

    def cheapest_price_text(self, price: CheapestPrice) -> str:
        """Write the mean price of a day's cheapest hours. If it isn't known, add "about" and its likely range."""
        if price.p10 == price.p90:
            return self.texts.number(price.p50, 2)
        about = self.texts("about", price=self._forecast_text(price.p50))
        return f"{about} ({self.range_text((price.p10, price.p90), price.p50)})"

    def euros_text(self, euros: float, periods: Iterable[PricedPeriod]) -> str:
        """Write an amount of euros. If it depends on the forecast of any of the periods, add "about"."""
        return self._with_about(f"{self.texts.number(euros, 2)}\N{NO-BREAK SPACE}€", periods)

    def brief_mean_price_text(self, periods: Sequence[PricedPeriod]) -> str:
        """Return the mean price of `periods` as text with at most one decimal, for a small cell."""
        return self._amount_text(self.mean_price(periods), periods, self._brief_decimals)

    def brief_mean_price_with_about(self, periods: Sequence[PricedPeriod]) -> str:
        """Return the text of `brief_mean_price_text`. If the price of any period is a forecast, add "about"."""
        return self._with_about(self.brief_mean_price_text(periods), periods)

    def brief_prices_text(self, periods: Iterable[PricedPeriod]) -> str:
        """Write the price of each period with at most one decimal."""
        return " · ".join(
            self._amount_text(self.shown_price(period), [period], self._brief_decimals) for period in periods
        )

    @property
    def _brief_decimals(self) -> int:
        return 1 if self.options.unit == "kwh" else 0

    def mean_price(self, periods: Iterable[PricedPeriod]) -> float:
        """Return the mean price of some periods in the reader's unit."""
        return fmean(self.shown_price(period) for period in periods)

    def interval(self, period: PricedPeriod) -> tuple[float, float]:
        """Return p10 and p90 of a period with a forecast, in the reader's unit."""
        percentiles = period.percentiles
        return self.shown_amount(percentiles.p10, period.ts), self.shown_amount(percentiles.p90, period.ts)

    def interval_text(self, period: PricedPeriod) -> str:
        """Write the range from p10 to p90 of a period with a forecast."""
        return self.range_text(self.interval(period), self.shown_amount(period.percentiles.p50, period.ts))

    def range_text(self, bounds: tuple[float, float], middle: float | None = None) -> str:
        """Write a range of prices in the reader's unit, in whole numbers.

        If `middle` is given, the written range contains the written price of a forecast with this amount.
        """
        low, high = (half_up(bound, 0) for bound in bounds)
        if middle is not None:
            written = half_up(middle, self._forecast_decimals(middle))
            low, high = min(low, floor(written)), max(high, ceil(written))
        return self.texts.whole_number_range(low, high)

    def local_day(self, ts: float) -> date:
        """Return the calendar day of an instant in the reader's time zone."""
        return datetime.fromtimestamp(ts, self.time_zone).date()

    def time_of_day(self, ts: float) -> ClockTime:
        """Write the time of day at an instant. If the hour is repeated at the end of summer time, add the time zone."""
        local = datetime.fromtimestamp(ts, UTC).astimezone(self.time_zone)
        repeated = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
        return ClockTime(f"{local:%H:%M} {local.tzname()}" if repeated else f"{local:%H:%M}")

    def period_times(self, ts: int) -> str:
        """Write a period's start and end as times of day."""
        return f"{self.time_of_day(ts)}–{self.time_of_day(ts + self.step_s)}"

    def moment_text(self, ts: float, now: float) -> str:
        """Write the day and the time of an instant. At 180 days or more from `now`, the year replaces the weekday."""
        day = self.local_day(ts)
        written = (self.texts.short_date if abs(ts - now) < _WITH_YEAR_FROM_S else self.texts.full_date)(day)
        return self.texts("moment", day=written, time=self.time_of_day(ts))

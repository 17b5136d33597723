"""How prices and instants are written on a page, in its reader's language, unit, VAT and time zone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from statistics import fmean
from typing import Final

from tunnihind.api.openapi.words import vat_text
from tunnihind.market import ESTONIA, consumer_price, market_price
from tunnihind.web.options import PageOptions
from tunnihind.web.periods import PricedPeriod
from tunnihind.web.tariff import NO_SURCHARGE, Surcharge
from tunnihind.web.texts import Texts, texts_in
from tunnihind.web.vat import Vat

_CENTS: Final = 100


@dataclass(frozen=True, slots=True)
class Display:
    """Writes for one set of options."""

    options: PageOptions
    vat: Vat
    surcharge: Surcharge = NO_SURCHARGE

    @property
    def texts(self) -> Texts:
        """The reader's language."""
        return texts_in(self.options.lang)

    @property
    def zone(self) -> tzinfo:
        """The reader's time zone."""
        return UTC if self.options.tz == "utc" else ESTONIA.clock

    @property
    def unit(self) -> str:
        """The unit's symbol."""
        return self.texts(f"unit.{self.options.unit}")

    @property
    def step_s(self) -> int:
        """The length of the periods that are shown, seconds."""
        return self.options.step_s

    @property
    def vat_percents(self) -> dict[str, str]:
        """The rates that can be chosen, as people write them."""
        return {choice: vat_text(rate) for choice, rate in self.vat.choices.items()}

    @property
    def basis(self) -> str:
        """What the prices include: VAT, and all fees where the reader has named a household's package."""
        return self.texts(f"basis.{self._included}", **self._including)

    @property
    def unit_named(self) -> str:
        """The unit with what its prices include, for whoever hears it once."""
        return self.texts(f"unit.named.{self._included}", **self._including)

    @property
    def unit_named_briefly(self) -> str:
        """The unit with what its prices include, where there is little room."""
        return self.texts(f"unit.brief.{self._included}", **self._including)

    @property
    def _included(self) -> str:
        """Which text on what the prices include: of the market's price or a household's, with or without VAT."""
        vat = "withoutVat" if self.vat.choice == "none" else "withVat"
        return f"fees.{vat}" if self.options.tariff else vat

    @property
    def _including(self) -> dict[str, str]:
        """What fills the gaps of those texts."""
        tariff = self.options.tariff
        package = self.texts(f"package.{tariff.package}") if tariff else ""
        return {"unit": self.unit, "vat": vat_text(self.vat.today), "package": package}

    def amount(self, eur_mwh: float, ts: int) -> float:
        """Return a market price as it is shown: in the reader's unit, with fees and VAT, rounded as the API does."""
        rate = self.vat.rate(ts)
        eur_mwh += self.surcharge.at(ts)
        if self.options.unit == "kwh":
            return _CENTS * consumer_price(eur_mwh, rate)
        return market_price(eur_mwh * (1 + rate))

    def shown(self, period: PricedPeriod) -> float:
        """Return the price of a period: settled, or else the forecast's median."""
        return self.amount(period.eur_mwh, period.ts)

    def price(self, period: PricedPeriod) -> str:
        """Write a period's price to the last decimal that the API serves."""
        return self.texts.number(self.shown(period), 2)

    def prices(self, periods: Iterable[PricedPeriod]) -> str:
        """Write the prices of some periods, one after the other."""
        return " · ".join(self.price(period) for period in periods)

    def told(self, period: PricedPeriod) -> str:
        """Write a period's price, a forecast as what it is: about that."""
        return self._told(self.price(period), [period])

    def told_mean(self, periods: Sequence[PricedPeriod]) -> str:
        """Write the mean price of some periods, as about that where one of them is a forecast."""
        return self._told(self.texts.number(self._mean(periods), 2), periods)

    def _told(self, written: str, periods: Iterable[PricedPeriod]) -> str:
        return self.texts("about", price=written) if any(period.settled is None for period in periods) else written

    def brief_mean_price(self, periods: Iterable[PricedPeriod]) -> str:
        """Write the mean price of some periods for a small cell."""
        return self._brief(self._mean(periods))

    def brief_told_mean(self, periods: Sequence[PricedPeriod]) -> str:
        """Write the mean price of some periods for a small cell, as about that where one of them is a forecast."""
        return self._told(self.brief_mean_price(periods), periods)

    def brief_prices(self, periods: Iterable[PricedPeriod]) -> str:
        """Write the prices of some periods for a small place."""
        return " · ".join(self._brief(self.shown(period)) for period in periods)

    def _brief(self, amount: float) -> str:
        return self.texts.number(amount, 1 if self.options.unit == "kwh" else 0)

    def _mean(self, periods: Iterable[PricedPeriod]) -> float:
        return fmean(self.shown(period) for period in periods)

    def interval(self, period: PricedPeriod) -> tuple[float, float]:
        """Return the p10 and p90 of a period with a forecast in the reader's unit."""
        percentiles = period.percentiles
        return self.amount(percentiles.p10, period.ts), self.amount(percentiles.p90, period.ts)

    def band(self, period: PricedPeriod) -> str:
        """Write the range from p10 to p90 of a period with a forecast."""
        return self.written_range(self.interval(period))

    def written_range(self, bounds: tuple[float, float]) -> str:
        """Write from where to where a price in the reader's unit lies."""
        return self.texts.number_range(*bounds, 2)

    def day(self, ts: float) -> date:
        """Return the reader's calendar day of an instant."""
        return datetime.fromtimestamp(ts, self.zone).date()

    def clock(self, ts: float) -> str:
        """Write an instant as the reader's clock shows it; in the hour that autumn repeats with its zone."""
        local = datetime.fromtimestamp(ts, UTC).astimezone(self.zone)
        repeated = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
        return f"{local:%H:%M} {local.tzname()}" if repeated else f"{local:%H:%M}"

    def span(self, ts: int) -> str:
        """Write from when to when a period lasts."""
        return f"{self.clock(ts)}–{self.clock(ts + self.step_s)}"

    def moment(self, ts: float) -> str:
        """Write an instant with its day."""
        return self.texts("moment", day=self.texts.short_date(self.day(ts)), time=self.clock(ts))

"""How prices and instants are written on a page, in its reader's language, unit and time zone."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from statistics import fmean

from tunnihind.market import ESTONIA, HOUR_S
from tunnihind.web.hours import PricedHour
from tunnihind.web.options import PageOptions
from tunnihind.web.texts import Texts, texts_in


@dataclass(frozen=True, slots=True)
class Display:
    """Writes for one set of options."""

    options: PageOptions

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

    def amount(self, hour: PricedHour) -> float:
        """Return an hour's price in the reader's unit: cents per kWh with VAT, or EUR/MWh without."""
        return hour.cents_kwh if self.options.unit == "kwh" else hour.eur_mwh

    def price(self, hour: PricedHour) -> str:
        """Write an hour's price to the last decimal that the API serves."""
        return self.texts.number(self.amount(hour), 2)

    def brief_price(self, hour: PricedHour) -> str:
        """Write an hour's price for a small cell."""
        return self.texts.number(self.amount(hour), 1 if self.options.unit == "kwh" else 0)

    def mean_price(self, hours: Iterable[PricedHour]) -> str:
        """Write the mean price of some hours."""
        return self.texts.number(fmean(self.amount(hour) for hour in hours), 2)

    def interval(self, hour: PricedHour) -> tuple[float, float]:
        """Return the p10 and p90 of a forecast hour in the reader's unit."""
        return hour.band_cents_kwh if self.options.unit == "kwh" else hour.band_eur_mwh

    def band(self, hour: PricedHour) -> str:
        """Write the range from p10 to p90 of a forecast hour."""
        low, high = self.interval(hour)
        return f"{self.texts.number(low, 2)} … {self.texts.number(high, 2)}"

    def day(self, ts: float) -> date:
        """Return the reader's calendar day of an instant."""
        return datetime.fromtimestamp(ts, self.zone).date()

    def clock(self, ts: float) -> str:
        """Write an instant as the reader's clock shows it; in the hour that autumn repeats with its zone."""
        local = datetime.fromtimestamp(ts, UTC).astimezone(self.zone)
        repeated = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
        return f"{local:%H:%M} {local.tzname()}" if repeated else f"{local:%H:%M}"

    def span(self, ts: int, hours: int = 1) -> str:
        """Write from when to when some hours last."""
        return f"{self.clock(ts)}–{self.clock(ts + hours * HOUR_S)}"

    def moment(self, ts: float) -> str:
        """Write an instant with its day."""
        return self.texts("moment", day=self.texts.short_date(self.day(ts)), time=self.clock(ts))

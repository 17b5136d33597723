"""What a source of prices or covariates is to the pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Protocol

from tunnihind.known import IssuedSeries
from tunnihind.market import Zone


class Quote(NamedTuple):
    """A price as the source gave it: the start of its period (unix seconds) and EUR/MWh without VAT."""

    ts: int
    eur_mwh: float


@dataclass(frozen=True, slots=True)
class DaySheet:
    """All quotes of one zone for one delivery day as one source gave them, in order of time, unjudged."""

    source: str
    zone: Zone
    day: date
    quotes: tuple[Quote, ...]


class PriceSource(Protocol):
    """A source of day-ahead prices."""

    name: str

    async def prices(self, first: date, last: date) -> Sequence[DaySheet]:
        """Return a sheet per zone and delivery day from `first` to `last` for which there is any quote.

        A day that isn't published yet has no sheet. Raises SourceError.
        """


class CovariateSource(Protocol):
    """A source of forecasts that help the price forecast: weather, load, wind and solar power."""

    name: str

    async def current(self, now: int) -> Mapping[str, IssuedSeries]:
        """Return the newest forecast of every covariate by name, issued `now`. Raises SourceError."""

    async def archived(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        """Return what had been forecast for the UTC days from `first` to `last`, as issued. Raises SourceError."""

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
    """All quotes of one zone for one delivery day as one source gave them, in order of time, unjudged.

    `fault` says what could not be read of them; it is empty where all could.
    """

    source: str
    zone: Zone
    day: date
    quotes: tuple[Quote, ...]
    fault: str = ""


class PriceSource(Protocol):
    """A source of day-ahead prices."""

    name: str

    async def prices(self, first: date, last: date) -> Sequence[DaySheet]:
        """Return a sheet per zone and delivery day from `first` to `last` for which there is any quote.

        A day that isn't published yet has no sheet. What can't be read of one zone or day is the `fault` of its
        sheets alone. Raises SourceError.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """How often a source is asked.

    A good answer lasts `every_s` seconds. After a failure the source is asked again in `retry_s`, and with each further
    failure in twice that time, up to `longest_retry_s`.
    """

    every_s: int
    retry_s: int = 60
    longest_retry_s: int = 15 * 60


class CovariateSource(Protocol):
    """A source of forecasts that help the price forecast: weather, load, wind and solar power.

    It says by itself how often it is asked (`cadence`), and the first UTC day of which its archive holds anything
    (`history_since`).
    """

    name: str
    cadence: Cadence
    history_since: date

    async def current(self, now: int) -> Mapping[str, IssuedSeries]:
        """Return the newest forecast of every covariate by name, issued `now`. Raises SourceError."""

    async def archived(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        """Return what had been forecast for the UTC days from `first` to `last`, as issued. Raises SourceError."""

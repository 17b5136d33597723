"""The interfaces of sources, and functions that sort quotes into sheets."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple, Protocol

from tunnihind.core.market import STEPS, Zone, day_end, day_start, market_time_unit
from tunnihind.known import IssuedSeries, ObservedSeries

_MAX_QUOTES: Final = 500
"""At most this many quotes of a day are kept. More are not needed, because a day with more than 100 different
quotes is held back."""


class Quote(NamedTuple):
    """A price without VAT, exactly as the source gave it. The period of the price starts at `ts` (unix seconds)."""

    ts: int
    eur_mwh: float


@dataclass(frozen=True, slots=True)
class DaySheet:
    """The unchecked quotes of one source for one zone and one delivery day, in chronological order.

    The period of each quote lasts `step_s` seconds. If quotes of the day could not be fetched, or may be unreadable,
    `fault` describes the problem. Otherwise, `fault` is empty.
    """

    source: str
    zone: Zone
    day: date
    step_s: int
    quotes: tuple[Quote, ...]
    fault: str = ""


class PriceSource(Protocol):
    """A source of day-ahead prices."""

    name: str

    async def fetch_sheets(self, first: date, last: date) -> Sequence[DaySheet]:
        """Return a sheet for each zone and delivery day from `first` to `last`.

        If the prices of a day are not published yet, the day has no sheet. If the prices of a zone or a day are
        unreadable, the sheets of this zone or day have a `fault`. Raises SourceError.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """The seconds until the next request: `every_s` after a successful request began, or `retry_s` after a failure.

    Each further failure in a row doubles the pause, up to `longest_retry_s` seconds.
    """

    every_s: int
    retry_s: int = 60
    longest_retry_s: int = 15 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BackFillPace:
    """The pace of requests for a source's history. As `by` says, each request fetches a calendar month or a day (UTC).

    A day is not requested earlier than `after_s` seconds after its start. A month that was filled earlier than
    `after_s` seconds after its end is filled again. The other fields apply only if `by` is "day". At most
    `max_days_an_hour` days are requested within an hour, and at most `max_days_a_day` days within 24 hours. Only days
    that were filled or were recorded as unavailable count.
    """

    by: Literal["month", "day"] = "month"
    after_s: int = 0
    max_days_an_hour: int = 1000
    max_days_a_day: int = 1000


class HistorySource(Protocol):
    """A source whose history is filled by the pipeline.

    `back_fill` sets the pace of requests for the history. After a failure, `cadence` sets the pause.
    """

    name: str
    cadence: Cadence
    back_fill: BackFillPace

    @property
    def history_since(self) -> date:
        """The UTC day on which the source's history begins."""


class ObservationSource(HistorySource, Protocol):
    """A source of observed weather, for the price forecast."""

    async def observations(self, first: date, last: date) -> Mapping[str, ObservedSeries]:
        """Return the observations of the UTC days from `first` to `last`, by covariate. Raises SourceError."""


class CovariateSource(HistorySource, Protocol):
    """A source of forecasts of weather, load, wind power or solar power, for the price forecast.

    `cadence` sets the time between requests for new forecasts. The history holds archived forecasts.
    """

    @property
    def covariate_names(self) -> Collection[str]:
        """The names of all covariates that the source can provide."""

    def has_news(self, now: int, /) -> bool:
        """Return whether the source may have forecasts at `now` that are newer than those last returned."""

    async def newest_forecasts(self, now: int) -> Mapping[str, IssuedSeries]:
        """Return the newest forecast of each covariate, by the covariate's name. Raises SourceError.

        Depending on the source, the forecasts count as issued at `now`, or when the source's answer arrives. Covariates
        without a new, readable forecast may be left out.
        """

    async def archived_forecasts(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        """Return the archived forecasts of the days from `first` to `last`, by covariate. Raises SourceError.

        Depending on the source, the days are the UTC days on which the forecasts were issued, or the delivery days that
        were forecast.
        """


def days_between(first: date, last: date) -> Iterator[date]:
    """Yield every day from `first` to `last`, both included."""
    for offset in range((last - first).days + 1):
        yield first + timedelta(days=offset)


def day_ranges(first: date, last: date, max_days: int) -> Iterator[tuple[date, date]]:
    """Cut a range of days into consecutive ranges (first day, last day) of at most `max_days` days."""
    start = first
    while start <= last:
        end = min(last, start + timedelta(days=max_days - 1))
        yield start, end
        start = end + timedelta(days=1)


def day_sheets(
    source: str, zone: Zone, quotes: Iterable[Quote], first: date, last: date, step_s: int | None = None
) -> list[DaySheet]:
    """Sort the quotes from `first` to `last` into a sheet for each delivery day that has quotes.

    Quotes of other days are dropped. A repeated quote is kept once. If a period has two different prices, both prices
    are kept, so that the day's prices are held back. If `step_s` is None, `inferred_step` works out the step of each
    day.
    """
    ordered = sorted(set(quotes))
    sheets = []
    for day in days_between(first, last):
        low = bisect_left(ordered, (day_start(day),))
        high = bisect_left(ordered, (day_end(day),))
        if low < high:
            found = tuple(ordered[low : min(high, low + _MAX_QUOTES)])
            sheets.append(DaySheet(source, zone, day, step_s or inferred_step(day, found), found))
    return sheets


def inferred_step(day: date, quotes: Sequence[Quote]) -> int:
    """Return the longest step in seconds at which all quotes start, or the shortest step if there is none.

    If there are fewer than two different starts, return the market time unit of `day`.
    """
    if len({quote.ts for quote in quotes}) < 2:  # noqa: PLR2004
        return market_time_unit(day)
    return next((step_s for step_s in STEPS if all(quote.ts % step_s == 0 for quote in quotes)), STEPS[-1])


def faulty_sheets(fault: str, source: str, zone: Zone, first: date, last: date) -> list[DaySheet]:
    """Return an empty sheet with `fault` for each day from `first` to `last`."""
    return [DaySheet(source, zone, day, market_time_unit(day), (), fault) for day in days_between(first, last)]

"""The interface between sources and the pipeline. Also sorts quotes into sheets by delivery day."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple, Protocol

from tunnihind.forecast.known import IssuedSeries
from tunnihind.market import HOUR_S, QUARTER_S, Zone, day_end, day_start, delivery_day, market_time_unit

_MOST_QUOTES: Final = 500
"""The longest day has 100 quarters. A day with more quotes is refused anyway, so no more than this are kept."""


class Quote(NamedTuple):
    """A price as the source gave it: the start of its period (unix seconds), and EUR/MWh without VAT."""

    ts: int
    eur_mwh: float


@dataclass(frozen=True, slots=True)
class DaySheet:
    """All quotes of one zone and delivery day as one source gave them, in order of time and not yet checked.

    Their periods last `step_s` seconds each. `fault` describes the unreadable part; it is empty if all was readable.
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

    async def prices(self, first: date, last: date) -> Sequence[DaySheet]:
        """Return a sheet for each zone and delivery day from `first` to `last` that has a quote.

        An unpublished day has no sheet. If a zone or day is unreadable, its own sheets have the `fault`. Raises
        SourceError.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """How often a source is asked: `every_s` seconds after an answer, and `retry_s` after a failure.

    Each further failure doubles the pause, up to `longest_retry_s`.
    """

    every_s: int
    retry_s: int = 60
    longest_retry_s: int = 15 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BackFill:
    """How to ask for a source's history: by calendar months or by days (UTC), the newest first.

    A day is asked for once it began `after_s` seconds ago. At most `an_hour` days are asked for within an hour, and at
    most `a_day` within 24 hours.
    """

    by: Literal["month", "day"] = "month"
    after_s: int = 0
    an_hour: int = 1000
    a_day: int = 1000


class CovariateSource(Protocol):
    """A source of forecasts that help the price forecast: weather, load, wind and solar power.

    `cadence` says how often to ask the source. `history_since` is the UTC day on which its archive begins. `back_fill`
    says how to ask for the archive.
    """

    name: str
    cadence: Cadence
    back_fill: BackFill
    history_since: date

    @property
    def names(self) -> Collection[str]:
        """The names of its covariates."""

    def has_news(self, now: int, /) -> bool:
        """Return whether there may be a newer forecast at `now` than `current` last returned."""

    async def current(self, now: int) -> Mapping[str, IssuedSeries]:
        """Return the newest forecast of each covariate by name, as issued `now`. It is empty without a newer forecast.

        Raises SourceError.
        """

    async def archived(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        """Return the past forecasts for the UTC days from `first` to `last`, as issued. Raises SourceError."""


class Fault(NamedTuple):
    """A problem in a zone's answer, with the start of the period if it is readable."""

    ts: int | None
    problem: str


def days(first: date, last: date) -> Iterator[date]:
    """Yield every day from `first` to `last`, both included."""
    for offset in range((last - first).days + 1):
        yield first + timedelta(days=offset)


def spans(first: date, last: date, max_days: int) -> Iterator[tuple[date, date]]:
    """Cut a range of days into consecutive ranges of at most `max_days`."""
    start = first
    while start <= last:
        end = min(last, start + timedelta(days=max_days - 1))
        yield start, end
        start = end + timedelta(days=1)


def day_sheets(
    source: str, zone: Zone, quotes: Iterable[Quote], first: date, last: date, step_s: int | None = None
) -> list[DaySheet]:
    """Sort quotes into sheets of the delivery days from `first` to `last`, and drop quotes of other days.

    The quotes may be in any order. A repeated quote is kept once. Two prices for one period are both kept, so that the
    day is refused. A day with far too many quotes keeps only the first quotes. If the answers don't give their
    `step_s`, a day has hours if all its prices start on the hour.
    """
    ordered = sorted(set(quotes))
    sheets = []
    for day in days(first, last):
        low = bisect_left(ordered, (day_start(day),))
        high = bisect_left(ordered, (day_end(day),))
        if low < high:
            found = tuple(ordered[low : min(high, low + _MOST_QUOTES)])
            sheets.append(DaySheet(source, zone, day, step_s or unsaid_step(day, found), found))
    return sheets


def unsaid_step(day: date, quotes: Sequence[Quote]) -> int:
    """Return the step of a day's prices if the answer does not give it.

    With fewer than two quotes, it is the market time unit.
    """
    if len({quote.ts for quote in quotes}) < 2:  # noqa: PLR2004
        return market_time_unit(day)
    return HOUR_S if all(quote.ts % HOUR_S == 0 for quote in quotes) else QUARTER_S


def with_faults(
    sheets: Sequence[DaySheet], faults: Sequence[Fault], source: str, zone: Zone, first: date, last: date
) -> list[DaySheet]:
    """Return a zone's sheets of the days from `first` to `last`, with the faults added.

    A fault with a known period belongs to its delivery day. Any other fault belongs to all days.
    """
    by_day = {sheet.day: sheet for sheet in sheets}
    for fault in faults:
        for day in _doubtful_days(fault, first, last):
            sheet = by_day.get(day) or DaySheet(source, zone, day, market_time_unit(day), ())
            by_day[day] = replace(sheet, fault=sheet.fault or fault.problem)
    return [by_day[day] for day in sorted(by_day)]


def _doubtful_days(fault: Fault, first: date, last: date) -> Iterable[date]:
    if fault.ts is None:
        return days(first, last)
    day = delivery_day(fault.ts)
    return [day] if first <= day <= last else []

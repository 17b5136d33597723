"""Sources with answers that a test sets."""

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from tests.support.upstreams.elering import Quotes, flat_quotes
from tunnihind.clock import Clock
from tunnihind.core.market import HOUR_S, floor_hour, publication_time, utc_midnight
from tunnihind.errors import SourceError
from tunnihind.known import IssuedSeries
from tunnihind.sources.base import BackFillPace, Cadence, DaySheet, Quote, day_sheets, days_between


class ScriptedPrices:
    """Serves quotes from each delivery day's publication on.

    `published` sets a day's publication; the default is 12:55 Brussels time of the day before. Requests fail while
    `is_down` is set, then with the waiting `errors`, and always if `errors_from` has their first day.
    """

    def __init__(self, quotes: Quotes, *, name: str = "first", clock: Clock | None = None) -> None:
        self.name = name
        self.quotes = quotes
        self.published: dict[date, float] = {}
        self.errors: deque[BaseException] = deque()
        self.errors_from: dict[date, BaseException] = {}
        self.is_down: SourceError | None = None
        self.asked: list[tuple[date, date]] = []
        self.asked_at: list[float] = []
        self._clock = clock

    async def fetch_sheets(self, first: date, last: date) -> Sequence[DaySheet]:
        self.asked.append((first, last))
        if self._clock is not None:
            self.asked_at.append(self._clock.now())
        if self.is_down is not None:
            raise self.is_down
        if self.errors:
            raise self.errors.popleft()
        if first in self.errors_from:
            raise self.errors_from[first]
        found = [
            day_sheets(self.name, zone, (Quote(*quote) for quote in quotes.items()), first, last)
            for zone, quotes in self.quotes.items()
        ]
        return [sheet for sheets in found for sheet in sheets if self._is_out(sheet.day)]

    def _is_out(self, day: date) -> bool:
        return self._clock is None or self.published.get(day, publication_time(day)) <= self._clock.now()


class ScriptedWeather:
    """Serves one covariate, with an archive of one issue for each day, and notes its requests and their times."""

    def __init__(
        self,
        name: str = "weather",
        *,
        since: date = date(2020, 1, 1),
        cadence: Cadence | None = None,
        point: str = "ee_west",
    ) -> None:
        self.name = name
        self.history_since = since
        self.cadence = cadence or Cadence(every_s=3 * HOUR_S)
        self.back_fill = BackFillPace(by="month")
        self.covariate = f"wind_speed_100m@{point}"
        self.covariate_names: Sequence[str] = (self.covariate,)
        self.asked_at: list[int] = []
        self.errors: deque[Exception] = deque()
        self.is_down: Exception | None = None
        self.asked: list[tuple[date, date]] = []

    def has_news(self, _now: int, /) -> bool:
        return True

    async def newest_forecasts(self, now: int) -> Mapping[str, IssuedSeries]:
        self.asked_at.append(now)
        self._fail()
        return {self.covariate: IssuedSeries(now, floor_hour(now), np.zeros(48, np.float32))}

    async def archived_forecasts(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        self.asked.append((first, last))
        self._fail()
        midnights = [utc_midnight(day) for day in days_between(first, last)]
        return {self.covariate: [IssuedSeries(ts - 7 * HOUR_S, ts, np.ones(24, np.float32)) for ts in midnights]}

    def _fail(self) -> None:
        if self.is_down is not None:
            raise self.is_down
        if self.errors:
            raise self.errors.popleft()


def estonian_quotes(first: date, last: date, step_s: int = HOUR_S, *, level: float = 50.0) -> Quotes:
    """Return plausible quotes of the Estonian zone alone."""
    return {"ee": flat_quotes(first, last, step_s, level=level)["ee"]}

"""A clock that runs in jumps, sources that say what they are told to, and a store's content in plain words."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import numpy as np

from tests.server.sources.conftest import StillClock
from tests.support.upstreams.elering import Quotes, flat_quotes
from tunnihind.clock import Clock
from tunnihind.errors import SourceError
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import WindowScores
from tunnihind.known import IssuedSeries
from tunnihind.market import DAY_S, HOUR_S, LOCAL_TZ, Limits, Zone, floor_hour, hours_of, publication_time
from tunnihind.pipeline.modelling import ScoreSlice, accuracy, make_run, score, score_slice
from tunnihind.pipeline.observer import Nobody, Observer
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.sources.base import Cadence, CovariateSource, DaySheet, PriceSource, Quote
from tunnihind.sources.sheets import day_sheets, days
from tunnihind.store.prices import Added, Price
from tunnihind.store.store import Store

LIMITS = Limits(-500, 4000)
NO_HISTORY = date(9999, 1, 1)
"""A start of history with which there is none to fill."""


def local(text: str) -> int:
    """Return the instant at which Estonian clocks show `2025-12-15 13:45`, the first of two."""
    return int(datetime.fromisoformat(text).replace(tzinfo=LOCAL_TZ).timestamp())


def utc_midnight(day: date) -> int:
    """Return the instant at which a UTC day begins."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


class TimeIsUp(Exception):
    """Ends a pipeline that would run on for good."""


class JumpingClock(StillClock):
    """Takes at least `nap_s` for every sleep, so that a day passes in few steps; `work_s` goes by between looks."""

    def __init__(self, instant: float, *, nap_s: float = 30.0, work_s: float = 0.0) -> None:
        super().__init__(instant)
        self.until = float("inf")
        self.nap_s = nap_s
        self._work_s = work_s

    def now(self) -> float:
        self.instant += self._work_s
        return self.instant

    async def sleep(self, seconds: float) -> None:
        if self.instant >= self.until:
            raise TimeIsUp
        await super().sleep(max(seconds, self.nap_s))


class ScriptedPrices:
    """Serves quotes from each delivery day's publication on.

    `published` says when a day comes out where it isn't at 12:55 Brussels time of the day before. It fails while it
    `is_down`, for the next requests with the `errors` that wait, and always where `errors_from` has the first day.
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

    async def prices(self, first: date, last: date) -> Sequence[DaySheet]:
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
    """Serves one covariate whose value is the lead in days, and notes what it is asked and when."""

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
        self.covariate = f"wind_speed_100m@{point}"
        self.asked_at: list[int] = []
        self.errors: deque[Exception] = deque()
        self.is_down: Exception | None = None
        self.asked: list[tuple[date, date]] = []

    async def current(self, now: int) -> Mapping[str, IssuedSeries]:
        self.asked_at.append(now)
        self._fail()
        return {self.covariate: IssuedSeries(now, floor_hour(now), np.zeros(48, np.float32))}

    async def archived(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        self.asked.append((first, last))
        self._fail()
        start_ts, hours = utc_midnight(first), 24 * ((last - first).days + 1)
        return {self.covariate: [IssuedSeries(start_ts - DAY_S, start_ts, np.ones(hours, np.float32), DAY_S)]}

    def _fail(self) -> None:
        if self.is_down is not None:
            raise self.is_down
        if self.errors:
            raise self.errors.popleft()


class StubModeller:
    """Makes runs of a day's length out of nothing, and notes for which instants."""

    def __init__(self) -> None:
        self.errors: deque[Exception] = deque()
        self.knows_nothing = False
        self.made_at: list[int] = []
        self.scored_at: list[int] = []
        self.asked_accuracy_at: int | None = None

    async def run(self, as_of: int) -> Run | None:
        self.made_at.append(as_of)
        if self.errors:
            raise self.errors.popleft()
        return None if self.knows_nothing else plain_run(as_of)

    async def score_slice(self, as_of: int) -> ScoreSlice:
        self.scored_at.append(as_of)
        return ScoreSlice((), 0, 0)

    async def score(self, as_of: int) -> BacktestScore | None:
        assert self.scored_at[-1] == as_of
        return None

    async def accuracy(self, as_of: int) -> tuple[WindowScores, ...]:
        self.asked_accuracy_at = as_of
        return ()


class InProcessModeller:
    """Puts the served model to work without a process of its own."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, as_of: int) -> Run | None:
        return make_run(self._store, as_of, LIMITS)

    async def score_slice(self, as_of: int) -> ScoreSlice:
        late = score_slice(self._store, as_of, LIMITS, of_late=True)
        return late if late.forecasts else score_slice(self._store, as_of, LIMITS, of_late=False)

    async def score(self, as_of: int) -> BacktestScore | None:
        return score(self._store, as_of, LIMITS)

    async def accuracy(self, as_of: int) -> tuple[WindowScores, ...]:
        return accuracy(self._store, as_of)


@dataclass
class Witness(Nobody):
    """Notes what the pipeline does."""

    refused: list[tuple[str, str]] = field(default_factory=list)
    filled: list[tuple[str, int, int]] = field(default_factory=list)
    answered: list[tuple[str, bool]] = field(default_factory=list)

    def source_asked(self, source: str, *, answered: bool) -> None:
        self.answered.append((source, answered))

    def gate_refused(self, source: str, reason: str) -> None:
        self.refused.append((source, reason))

    def history_filled(self, what: str, done: int, total: int) -> None:
        self.filled.append((what, done, total))


def plain_run(made_at: int, *, median: float = 50.0, hours: int = 24) -> Run:
    """Return a run of some hours at one level, from the next full hour on."""
    percentiles = np.array([[median - 10.0], [median], [median + 10.0]]).repeat(hours, axis=1)
    return Run.of(
        made_at=made_at, tier="test", start_ts=floor_hour(made_at) + HOUR_S, percentiles=percentiles, inputs={}
    )


def estonian_quotes(first: date, last: date, step_s: int = HOUR_S, *, level: float = 50.0) -> Quotes:
    """Return believable quotes of the Estonian zone alone."""
    return {"ee": flat_quotes(first, last, step_s, level=level)["ee"]}


def pipeline_of(
    store: Store,
    clock: Clock,
    *,
    prices: Sequence[PriceSource],
    weather: Sequence[CovariateSource] = (),
    modeller: StubModeller | InProcessModeller | None = None,
    history_start: date = NO_HISTORY,
    observer: Observer | None = None,
) -> Pipeline:
    """Put a pipeline together; without a `history_start` there is no history to fill."""
    return Pipeline(
        store,
        prices,
        weather,
        modeller or StubModeller(),
        clock,
        history_start=history_start,
        limits=LIMITS,
        observer=observer,
    )


async def live(
    pipeline: Pipeline, clock: JumpingClock, until: float, on_change: Callable[[], None] | None = None
) -> None:
    """Let a pipeline run until an instant."""
    clock.until = until
    with suppress(TimeIsUp):
        await pipeline.run(on_change or (lambda: None))


def keep(store: Store, quotes: Quotes, seen_ts: int, *, source: str = "test") -> Added:
    """Put quotes into a store as settled prices, quarters or hours."""
    rows = []
    for zone, prices in quotes.items():
        step_s = min(late - early for early, late in pairwise(sorted(prices)))
        rows += [Price(zone, ts, step_s, price) for ts, price in prices.items()]
    return store.prices.add(rows, source=source, seen_ts=seen_ts)


def hourly(store: Store, zone: Zone = "ee") -> dict[int, float]:
    """Return the settled hours of a zone as the API would serve them."""
    return store.prices.archive().everything().settled(zone)


def unsettled_days(store: Store, first: date, last: date) -> list[date]:
    """Return the delivery days of a span that lack any Estonian hour."""
    settled = hourly(store)
    return [day for day in days(first, last) if not all(hour in settled for hour in hours_of(day))]


def sources_of(store: Store) -> set[str]:
    """Return whose prices are kept."""
    with store.database.reading() as connection:
        return {row[0] for row in connection.exec_driver_sql("SELECT DISTINCT source FROM prices")}


def day_range(first: date, count: int) -> Iterator[date]:
    """Yield consecutive days."""
    return days(first, first + timedelta(days=count - 1))

"""What the API answers from: settled prices, forecasts and their ages, as the store has them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import starmap
from typing import Final, NamedTuple

import numpy as np

from tunnihind.api.source_states import SourceState, source_states
from tunnihind.baltic_weather import FRESH_S, SUN, WIND, BalticWeather
from tunnihind.forecast.run import Run, Scenarios
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import NO_MONTHS, Months, WindowScores
from tunnihind.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, SeriesKey, Zone, day_start, delivery_day, floor_hour
from tunnihind.price_series import PriceSeries
from tunnihind.store.store import Store
from tunnihind.store.witnesses import Witness


class Percentiles(NamedTuple):
    """The forecast of one period, EUR/MWh without VAT."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class ServedData:
    """The data behind every answer, as of the moment it was read from the store.

    `settled` holds the zone's hours in full precision: 14 days back, all that is known ahead, and the newest
    known one however old. `quarters` holds the four quarters of each of these hours; those in `known_by_hour` carry
    the price of their hour, because only that is known. `issued` holds for each hour, past or to come, the freshest
    forecast made before that hour, exactly as issued, and `issued_quarters` the same for each quarter. `run` is the
    newest forecast run, `quarter_run` the run of quarters that goes with it. Where there is none, the percentiles of
    an hour count for its four quarters. `scenarios` are the price paths that go with `run`, None where it has none.

    `backtest` and `quarter_backtest` are the scores of hours and of quarters, `accuracy` tells how the runs of the
    last weeks did, and `months` how those of each month did.

    `held` is what sources say of the last days and is not believed. `unconfirmed` says by zone and day whose prices of
    these days no second source has confirmed; it is empty where only one source is asked.

    `version` changes whenever any of these does, and so does `change_id`, which no other change ever had: a restored
    backup counts versions again.

    `weather` is the newest forecast of wind and sun, None where none is fresh, and `sources` tells how the sources last
    answered. Only pages show these two, so `version` does not change with them.
    """

    version: str
    change_id: str = ""
    settled: PriceSeries = field(default_factory=lambda: PriceSeries.of(ESTONIA.zone, HOUR_S, {}))
    quarters: PriceSeries = field(default_factory=lambda: PriceSeries.of(ESTONIA.zone, QUARTER_S, {}))
    known_by_hour: frozenset[int] = frozenset()
    issued: Mapping[int, Percentiles] = field(default_factory=dict)
    issued_quarters: Mapping[int, Percentiles] = field(default_factory=dict)
    run: Run | None = None
    quarter_run: Run | None = None
    scenarios: Scenarios | None = None
    weather: BalticWeather | None = None
    last_refresh: int | None = None
    backtest: BacktestScore | None = None
    quarter_backtest: BacktestScore | None = None
    accuracy: tuple[WindowScores, ...] = ()
    months: Months = NO_MONTHS
    held: tuple[Witness, ...] = ()
    unconfirmed: Mapping[tuple[Zone, date], str] = field(default_factory=dict)
    sources: tuple[SourceState, ...] = ()

    @property
    def newest_settled(self) -> int | None:
        """The start of the newest settled hour."""
        return self.settled.newest


_DOUBTED_DAYS: Final = 2
"""Doubts are named for the prices of this many past days, which are asked for every hour."""

HISTORY_S: Final = 15 * DAY_S
"""A day more than the longest history that is served."""


_CLOCKS_DIFFER_S: Final = 300
"""A run made later than this is of a clock that was set wrong; one made a little later, of another server's clock."""


def read_served_data(store: Store, now: int) -> ServedData:
    """Read what is known now. Raises StoreError."""
    made_until = now + _CLOCKS_DIFFER_S
    # First, so that what is stored while this reads has a later version: its answers then have other tags.
    version = str(store.state.version())
    since = floor_hour(now) - HISTORY_S
    zone = ESTONIA.zone
    newest = store.prices.newest(zone) or since
    prices = store.prices.archive(min(since, newest - DAY_S), zones=(zone,)).everything()
    settled = served(prices.of(zone), now)
    quarters = served_quarters(settled, prices.of(zone, QUARTER_S))
    hours, quarters_key = (SeriesKey(ESTONIA.zone, step_s) for step_s in (HOUR_S, QUARTER_S))
    runs = store.runs.since(hours, since, made_until)
    run = runs[0] if runs else store.runs.newest(hours, made_until)
    quarter_runs = store.runs.since(quarters_key, min(since, run.made_at) if run else since, made_until)
    doubted_from = delivery_day(now) - timedelta(days=_DOUBTED_DAYS)
    return ServedData(
        version=version,
        change_id=store.state.change_id(),
        settled=settled,
        quarters=quarters.prices,
        known_by_hour=quarters.known_by_hour,
        issued=as_issued(runs),
        issued_quarters=as_issued(in_quarters(runs, quarter_runs)),
        run=run,
        quarter_run=in_quarters([run], quarter_runs)[0] if run else None,
        scenarios=_going_with(run, store.scenarios.newest(ESTONIA.zone)),
        weather=read_weather(store, now),
        last_refresh=store.state.last_refresh(),
        backtest=store.runs.score(hours),
        quarter_backtest=store.runs.score(quarters_key),
        accuracy=store.scores.windows(ESTONIA.zone),
        months=store.scores.months(ESTONIA.zone),
        held=tuple(store.witnesses.held(doubted_from)),
        unconfirmed=store.unconfirmed(day_start(doubted_from)),
        sources=source_states(store.health.all().values()),
    )


def read_weather(store: Store, now: int) -> BalticWeather | None:
    """Read the newest forecast of wind and sun; None where none is fresh. Raises StoreError."""
    made_until = now + _CLOCKS_DIFFER_S
    return BalticWeather.of(store.covariates.newest((*WIND, *SUN), now - FRESH_S, made_until), made_until)


def _going_with(run: Run | None, scenarios: Scenarios | None) -> Scenarios | None:
    """Return the scenarios if they are the run's: a run from before there were any has none."""
    return scenarios if run is not None and scenarios is not None and scenarios.goes_with(run) else None


def served(prices: PriceSeries, now: int) -> PriceSeries:
    """Return the settled prices that answers at `now` can hold.

    The newest is among them however old it is: it decides how far the forecast is public.
    """
    newest, since = prices.newest, floor_hour(now) - HISTORY_S
    return prices.between(since if newest is None else min(since, newest), prices.end_ts)


class ServedQuarters(NamedTuple):
    """The quarters of settled hours, and the starts of those of which only the hour is known."""

    prices: PriceSeries
    known_by_hour: frozenset[int]


def served_quarters(hours: PriceSeries, quarters: PriceSeries) -> ServedQuarters:
    """Return the four quarters of each settled hour.

    They have their own prices where all four are known, else all four have that of the hour. So an hour is never made
    up of both, and the mean of its quarters is its price. An hour that isn't settled has no quarters either, though
    some of them may be known: what the hourly answers hold back is held back here too.
    """
    own = quarters.between(hours.start_ts, hours.end_ts).eur_mwh.reshape(-1, HOUR_S // QUARTER_S)
    by_hour = np.isnan(own).any(axis=1, keepdims=True)
    prices = np.where(by_hour, hours.eur_mwh[:, np.newaxis], own).ravel()
    served_prices = PriceSeries(hours.zone, QUARTER_S, hours.start_ts, prices)
    only_hour = np.repeat(by_hour.ravel(), own.shape[1]) & ~np.isnan(prices)
    return ServedQuarters(served_prices, frozenset(served_prices.starts[only_hour].tolist()))


def in_quarters(runs: Iterable[Run], quarter_runs: Sequence[Run]) -> list[Run]:
    """Return for each run of hours the run of quarters that was made with it; `quarter_runs` come newest first.

    Runs that were made before there were runs of quarters have none, nor have those with whose hours the stored
    quarters disagree. The percentiles of their hours then count for the four quarters of each.
    """
    made_at = defaultdict[int, list[Run]](list)
    for quarters in quarter_runs:
        made_at[quarters.made_at].append(quarters)
    return [next((one for one in made_at[run.made_at] if one.goes_with(run)), None) or _flat(run) for run in runs]


def _flat(run: Run) -> Run:
    """Return the run that says of each quarter what this one says of its hour."""
    p10, p50, p90 = (np.repeat(values, HOUR_S // QUARTER_S) for values in (run.p10, run.p50, run.p90))
    return replace(run, step_s=QUARTER_S, p10=p10, p50=p50, p90=p90)


def as_issued(runs: Iterable[Run]) -> dict[int, Percentiles]:
    """Return for each period what the newest run made before it said, exactly as issued; all runs are of one step."""
    # Oldest first, and of two made in the same second the one that comes first last: so newer ones go over older ones.
    ordered = sorted(runs, key=lambda run: run.made_at, reverse=True)[::-1]
    if not ordered:
        return {}
    step_s, start_ts = ordered[0].step_s, min(run.start_ts for run in ordered)
    starts = np.arange(start_ts, max(run.end_ts for run in ordered), step_s)
    percentiles = np.full((len(starts), len(Percentiles._fields)), np.nan)
    for run in ordered:
        begun = min(max(0, (run.made_at - run.start_ts) // step_s + 1), run.p50.size)
        first = (run.start_ts - start_ts) // step_s
        said = np.stack([run.p10, run.p50, run.p90], axis=1)
        percentiles[first + begun : first + run.p50.size] = said[begun:]
    known = ~np.isnan(percentiles[:, 0])
    return dict(zip(starts[known].tolist(), starmap(Percentiles, percentiles[known].tolist()), strict=True))

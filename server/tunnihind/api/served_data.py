"""The data behind the API's answers: settled prices, forecasts and their ages. They are read from the store."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from itertools import starmap
from typing import Final, NamedTuple

import numpy as np

from tunnihind.forecast.known import PriceHistory
from tunnihind.forecast.run import Run, Scenarios
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import NO_MONTHS, Months, WindowScores
from tunnihind.market import (
    DAY_S,
    HOUR_S,
    STEPS,
    Market,
    SeriesKey,
    Zone,
    day_start,
    delivery_day,
    floor_hour,
    market_price,
)
from tunnihind.price_series import PriceSeries
from tunnihind.store.store import Store
from tunnihind.store.witnesses import Witness


class Percentiles(NamedTuple):
    """The forecast of one period, EUR/MWh without VAT."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class ServedSeries:
    """The served data of a zone's periods of one step.

    - `settled`: prices in full precision: 30 days back, all known ahead, and always the newest known price. Every
      settled hour has all its shorter periods.
    - `known_by_hour`: the shorter periods that have the price of their hour, because only the hour's price is known.
    - `issued`: for each period, past or future, the newest forecast made before it, exactly as issued.
    - `run`: the newest forecast run. Without a run of the step, an hour's percentiles count for its periods.
    - `backtest`: the model's score.
    """

    settled: PriceSeries
    known_by_hour: frozenset[int] = frozenset()
    issued: Mapping[int, Percentiles] = field(default_factory=dict)
    run: Run | None = None
    backtest: BacktestScore | None = None


_STEPS: Final = (0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class ServedData:
    """The data behind every answer of a market, as of the moment they were read from the store.

    - `series`: prices and forecasts by step.
    - `scenarios`: the price paths of the run of hours, None if it has none.
    - `accuracy`: the scores of the runs of the last weeks; `months`: the scores of each month.
    - `held`: the held-back answers of sources for the last days.
    - `unconfirmed`: the source of each zone's prices of a day, if no second source has confirmed them. It is empty if
      only one source is asked.
    - `version` and `change_id` change whenever any of these data change. A restored backup repeats versions, but every
      `change_id` is unique.
    """

    version: str
    market: Market
    series: Mapping[int, ServedSeries] = field(default_factory=dict)
    change_id: str = ""
    scenarios: Scenarios | None = None
    last_refresh: int | None = None
    accuracy: tuple[WindowScores, ...] = ()
    months: Months = NO_MONTHS
    held: tuple[Witness, ...] = ()
    unconfirmed: Mapping[tuple[Zone, date], str] = field(default_factory=dict)

    def of(self, step_s: int) -> ServedSeries:
        """Return the served data of a step, which may be empty."""
        return self.series.get(step_s) or ServedSeries(PriceSeries.of(self.market.zone, step_s, {}))

    @property
    def hours(self) -> ServedSeries:
        """The served data of hours."""
        return self.of(HOUR_S)

    @property
    def made_at(self) -> int | None:
        """When the newest forecast was made."""
        return self.hours.run.made_at if self.hours.run else None

    @cached_property
    def price_scale(self) -> tuple[float, ...]:
        """The prices between the five steps of the colour scale, EUR/MWh; empty if too little is known.

        Each step has a fifth of the last 30 days' hours with a price of zero or more.
        """
        known = self.hours.settled.eur_mwh
        known = known[known >= 0]
        return tuple(market_price(bound) for bound in np.quantile(known, _STEPS).tolist()) if known.size > 1 else ()

    @property
    def newest_settled(self) -> int | None:
        """The start of the newest settled hour."""
        return self.hours.settled.newest


_NAMED_DAYS: Final = 2
"""Held-back and unconfirmed prices are listed for this many past days, which are asked for every hour."""

HISTORY_S: Final = 15 * DAY_S
"""A day more than the longest served history."""
_PRICES_S: Final = 30 * DAY_S
"""Prices of this many days make the colour scale."""


CLOCKS_DIFFER_S: Final = 300
"""A run from later than this has a wrong clock. A run from a little later has another server's clock."""


def read_served_data(store: Store, market: Market, now: int) -> ServedData:
    """Read the data of a market known now. Raises StoreError."""
    made_until = now + CLOCKS_DIFFER_S
    # Read the version first. Data stored meanwhile then have a later version, so answers made from them get other tags.
    version = str(store.state.version())
    zone, since = market.zone, floor_hour(now) - HISTORY_S
    newest = store.prices.newest(zone) or since
    prices = store.prices.read_archive(min(floor_hour(now) - _PRICES_S, newest - DAY_S), zones=(zone,)).everything()
    hours = SeriesKey(zone, HOUR_S)
    runs = store.runs.since(hours, since, made_until)
    run = runs[0] if runs else store.runs.newest(hours, made_until)
    runs_since = min(since, run.made_at) if run else since
    series = {}
    for step_s in STEPS:
        kept = runs if step_s == HOUR_S else store.runs.since(SeriesKey(zone, step_s), runs_since, made_until)
        newest_run = of_step([run], kept, step_s)[0] if run else None
        issued, backtest = as_issued(of_step(runs, kept, step_s)), store.runs.score(SeriesKey(zone, step_s))
        series[step_s] = ServedSeries(*served(prices, zone, step_s, now), issued, newest_run, backtest)
    named_from = delivery_day(now) - timedelta(days=_NAMED_DAYS)
    return ServedData(
        version=version,
        market=market,
        series=series,
        change_id=store.state.change_id(),
        scenarios=_scenarios_of(run, store.scenarios.newest(zone)),
        last_refresh=store.state.last_refresh(),
        accuracy=store.scores.windows(zone),
        months=store.scores.months(zone),
        held=tuple(store.witnesses.held(named_from)),
        unconfirmed=store.unconfirmed(day_start(named_from)),
    )


def _scenarios_of(run: Run | None, scenarios: Scenarios | None) -> Scenarios | None:
    """Return the scenarios if they belong to the run, None otherwise."""
    return scenarios if run is not None and scenarios is not None and scenarios.goes_with(run) else None


class SettledPrices(NamedTuple):
    """Settled prices of a step, and the starts of the periods for which only the hour's price is known."""

    prices: PriceSeries
    known_by_hour: frozenset[int]


def served(prices: PriceHistory, zone: Zone, step_s: int, now: int) -> SettledPrices:
    """Return the settled prices that answers at `now` can contain.

    The newest price is always among them, because it decides how far the forecast is public.
    """
    hours = prices.of(zone)
    newest, since = hours.newest, floor_hour(now) - _PRICES_S
    start_ts = since if newest is None else min(since, newest)
    return within_hours(hours.between(start_ts, hours.end_ts), prices.of(zone, step_s))


def within_hours(hours: PriceSeries, prices: PriceSeries) -> SettledPrices:
    """Return the periods of each settled hour.

    If the prices of all its periods are known, they have these prices. Otherwise they all have the hour's price. So an
    hour never mixes both, and the mean of its quarters is its price. An hour that isn't settled has no quarters, even
    if some are known. So quarters reveal no price that the hourly answers hold back.
    """
    own = prices.between(hours.start_ts, hours.end_ts).eur_mwh.reshape(-1, HOUR_S // prices.step_s)
    by_hour = np.isnan(own).any(axis=1, keepdims=True)
    values = np.where(by_hour, hours.eur_mwh[:, np.newaxis], own).ravel()
    only_hour = np.repeat(by_hour.ravel(), own.shape[1]) & ~np.isnan(values)
    settled = PriceSeries(hours.zone, prices.step_s, hours.start_ts, values)
    return SettledPrices(settled, frozenset(settled.starts[only_hour].tolist()))


def of_step(runs: Iterable[Run], kept: Iterable[Run], step_s: int) -> list[Run]:
    """Return, for each run of hours, the run of a step that was made with it. The `kept` runs come newest first.

    If there is no such run, or it does not match the hours, the hours' percentiles count for their periods.
    """
    if step_s == HOUR_S:
        return [*runs]
    made_at = defaultdict[int, list[Run]](list)
    for one in kept:
        made_at[one.made_at].append(one)
    return [next((one for one in made_at[run.made_at] if one.goes_with(run)), None) or run.flat(step_s) for run in runs]


def as_issued(runs: Iterable[Run]) -> dict[int, Percentiles]:
    """Return, for each period, the newest forecast made before it, exactly as issued. All runs have the same step."""
    # Newer runs overwrite older ones. If two runs were made in the same second, the run that comes first is written
    # last.
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

"""The data in memory from which most of the API's answers are made.

Only the answers with the prices of a month (history.py) and with the table of scores (score_table.py) are read from the
store.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import starmap
from typing import Final, NamedTuple, Self

import numpy as np

from tunnihind.core.market import (
    DAY_S,
    HOUR_S,
    STEPS,
    Market,
    SeriesKey,
    Zone,
    day_start,
    delivery_day,
    floor_hour,
    rounded_market_price,
)
from tunnihind.forecast.run import Run, Scenarios
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import NO_SCORES_BY_MONTH, ScoresByMonth, WindowScores
from tunnihind.known import PriceHistory
from tunnihind.price_series import PriceSeries
from tunnihind.settling.witness import Witness
from tunnihind.store.store import Store


class Percentiles(NamedTuple):
    """The forecast of one period in EUR/MWh without VAT."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class ServedSeries:
    """The served prices and forecasts of one zone, either by hours or by quarters.

    `settled` contains the unrounded known prices from 30 days ago on. If all known prices are older than 30 days,
    `settled` contains only the newest known hour. If an hour is settled, all quarters of the hour have a price.
    `priced_by_hour` contains the starts of the quarters for which only the hour's price is known. `issued` maps the
    start of a period to the newest forecast that was made in the last 15 days and before the period began. `run` is the
    newest run. If a run of hours has no matching run of quarters, each quarter gets the percentiles of its hour.
    `backtest` is the score of the model's forecasts of past days.
    """

    settled: PriceSeries
    priced_by_hour: frozenset[int] = frozenset()
    issued: Mapping[int, Percentiles] = field(default_factory=dict)
    run: Run | None = None
    backtest: BacktestScore | None = None

    @classmethod
    def of(cls, hours: PriceSeries, prices: PriceSeries) -> Self:
        """Split the settled `hours` into periods as long as those of `prices`, and give each period a price.

        `hours` and `prices` must come from the same `PriceHistory`. If the prices of all periods of an hour are known,
        each period keeps its own price. Otherwise, all periods of this hour get the price of the hour. In both cases,
        the mean price of an hour's periods equals the price of the hour. If an hour is not settled, none of its periods
        gets a price, because answers with quarters must not reveal prices that hourly answers don't contain.
        """
        own = prices.between(hours.start_ts, hours.end_ts).eur_mwh.reshape(-1, HOUR_S // prices.step_s)
        by_hour = np.isnan(own).any(axis=1, keepdims=True)
        values = np.where(by_hour, hours.eur_mwh[:, np.newaxis], own).ravel()
        only_hour = np.repeat(by_hour.ravel(), own.shape[1]) & ~np.isnan(values)
        settled = PriceSeries(hours.zone, prices.step_s, hours.start_ts, values)
        return cls(settled, frozenset(settled.starts[only_hour].tolist()))


_SCALE_LEVELS: Final = (0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class ServedData:
    """The data from which answers about a market are made, as read from the store at one moment.

    `series` maps each step in seconds to the prices and forecasts at this step. `scenarios` contains the price paths of
    the newest hourly run. If the newest run has no paths, `scenarios` is None. `recent_scores` contains the forecasts'
    scores over the last 7, 30 and 90 delivery days. `monthly_scores` contains the monthly scores of the issued
    forecasts and of the backtest. `recorded_months` lists the months with a record, such as `2025-11`, oldest first.

    `held` and `unconfirmed` cover all zones, and the delivery days from two days ago on. `held` lists the held-back
    prices. `unconfirmed` maps a zone and a day with unconfirmed prices to a source of these prices. If the pipeline
    asks fewer than two sources for prices, `unconfirmed` is empty.

    `version` and `change_id` name the newest change to the served data. A new `last_refresh` does not count as a
    change. After a backup is restored, a `version` may repeat, but a `change_id` never repeats.
    """

    version: str
    market: Market
    series: Mapping[int, ServedSeries] = field(default_factory=dict)
    change_id: str = ""
    scenarios: Scenarios | None = None
    last_refresh: int | None = None
    recent_scores: tuple[WindowScores, ...] = ()
    monthly_scores: ScoresByMonth = NO_SCORES_BY_MONTH
    recorded_months: tuple[str, ...] = ()
    held: tuple[Witness, ...] = ()
    unconfirmed: Mapping[tuple[Zone, date], str] = field(default_factory=dict)

    def at_step(self, step_s: int) -> ServedSeries:
        """Return the data for periods of `step_s` seconds. If there are none, return an empty series."""
        return self.series.get(step_s) or ServedSeries(PriceSeries.of(self.market.zone, step_s, {}))

    @property
    def hours(self) -> ServedSeries:
        """The served hourly prices and forecasts."""
        return self.at_step(HOUR_S)

    @property
    def made_at(self) -> int | None:
        """The instant (unix seconds) at which the newest forecast was made, or None if there is no forecast."""
        return self.hours.run.made_at if self.hours.run else None

    @cached_property
    def price_scale(self) -> tuple[float, ...]:
        """The four market prices in EUR/MWh from which the pages compute the bounds between their five colours.

        The four prices divide the settled hourly prices from 30 days ago on into five groups of about equal size.
        Negative prices are left out. If fewer than two prices remain, the scale is empty.
        """
        known = self.hours.settled.eur_mwh
        known = known[known >= 0]
        return (
            tuple(rounded_market_price(bound) for bound in np.quantile(known, _SCALE_LEVELS).tolist())
            if known.size > 1
            else ()
        )

    def as_of(self, now: int) -> ServedData:
        """Return the data as they are served at `now` (unix seconds).

        A run from after `now` counts as made at `now`: the clock has been set back, or another server's clock is ahead.
        """
        if self.made_at is None or self.made_at <= now:
            return self
        return replace(
            self,
            series={
                step_s: replace(one, run=one.run and replace(one.run, made_at=min(one.run.made_at, now)))
                for step_s, one in self.series.items()
            },
            scenarios=self.scenarios and replace(self.scenarios, made_at=min(self.scenarios.made_at, now)),
        )

    @property
    def newest_settled_ts(self) -> int | None:
        """The start of the newest settled hour, or None if no price is settled."""
        return self.hours.settled.newest_ts


_DOUBTFUL_PRICES_DAYS: Final = 2
"""Held-back and unconfirmed prices are listed from this many days ago on, because the pipeline usually requests the
prices of these days again."""

RUN_HISTORY_S: Final = 15 * DAY_S
"""Runs made in this many past seconds are read, because answers contain up to 14 days of past forecasts."""
_PRICE_HISTORY_S: Final = 30 * DAY_S
"""Settled prices of this many past seconds are read, for the colour scale."""


MAX_CLOCK_DIFFERENCE_S: Final = 300
"""The clocks of two servers may differ by this many seconds. Forecasts made later than this many seconds from now are
not read, because one of the two clocks is wrong."""


def read_served_data(store: Store, market: Market, now: int) -> ServedData:
    """Read the data for a market's answers at `now` (unix seconds). Raises StoreError."""
    made_until = now + MAX_CLOCK_DIFFERENCE_S
    version = str(store.state.served_version())
    zone, since = market.zone, floor_hour(now) - RUN_HISTORY_S
    newest = store.prices.newest_ts(zone) or since
    prices = store.prices.read_archive(
        min(floor_hour(now) - _PRICE_HISTORY_S, newest - DAY_S), zones=(zone,)
    ).newest_versions()
    hours = SeriesKey(zone, HOUR_S)
    runs = store.runs.made_since(hours, since, made_until)
    run = runs[0] if runs else store.runs.newest(hours, made_until)
    runs_since = min(since, run.made_at) if run else since
    series = {}
    for step_s in STEPS:
        kept = runs if step_s == HOUR_S else store.runs.made_since(SeriesKey(zone, step_s), runs_since, made_until)
        newest_run = runs_at_step([run], kept, step_s)[0] if run else None
        issued = issued_forecasts(runs_at_step(runs, kept, step_s))
        backtest = store.runs.backtest_score(SeriesKey(zone, step_s))
        settled = settled_series(prices, zone, step_s, now)
        series[step_s] = replace(settled, issued=issued, run=newest_run, backtest=backtest)
    named_from = delivery_day(now) - timedelta(days=_DOUBTFUL_PRICES_DAYS)
    return ServedData(
        version=version,
        market=market,
        series=series,
        change_id=store.state.served_change_id(),
        scenarios=_matching_scenarios(run, store.scenarios.newest(zone)),
        last_refresh=store.state.last_refresh(),
        recent_scores=store.scores.window_scores(zone),
        monthly_scores=store.scores.scores_by_month(zone),
        recorded_months=store.records.months(zone),
        held=tuple(store.witnesses.held_back(named_from)),
        unconfirmed=store.unconfirmed_days(day_start(named_from)),
    )


def _matching_scenarios(run: Run | None, scenarios: Scenarios | None) -> Scenarios | None:
    """Return `scenarios` if they belong to `run`, and otherwise None."""
    return scenarios if run is not None and scenarios is not None and scenarios.goes_with(run) else None


def settled_series(prices: PriceHistory, zone: Zone, step_s: int, now: int) -> ServedSeries:
    """Return the settled prices that answers at `now` need, without forecasts.

    The newest settled price is always included, because its time determines the end of the public window.
    """
    hours = prices.series_of(zone)
    newest, since = hours.newest_ts, floor_hour(now) - _PRICE_HISTORY_S
    start_ts = since if newest is None else min(since, newest)
    return ServedSeries.of(hours.between(start_ts, hours.end_ts), prices.series_of(zone, step_s))


def runs_at_step(runs: Iterable[Run], stored_runs: Iterable[Run], step_s: int) -> list[Run]:
    """For each hourly run in `runs`, return the matching run with periods of `step_s` seconds.

    `stored_runs` are the stored runs with periods of `step_s` seconds. If none of them matches an hourly run, make a
    run in which each period has the percentiles of its hour.
    """
    if step_s == HOUR_S:
        return [*runs]
    made_at = defaultdict[int, list[Run]](list)
    for one in stored_runs:
        made_at[one.made_at].append(one)
    return [
        next((one for one in made_at[run.made_at] if one.goes_with(run)), None) or run.as_flat_run(step_s)
        for run in runs
    ]


def issued_forecasts(runs: Iterable[Run]) -> dict[int, Percentiles]:
    """Map the start of each period to the newest forecast made before the period began, as issued.

    All runs must have the same step.
    """
    # Newer runs overwrite the forecasts of older runs. If two runs were made in the same second, the run that comes
    # first in `runs` is written last.
    ordered = sorted(runs, key=lambda run: run.made_at, reverse=True)[::-1]
    if not ordered:
        return {}
    step_s, start_ts = ordered[0].step_s, min(run.start_ts for run in ordered)
    starts = np.arange(start_ts, max(run.end_ts for run in ordered), step_s)
    percentiles = np.full((len(starts), len(Percentiles._fields)), np.nan)
    for run in ordered:
        begun = min(max(0, (run.made_at - run.start_ts) // step_s + 1), run.p50.size)
        first = (run.start_ts - start_ts) // step_s
        issued = np.stack([run.p10, run.p50, run.p90], axis=1)
        percentiles[first + begun : first + run.p50.size] = issued[begun:]
    known = ~np.isnan(percentiles[:, 0])
    return dict(zip(starts[known].tolist(), starmap(Percentiles, percentiles[known].tolist()), strict=True))

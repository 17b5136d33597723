"""The simulated market as an archive, with planted effects in its prices and changes to its weather."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import ESTONIA, HOUR_S, ZONES, day_end, day_start, delivery_day, publication_time
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.scoring.backtest import BacktestForecasts, BacktestResult
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import Archive, CovariateArchive, Floats, PriceArchive
from tunnihind.sources.simulated import SimulatedSource
from tunnihind.sources.simulated_market import SimulatedMarket

type Planted = Callable[[NDArray[np.int64], Floats], Floats]
"""A function from hours (n,) and the simulated prices of the zones (zones, n) to the market's prices."""
type Publication = Callable[[date], int]

SEED = 4


def as_simulated(_ts: NDArray[np.int64], prices: Floats) -> Floats:
    return prices


@dataclass(frozen=True)
class At:
    """A clock that always shows the same time."""

    ts: int

    def now(self) -> float:
        return self.ts

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"nothing is to wait for {seconds} s")


def simulated_archive(
    first: date, last: date, planted: Planted = as_simulated, *, publication: Publication = publication_time
) -> Archive:
    """Return an archive with hourly prices of delivery days, known from their publication on, without covariates."""
    ts = np.arange(day_start(first), day_end(last), HOUR_S, dtype=np.int64)
    known = [np.full((day_end(day) - day_start(day)) // HOUR_S, publication(day)) for day in days_between(first, last)]
    simulated = SimulatedMarket(SEED).prices(ts.astype(np.float64) + HOUR_S / 2)
    prices = planted(ts, np.stack([simulated[zone] for zone in ZONES]))
    n, zones = ts.size, len(ZONES)
    known_ts = np.tile(np.concatenate(known), zones)
    order = np.argsort(known_ts, kind="stable")
    history = PriceArchive(
        zone=np.repeat(np.arange(zones, dtype=np.int8), n)[order],
        ts=np.tile(ts, zones)[order],
        step_s=np.full(n * zones, HOUR_S, np.int32),
        known_ts=known_ts[order],
        eur_mwh=prices.ravel()[order],
    )
    return Archive(history, CovariateArchive())


def with_weather(archive: Archive, first: date, last: date, names: Callable[[str], bool] = lambda _: True) -> Archive:
    """Return an archive with the past forecasts of the simulated weather added, for the chosen names."""
    found = asyncio.run(SimulatedSource(SEED, clock=At(day_end(last))).archived_forecasts(first, last))
    series = {name: tuple(issues) for name, issues in found.items() if names(name)}
    return replace(archive, covariates=CovariateArchive(series))


def scored(archive: Archive, mornings: Sequence[date]) -> BacktestResult:
    """Forecast the next seven days on some mornings, before the auction."""
    model, parts = TieredForecaster(ESTONIA), []
    for day in mornings:
        as_of = day_start(day) + 9 * HOUR_S
        run = model.forecast(archive.as_of(as_of))
        assert run is not None
        assert run.end_ts == day_end(day + timedelta(days=7))
        ts = np.arange(day_end(day), run.end_ts, HOUR_S)
        at = (ts - run.start_ts) // HOUR_S
        lead = np.array([(delivery_day(one) - day).days for one in ts.tolist()])
        values = run.p10[at], run.p50[at], run.p90[at], np.full(ts.shape, np.nan)
        parts.append(BacktestForecasts(np.full(ts.shape, as_of), ts, lead, *values))
    return BacktestResult.of(BacktestForecasts.joined(parts), archive.prices.newest_versions().series_of("ee"))


def every(step: int, first: date, last: date) -> list[date]:
    """Return every `step`-th day from `first` to `last`."""
    return days_between(first, last)[::step]


def of_lead(result: BacktestResult, lead: int) -> Scores:
    """Return the scores of one lead."""
    return result.scores(result.forecasts.lead_days == lead)

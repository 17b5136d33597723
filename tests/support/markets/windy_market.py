"""A made-up market that depends on the wind, with forecasts of the wind as issued every morning."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import DAY_S, HOUR_S, ZONES, day_end, day_start, market_time_unit, publication_time
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.known import Archive, CovariateArchive, Floats, IssuedSeries, PriceArchive

ISSUE_S = 6 * HOUR_S
"""The time of a day's wind forecast in seconds after midnight UTC."""
FORECAST_HOURS = 9 * 24


@dataclass(frozen=True)
class WindyMarket:
    """The true hourly wind as a share of capacity, and its forecast values, from the midnight UTC before `first` on."""

    start_ts: int
    wind: Floats
    noise: Floats

    @classmethod
    def of(cls, first: date, days: int, seed: int = 1) -> WindyMarket:
        """Make a market. Its weather lasts 11 days longer than its prices."""
        rng = np.random.default_rng(seed)
        hours = (days + 12) * 24
        weather = np.zeros(hours)
        for hour in range(1, hours):
            weather[hour] = 0.98 * weather[hour - 1] + 0.2 * rng.normal()
        start = day_start(first) // DAY_S * DAY_S
        return cls(start, 1 / (1 + np.exp(-weather)), rng.normal(size=hours))

    def prices(self, ts: NDArray[np.int64]) -> Floats:
        """Return the price of hours: high in the evening, low in strong wind."""
        hour = (ts - self.start_ts) // HOUR_S
        shape = 20 * np.sin((ts % DAY_S) / DAY_S * 2 * np.pi - 2)
        price: Floats = 120 + shape - 100 * self.wind[hour] + 6 * self.noise[hour]
        return price

    def forecasts(self, first: date, last: date, scale: float = 8000.0) -> tuple[IssuedSeries, ...]:
        """Return the wind forecasts of every morning for nine days, with errors that grow with the days ahead."""
        issues = []
        for day in days_between(first, last):
            issued = int(day_start(day) + 2 * HOUR_S) // DAY_S * DAY_S + ISSUE_S
            begin = (issued - self.start_ts) // HOUR_S
            truth = self.wind[begin : begin + FORECAST_HOURS]
            error = np.random.default_rng(issued).normal(size=truth.size) * 0.01 * (1 + np.arange(truth.size) / 24)
            issues.append(IssuedSeries(issued, issued, (scale * (truth + error)).astype(np.float32)))
        return tuple(issues)


def archive_of(
    first: date,
    last: date,
    price: Callable[[NDArray[np.int64]], Floats],
    covariates: dict[str, tuple[IssuedSeries, ...]] | None = None,
    *,
    by_quarter: bool = False,
) -> Archive:
    """Return the archive of a market whose zones differ by little. Each price is known from its publication on.

    A NaN price is never known. With `by_quarter` each quarter has its own price, otherwise that of its hour.
    """
    parts: list[tuple[NDArray[np.int64], Floats, int, int]] = []
    for day in days_between(first, last):
        step = market_time_unit(day)
        ts = np.arange(day_start(day), day_end(day), step, dtype=np.int64)
        parts.append((ts, price(ts if by_quarter else ts // HOUR_S * HOUR_S), step, publication_time(day)))
    ts = np.concatenate([part[0] for part in parts])
    eur = np.concatenate([part[1] for part in parts])
    steps = np.concatenate([np.full(part[0].size, part[2]) for part in parts])
    known = np.concatenate([np.full(part[0].size, part[3]) for part in parts])
    n = ts.size
    whole = PriceArchive(
        zone=np.repeat(np.arange(len(ZONES)), n).astype(np.int8),
        ts=np.tile(ts, len(ZONES)),
        step_s=np.tile(steps, len(ZONES)).astype(np.int32),
        known_ts=np.tile(known, len(ZONES)),
        eur_mwh=np.concatenate([eur - zone for zone in range(len(ZONES))]),
    )
    order = np.argsort(whole.known_ts, kind="stable")
    order = order[~np.isnan(whole.eur_mwh[order])]
    columns = (whole.zone, whole.ts, whole.step_s, whole.known_ts, whole.eur_mwh)
    return Archive(PriceArchive(*(column[order] for column in columns)), CovariateArchive(covariates or {}))


def windy_archive(first: date, days: int, name: str = "fi_wind_mw", scale: float = 8000.0, seed: int = 1) -> Archive:
    """Return the archive of a windy market with one covariate: forecasts of its wind."""
    market = WindyMarket.of(first, days, seed)
    last = first + timedelta(days=days - 1)
    return archive_of(first, last, market.prices, {name: market.forecasts(first, last, scale)})


def with_prices(archive: Archive, rows: NDArray[np.bool_], values: Floats) -> Archive:
    """Return the archive with other prices in some rows."""
    prices = replace(archive.prices, eur_mwh=np.where(rows, values, archive.prices.eur_mwh))
    return replace(archive, prices=prices)


def with_covariates(archive: Archive, **series: tuple[IssuedSeries, ...]) -> Archive:
    """Return the archive with these covariates instead of its own."""
    return replace(archive, covariates=CovariateArchive(series))

"""Forecasts a zone's prices with a weighted mean of the zone's own prices of the last six weeks."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import HOUR_S, Market, day_start, delivery_day, floor_hour
from tunnihind.forecast.intervals.error_quantiles import ERROR_DAYS, interval_offsets
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.grid import Classes, PricesByDay, consecutive_hours, day_classes, days_between
from tunnihind.forecast.known_days.price_state import to_asinh, to_eur
from tunnihind.forecast.run import LEAD_DAYS, LEADS, Run
from tunnihind.known import Floats, KnownData

type RowNumbers = NDArray[np.intp]

_TIER: Final = "last-weeks-mean"

_MEAN_DAYS: Final = 42
_HALF_LIFE_DAYS: Final = 7.0
_CLASS_FACTORS: Final = np.array([[1.0, 0.1, 0.1], [0.1, 1.0, 0.5], [0.1, 0.5, 1.0]])
"""A factor of a past day's weight, by the demand class of the target day (row) and of the past day (column).

Rows and columns are in the order of `DayClass`.
"""
_HISTORY_DAYS: Final = ERROR_DAYS + LEADS + _MEAN_DAYS
_PRIOR_EUR_MWH: Final = 80.0
"""The prior: the price if no recent price is known, about the median of Estonia's hourly prices in 2024 and 2025."""
_PRIOR_WEIGHT: Final = 1e-6
"""The weight of a prior in `_shrunk_mean`. It is so small that a prior matters only if no price is known."""


@dataclass(frozen=True, slots=True)
class LastWeeksMean:
    """Forecasts each clock hour's price as a weighted mean, on the asinh scale, of its prices in the last six weeks.

    Recent days have more weight, and so have days with the demand class of the target day. The forecast of day i uses
    the prices up to day j = min(newest day with a known price, i - 1), so its lead is i - j. The percentiles p10 and
    p90 are computed from the errors that `LastWeeksMean` would have made on past days. If few errors are known, the
    distances of p10 and p90 from p50 are close to fixed large values.
    """

    market: Market

    @property
    def history_days(self) -> int:
        """The largest number of past days whose data `forecast` reads."""
        return _HISTORY_DAYS

    def forecast(self, known: KnownData) -> Run | None:
        """Forecast up to the 7th delivery day past today or past the newest day with a known price, whichever is later.

        If no price of the forecast zone is known for the last 7 days, return None.
        """
        newest = known.prices.series_of(self.market.zone).newest_day
        start_ts = floor_hour(known.as_of) + HOUR_S
        first = delivery_day(start_ts)
        if newest is None or newest + timedelta(days=LEADS) < first:
            return None
        last = max(newest, delivery_day(known.as_of)) + timedelta(days=LEADS)
        oldest = min(newest, first - timedelta(days=1)) - timedelta(days=_HISTORY_DAYS)
        history = PricesByDay.between(known.prices, self.market, oldest, newest)
        days = days_between(first, last)
        percentiles = consecutive_hours(self._percentiles(history, days), days)
        return Run.of(
            made_at=known.as_of,
            tier=_TIER,
            zone=self.market.zone,
            step_s=HOUR_S,
            start_ts=start_ts,
            percentiles=percentiles[:, (start_ts - day_start(first)) // HOUR_S :],
            inputs=self._inputs(known, history),
        )

    def _percentiles(self, history: PricesByDay, days: list[date]) -> Floats:
        """Return p10, p50 and p90 of each day in `days` in EUR/MWh, shape (3, days, 24)."""
        targets = history.row_of(days[0]) + np.arange(len(days))
        seen = np.minimum(len(history.classes) - 1, targets - 1)
        limits = self.market.limits
        p50 = np.clip(_mean_prices(history, seen, day_classes(days, self.market.country))[0], limits.floor, limits.cap)
        lower, upper = _offsets_by_day(_past_errors(history), seen, targets - seen)
        return np.clip(np.stack([p50 + lower, p50, p50 + upper]), limits.floor, limits.cap)

    def _inputs(self, known: KnownData, history: PricesByDay) -> dict[str, Any]:
        hours_known = (~np.isnan(history.eur_mwh)).sum(axis=1)
        days = np.flatnonzero(hours_known)
        return {
            "zones": [self.market.zone],
            "newestSettledHour": known.prices.series_of(self.market.zone).newest_ts,
            "firstDay": (history.first + timedelta(days=int(days[0]))).isoformat(),
            "lastDay": (history.first + timedelta(days=int(days[-1]))).isoformat(),
            "meanDays": int(np.count_nonzero(hours_known[-_MEAN_DAYS:])),
            "errorDays": int(np.count_nonzero(hours_known[-ERROR_DAYS:])),
        }


def _mean_prices(history: PricesByDay, seen: RowNumbers, classes: Classes) -> tuple[Floats, NDArray[np.bool_]]:
    """Return each target day's mean prices (..., 24) in EUR/MWh, and whether any price in the mean is known (...).

    `seen` (...) holds the row of the last day that each mean uses. `classes` (...) holds the demand class of each
    target day. If no price of a clock hour is known, its mean is the mean of all hours. If no price of any hour is
    known, the mean is `_PRIOR_EUR_MWH`.
    """
    age = seen[..., None] - np.arange(len(history.classes))
    recency = np.where((age >= 0) & (age < _MEAN_DAYS), 0.5 ** (np.maximum(age, 0) / _HALF_LIFE_DAYS), 0.0)
    weights = recency * _CLASS_FACTORS[classes[..., None], history.classes]
    known = ~np.isnan(history.eur_mwh)
    prices = np.where(known, to_asinh(history.eur_mwh), 0.0)
    total, sums = weights @ known, weights @ prices
    prior = to_asinh(np.array(_PRIOR_EUR_MWH))
    level = _shrunk_mean(sums.sum(axis=-1, keepdims=True), total.sum(axis=-1, keepdims=True), prior)
    return to_eur(_shrunk_mean(sums, total, level)), total.any(axis=-1)


def _shrunk_mean(sums: Floats, total: Floats, prior: Floats | float) -> Floats:
    return (sums + _PRIOR_WEIGHT * prior) / (total + _PRIOR_WEIGHT)


def _past_errors(history: PricesByDay) -> Floats:
    """Return the errors that `LastWeeksMean` would have made 1 to 7 days ahead, shape (7, days, 24).

    An error is the price minus p50, in EUR/MWh. The errors of the first 49 days (42 days for a mean and 7 leads) are
    NaN.
    """
    errors = np.full((LEADS, *history.eur_mwh.shape), np.nan)
    targets = np.arange(LEADS + _MEAN_DAYS, len(history.classes))
    seen = targets - np.array(LEAD_DAYS)[:, None]
    means, is_known = _mean_prices(history, seen, np.broadcast_to(history.classes[targets], seen.shape))
    errors[:, targets] = np.where(is_known[..., None], history.eur_mwh[targets] - means, np.nan)
    return errors


def _offsets_by_day(errors: Floats, seen: RowNumbers, leads: RowNumbers) -> Floats:
    """Return the offsets of p10 and p90 from p50 in EUR/MWh, shape (2, days, 24).

    For each target day, `seen` (days,) holds the last row of `errors` that may be used, and `leads` (days,) holds the
    day's lead.
    """
    offsets = np.empty((2, seen.size, CLOCK_HOURS))
    for row in np.unique(seen):
        rows = np.flatnonzero(seen == row)
        by_lead = interval_offsets(errors[:, : row + 1], int(leads[rows].max()))
        offsets[:, rows] = by_lead[:, leads[rows] - 1]
    return offsets

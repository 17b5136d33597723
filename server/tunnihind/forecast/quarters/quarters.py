"""Makes a run of quarters from a run of hours.

On each side of the median, the width of a quarter's interval combines the width of the hour's interval on that side
with the recent distance of quarters from the hour's price, as if the two were independent errors.
"""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import HOUR_S, QUARTER_S, Market, PriceLimits, day_start, delivery_day
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS, clock_hours
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.quarters.known_quarters import KnownQuarters, shape_scale
from tunnihind.forecast.quarters.shape import quarter_deviations
from tunnihind.forecast.quarters.slope import ReplayedForecasts, SlopeRegression, sun_sine_rise
from tunnihind.forecast.run import Run
from tunnihind.known import Floats
from tunnihind.price_series import PriceSeries

type _Mask = NDArray[np.bool_]


def quarters_of(
    hourly: Run, hours: PriceSeries, known: KnownQuarters, issued: ReplayedForecasts, market: Market
) -> Run:
    """Return a run of quarters with the same issue, start and end as the run of hours `hourly`.

    The mean of an hour's four medians equals the hour's p50, apart from rounding. `hours` holds the known hourly
    prices, `known` the shapes of past hours, and `issued` past forecasts. The coefficients of the slope's predictors
    are learnt from `known` and `issued`. Raises ValueError if `hours` holds no known price.
    """
    newest = hours.newest_day
    if newest is None:
        raise ValueError("quarters need a known price")
    starts = np.array(hourly.starts())
    days = days_between(delivery_day(hourly.start_ts), delivery_day(hourly.end_ts - 1))
    skipped = (hourly.start_ts - day_start(days[0])) // HOUR_S
    window = slice(skipped, skipped + starts.size)
    row = np.concatenate([np.full(len(clock_hours(day)), row) for row, day in enumerate(days)])[window]
    clock = np.concatenate([clock_hours(day) for day in days])[window]
    by_day = _inputs_of(days, known, issued, newest, market)
    deviation = quarter_deviations(
        hourly.p50,
        *_adjacent_prices(
            hourly.p50,
            hours.prices_at(starts - HOUR_S),
            starts_day=np.isin(starts, [day_start(day) for day in days]),
            is_settled=np.array([day <= newest for day in days])[row],
        ),
        recent=np.stack([day.slope for day in by_day])[row, clock],
        rise=sun_sine_rise(starts, market),
        coefficients=np.stack([day.coefficients for day in by_day])[row],
    )
    distance = np.stack([day.distance for day in by_day])[row, clock] * shape_scale(hourly.p50)
    return Run.of(
        made_at=hourly.made_at,
        tier=hourly.tier,
        zone=hourly.zone,
        step_s=QUARTER_S,
        start_ts=hourly.start_ts,
        percentiles=_percentiles(hourly, deviation, distance, market.limits).reshape(3, -1),
        inputs=hourly.inputs,
    )


def _adjacent_prices(p50: Floats, before: Floats, starts_day: _Mask, is_settled: _Mask) -> tuple[Floats, Floats]:
    """Return the expected prices, in EUR/MWh, of the hours before and after each hour. Unknown prices are NaN.

    The price before an hour is the p50 of the hour before. At the first hour of a day (`starts_day`), the published
    price in `before` is used instead if it is known. The price after the last hour of a settled day (`is_settled`) is
    NaN to avoid leakage: the next day's forecast is made from the settled day's prices.
    """
    previous, following = np.append(np.nan, p50[:-1]), np.append(p50[1:], np.nan)
    ends_day = np.append(starts_day[1:], True)
    return (
        np.where(starts_day & np.isfinite(before), before, previous),
        np.where(ends_day & is_settled, np.nan, following),
    )


@dataclass(frozen=True, slots=True)
class _DayInputs:
    """The inputs from past days with which a day's quarters are computed.

    `slope` (24,) holds the recent slope of each clock hour, and `distance` (24,) the recent distance, both in units of
    `shape_scale`. `coefficients` (3,) holds the coefficients of the slope's predictors.
    """

    slope: Floats
    distance: Floats
    coefficients: Floats


def _inputs_of(
    days: list[date], known: KnownQuarters, issued: ReplayedForecasts, newest: date, market: Market
) -> list[_DayInputs]:
    """Return the inputs of each day. No input depends on a price of the day itself or of a later day."""
    learnt = SlopeRegression.of(known, issued, market)
    slopes = np.concatenate([known.recent_slopes(), np.zeros((1, CLOCK_HOURS))])
    last_seen = [min(newest, day - timedelta(days=1)) for day in days]
    by_last = {
        last: _DayInputs(
            slopes[known.last_row_up_to(last)], known.recent_distance(last), learnt.coefficients_until(last)
        )
        for last in set(last_seen)
    }
    return [by_last[last] for last in last_seen]


def _percentiles(hourly: Run, deviation: Floats, distance: Floats, limits: PriceLimits) -> Floats:
    """Return p10, p50 and p90 of the quarters in EUR/MWh, shape (3, hours, 4).

    If the p50 of a quarter would be outside the price limits, all deviations of its hour are reduced in proportion.
    """
    p10, p50, p90 = (percentile[:, None] for percentile in (hourly.p10, hourly.p50, hourly.p90))
    highest, lowest = deviation.max(axis=1, keepdims=True), -deviation.min(axis=1, keepdims=True)
    room = np.minimum((limits.cap - p50) / np.maximum(highest, 1e-9), (p50 - limits.floor) / np.maximum(lowest, 1e-9))
    middle = p50 + deviation * np.minimum(room, 1.0)
    low, high = np.hypot(p50 - p10, distance[:, None]), np.hypot(p90 - p50, distance[:, None])
    return np.clip(np.stack([middle - low, middle, middle + high]), limits.floor, limits.cap)

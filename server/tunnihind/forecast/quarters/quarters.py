"""A run of quarters from a run of hours."""

from datetime import date
from typing import Final

import numpy as np

from tunnihind.forecast.known_days.calendar import clock_hours
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.quarters.known_quarters import KnownQuarters
from tunnihind.forecast.quarters.shape import half_line_half_mean
from tunnihind.forecast.run import Run
from tunnihind.known import Floats
from tunnihind.market import HOUR_S, QUARTER_S, Limits, day_start, delivery_day

_SIZE_EUR_MWH: Final = 12.0
"""About how far a quarter lies from what its hour and its shape let expect."""


def quarters_of(hourly: Run, known: KnownQuarters, newest: date, limits: Limits) -> Run:
    """Return the quarters of a run of hours: the same span, the same instant, four percentiles for one.

    The mean of an hour's four medians is the hour's, but for their rounding. `newest` is the newest delivery day of
    which the hourly run may have seen a price.
    """
    days = days_between(delivery_day(hourly.start_ts), delivery_day(hourly.end_ts - 1))
    skipped = (hourly.start_ts - day_start(days[0])) // HOUR_S
    day_of = np.repeat(np.arange(len(days)), [len(clock_hours(day)) for day in days])[skipped:][: hourly.p50.size]
    clock = np.concatenate([clock_hours(day) for day in days])[skipped:][: hourly.p50.size]
    # The day after a settled one is forecast with the settled one's prices.
    follows = np.append(np.diff(day_of) == 0, False) | np.array([days[row] > newest for row in day_of])
    deviation = half_line_half_mean(hourly.p50, follows, [days[row] for row in day_of], clock, known, newest)
    percentiles = _within(hourly, deviation, limits)
    return Run.of(
        made_at=hourly.made_at,
        tier=hourly.tier,
        zone=hourly.zone,
        step_s=QUARTER_S,
        start_ts=hourly.start_ts,
        percentiles=percentiles.reshape(3, -1),
        inputs=hourly.inputs,
    )


def _within(hourly: Run, deviation: Floats, limits: Limits) -> Floats:
    """Return p10, p50 and p90 (3, hours, 4) around the hours' p50; a shape that leaves the limits is made flatter."""
    p10, p50, p90 = (percentile[:, None] for percentile in (hourly.p10, hourly.p50, hourly.p90))
    highest, lowest = deviation.max(axis=1, keepdims=True), -deviation.min(axis=1, keepdims=True)
    room = np.minimum((limits.cap - p50) / np.maximum(highest, 1e-9), (p50 - limits.floor) / np.maximum(lowest, 1e-9))
    middle = p50 + deviation * np.minimum(room, 1.0)
    low, high = np.hypot(p50 - p10, _SIZE_EUR_MWH), np.hypot(p90 - p50, _SIZE_EUR_MWH)
    return np.clip(np.stack([middle - low, middle, middle + high]), limits.floor, limits.cap)

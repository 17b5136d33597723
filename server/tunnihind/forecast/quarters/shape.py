"""The shape within the hour: how far each quarter of a forecast is from its hour."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.quarters.known_quarters import PER_HOUR, KnownQuarters
from tunnihind.known import Floats

_MEAN_DAYS: Final = 14
_MIDDLES: Final = (np.arange(PER_HOUR) + 0.5) / PER_HOUR - 0.5
"""Where the middles of the quarters are, in hours from the middle of the hour."""


def line(p50: Floats, follows: NDArray[np.bool_]) -> Floats:
    """Return the deviations (hours, 4) of a line through the neighbouring hours' p50, shape (hours,), EUR/MWh.

    Where `follows` (hours,) is false the next hour must not be looked at. An hour with one neighbour takes its slope.
    """
    step = np.diff(p50)
    after = np.append(step, np.nan)
    after[~follows] = np.nan
    before = np.concatenate([[np.nan], step])
    known = np.isfinite([before, after])
    slope = np.where(known, [before, after], 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.outer(slope, _MIDDLES)


def recent_mean(known: KnownQuarters, day: date, newest: date) -> Floats:
    """Return the mean deviations (24, 4) of two weeks up to the day before `day`, or to `newest` if that is earlier.

    Zero where no such quarter is known.
    """
    end = min(newest, day - timedelta(days=1))
    rows = known.deviation[: max((end - known.first).days + 1, 0)][-_MEAN_DAYS:]
    is_known = np.isfinite(rows)
    mean: Floats = np.where(is_known, rows, 0.0).sum(axis=0) / np.maximum(is_known.sum(axis=0), 1)
    return mean


def half_line_half_mean(
    p50: Floats,
    follows: NDArray[np.bool_],
    days: Sequence[date],
    clock: NDArray[np.intp],
    known: KnownQuarters,
    newest: date,
) -> Floats:
    """Return the deviations (hours, 4) of consecutive hours, each of a delivery day and a clock hour."""
    mean = {day: recent_mean(known, day, newest) for day in set(days)}
    means: Floats = np.stack([mean[day][hour] for day, hour in zip(days, clock, strict=True)])
    return (line(p50, follows) + means) / 2

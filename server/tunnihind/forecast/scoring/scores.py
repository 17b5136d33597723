"""Scores of point, quantile and interval forecasts.

Prices and losses are in EUR/MWh. Arrays have shape (n,), with an item for each forecast. If n is 0, scores are NaN.

MAE and skill follow Lago, Marcjasz, De Schutter, Weron 2021 (Applied Energy 293, 116983). Skill is 1 minus that paper's
relative MAE. The pinball loss follows Koenker & Bassett 1978 (Econometrica 46(1)). The Winkler score follows Winkler
1972 (JASA 67(337)), as in Gneiting & Raftery 2007 (JASA 102(477), eq. 43).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from tunnihind.forecast.run import QUANTILE_LEVELS
from tunnihind.known import Floats

_ALPHA: Final = 2 * QUANTILE_LEVELS[0]
"""The share of prices that should lie outside the interval from p10 to p90."""


def mean_absolute_error(actual: Floats, forecast: Floats) -> float:
    """Return the mean of |y - f| for prices y and their forecasts f."""
    return _mean(np.abs(actual - forecast))


def skill(mae: float, baseline_mae: float) -> float:
    """Return the part of the baseline's error that the forecast avoids: 1 - `mae` / `baseline_mae`.

    If `baseline_mae` is 0 or NaN, return NaN.
    """
    return 1 - mae / baseline_mae if baseline_mae > 0 else float("nan")


def pinball_loss(actual: Floats, quantile: Floats, level: float) -> float:
    """Return the mean pinball loss.

    The loss is max(q (y - f), (q - 1) (y - f)) for the level q, a price y and its forecast quantile f.
    """
    error = actual - quantile
    return _mean(np.maximum(level * error, (level - 1) * error))


def winkler_score(actual: Floats, lower: Floats, upper: Floats) -> float:
    """Return the mean Winkler score of intervals that should contain 80% of actual prices.

    The score of an interval is its width. If the price lies outside the interval, 2 / `_ALPHA` times its distance from
    the interval is added.
    """
    outside = np.maximum(lower - actual, 0) + np.maximum(actual - upper, 0)
    return _mean(upper - lower + 2 / _ALPHA * outside)


def coverage(actual: Floats, lower: Floats, upper: Floats) -> float:
    """Return the share of actual prices inside their intervals. A price on a bound counts as inside."""
    return _mean(((lower <= actual) & (actual <= upper)).astype(np.float64))


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of p10, p50 and p90 over `n` hours or quarters. If `n` is 0, all scores are NaN.

    `mae` is the MAE of p50. `baseline_mae` is the MAE of the price one week earlier. `pinball` is the mean pinball loss
    of the three percentiles. `winkler80`, `coverage80` and the mean `width` are scores of the interval from p10 to p90.
    `below10` and `above90` are the shares of actual prices below and above the interval.
    """

    n: int
    mae: float
    baseline_mae: float
    skill: float
    coverage80: float
    below10: float
    above90: float
    pinball: float
    winkler80: float
    width: float

    @classmethod
    def of(cls, *, actual: Floats, baseline: Floats, p10: Floats, p50: Floats, p90: Floats) -> Self:
        """Score forecasts. Periods with an unknown actual price or an unknown baseline (NaN) are left out."""
        known = ~(np.isnan(actual) | np.isnan(baseline))
        actual, baseline, p10, p50, p90 = (values[known] for values in (actual, baseline, p10, p50, p90))
        mae = mean_absolute_error(actual, p50)
        baseline_mae = mean_absolute_error(actual, baseline)
        losses = [
            pinball_loss(actual, quantile, level)
            for quantile, level in zip((p10, p50, p90), QUANTILE_LEVELS, strict=True)
        ]
        return cls(
            n=int(actual.size),
            mae=mae,
            baseline_mae=baseline_mae,
            skill=skill(mae, baseline_mae),
            coverage80=coverage(actual, p10, p90),
            below10=_mean((actual < p10).astype(np.float64)),
            above90=_mean((actual > p90).astype(np.float64)),
            pinball=sum(losses) / len(losses),
            winkler80=winkler_score(actual, p10, p90),
            width=_mean(p90 - p10),
        )

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Combine the scores of several groups of periods into the scores of all periods."""
        scored = [part for part in parts if part.n]
        hours = [part.n for part in scored]
        means = {name: _weighted_mean([getattr(part, name) for part in scored], hours) for name in MEANS}
        return cls(n=sum(hours), skill=skill(means["mae"], means["baseline_mae"]), **means)


MEANS: Final = ("mae", "baseline_mae", "coverage80", "below10", "above90", "pinball", "winkler80", "width")
"""The fields of `Scores` that are means over periods."""


def _weighted_mean(values: Sequence[float], weights: Sequence[int]) -> float:
    return float(np.average(values, weights=weights)) if values else float("nan")


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")

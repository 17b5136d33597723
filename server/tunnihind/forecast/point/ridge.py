"""Ridge regressions for each lead and clock hour, computed from moments: exponentially weighted sums of products.

Each day is added to the moments once, so past days need not be kept. An hour whose out-of-sample forecast had a large
error gets less weight, so that extreme prices affect the coefficients less. The method is a streaming form of
iteratively reweighted least squares.
"""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from tunnihind.forecast.known_days.calendar import CLOCK_HOURS, HOURS_APART
from tunnihind.known import Floats

HALF_LIFE_DAYS: Final = 150.0
NEXT_DAY_HALF_LIFE_DAYS: Final = 250.0
"""The half-life of a day's weight in the moments, for leads with columns of next-day drivers.

It is longer than `HALF_LIFE_DAYS`, because at these leads the relation between the columns and the price changes more
slowly.
"""

_PENALTY: Final = (0.05, 0.2, 0.35, 0.4, 0.5, 0.5, 0.6)
"""Penalties by lead."""
_PENALTY_DAYS: Final = 45.0
"""Penalties are multiplied by 1 + `_PENALTY_DAYS` / (number of learnt days)."""
_HOUR_WIDTH: Final = 0.7
"""The standard deviation, in hours, of the Gaussian that smooths the moments over clock hours."""
_Z_CLIP: Final = 3.0
_LEAST_SD: Final = 1e-4
"""A column with a standard deviation below this number counts as constant."""
_ERROR_SCALE: Final = 0.3
"""If an error is well above this number, on the asinh scale, its weighted square grows in proportion to the error."""
_ASSUMED_ERROR: Final = 0.5


@dataclass(frozen=True, slots=True)
class EnsembleMember:
    """The settings of one ridge regression. The forecasts of all ridge regressions in `MEMBERS` are averaged.

    The ridge regression predicts the price minus `week_mean_share` times the clock hour's mean price of the last seven
    days, on the asinh scale. Each lead's penalty (`_PENALTY`) is multiplied by `penalty`. From lead 2 on, the first
    `shared` columns in `Moments.fit_ridges` are also columns of the previous lead. The coefficients of these columns
    are shrunk toward `previous_lead_share` times the previous lead's coefficients. All other coefficients are shrunk
    toward 0.
    """

    week_mean_share: float
    penalty: float
    previous_lead_share: float


MEMBERS: Final = (
    EnsembleMember(week_mean_share=1.0, penalty=1.0, previous_lead_share=0.8),
    EnsembleMember(week_mean_share=0.0, penalty=0.6, previous_lead_share=0.0),
)


def robust_weight(error: Floats) -> Floats:
    """Return a weight for each out-of-sample error on the asinh scale: 1 for no error, and less for larger errors.

    An unknown error (NaN) counts as `_ASSUMED_ERROR`.
    """
    size = np.where(np.isnan(error), _ASSUMED_ERROR, error)
    weight: Floats = _ERROR_SCALE / np.sqrt(size**2 + _ERROR_SCALE**2)
    return weight


def clock_smoother(width_hours: float) -> Floats:
    """Return a (24, 24) matrix that smooths values over the clock hours with Gaussian weights. Each row sums to 1.

    `width_hours` is the standard deviation of the Gaussian.
    """
    kernel = np.exp(-0.5 * (HOURS_APART / width_hours) ** 2)
    smoother: Floats = kernel / kernel.sum(1, keepdims=True)
    return smoother


@dataclass(frozen=True, slots=True)
class RidgeFit:
    """The coefficients of the ridge regressions of one lead. The coefficients apply to standardised columns.

    For p columns, `beta` (members, 24, p) holds the coefficients, and `level` (members, 24) the constant terms. `mean`
    and `sd` (24, p) hold the weighted mean and standard deviation of each column. If a column counts as constant, its
    `sd` is 1.
    """

    beta: Floats
    mean: Floats
    sd: Floats
    level: Floats

    def predict(self, x: Floats, week_mean: Floats) -> Floats:
        """Return the forecast of each ridge regression on the asinh scale, shape (members, n, 24).

        `x` (n, 24, p) holds the columns of n days. `week_mean` (n, 24) holds each clock hour's mean price of the last
        seven days, on the asinh scale.
        """
        z = np.clip((x - self.mean) / self.sd, -_Z_CLIP, _Z_CLIP)
        fitted = np.einsum("nhp,mhp->mnh", z, self.beta) + self.level[:, None]
        offsets = np.array([member.week_mean_share for member in MEMBERS])[:, None, None]
        predicted: Floats = fitted + offsets * week_mean
        return predicted


@dataclass(slots=True)
class Moments:
    """The weighted sums, smoothed over the clock hours, from which one lead's coefficients are computed.

    `gram` (24, p + 1, p + 1) holds weighted sums of the products of two columns. `cross` (24, p + 1, members) holds
    weighted sums of the products of a column and the target of an `EnsembleMember`: the price minus `week_mean_share`
    times the clock hour's mean price of the last seven days. Column 0 is the constant 1, and the p input columns
    follow.
    """

    gram: Floats
    cross: Floats
    half_life_days: float
    days: int = 0

    @classmethod
    def empty(cls, columns: int, half_life_days: float) -> Self:
        """Return moments to which no day has been added."""
        shape = (CLOCK_HOURS, columns + 1, columns + 1)
        return cls(np.zeros(shape), np.zeros((*shape[:2], len(MEMBERS))), half_life_days)

    def add_days(self, x: Floats, y: Floats, week_mean: Floats, weight: Floats) -> None:
        """Add consecutive days to the moments, oldest day first.

        `x` (n, 24, p) and `week_mean` (n, 24) are as in `RidgeFit.predict`. `y` (n, 24) holds the prices on the asinh
        scale. `weight` (n, 24) holds each hour's weight before it fades with age. Hours with an unknown price (NaN)
        are skipped.
        """
        n = len(x)
        fade = 0.5 ** (np.arange(n - 1, -1, -1) / self.half_life_days)
        known = ~np.isnan(y)
        w = np.where(known, weight, 0.0) * fade[:, None]
        rows = np.concatenate([np.ones((n, CLOCK_HOURS, 1)), x], axis=-1).transpose(1, 0, 2)
        weighted = (rows * w.T[..., None]).transpose(0, 2, 1)
        targets = np.stack(
            [np.where(known, y, 0.0) - member.week_mean_share * week_mean for member in MEMBERS], axis=-1
        )
        keep = 0.5 ** (n / self.half_life_days)
        self.gram *= keep
        self.gram += _smoothed_over_hours(weighted @ rows)
        self.cross *= keep
        self.cross += _smoothed_over_hours(weighted @ targets.transpose(1, 0, 2))
        self.days += n

    def fit_ridges(self, lead: int, prior: Floats | None, shared: int) -> RidgeFit:
        """Compute the coefficients of the ridge regressions from the moments.

        `prior` (members, 24, shared) holds the previous lead's coefficients of the first `shared` columns. At the first
        lead, `prior` is None.
        """
        n = self.gram[:, 0, 0][:, None]
        # If no price is known, all coefficients become NaN, and so do all forecasts.
        n = np.where(n > 0, n, np.nan)
        mean = self.gram[:, 0, 1:] / n
        variance = np.einsum("hpp->hp", self.gram)[:, 1:] / n - mean**2
        sd = np.sqrt(np.maximum(variance, 1e-10))
        live = sd >= _LEAST_SD
        sd = np.where(live, sd, 1.0)
        level = self.cross[:, 0, :] / n
        cross = (self.cross[:, 1:] / n[..., None] - mean[..., None] * level[:, None, :]) / sd[..., None]
        cross = np.where(live[..., None], cross, 0.0)
        system = self._standardised_covariances(n, mean, sd)
        starts = np.zeros((len(MEMBERS), CLOCK_HOURS, system.shape[-1]))
        if prior is not None:
            starts[:, :, :shared] = np.array([member.previous_lead_share for member in MEMBERS])[:, None, None] * prior
        right = cross.transpose(2, 0, 1) - (system @ starts.transpose(1, 2, 0)).transpose(2, 0, 1)
        penalty = _PENALTY[lead - 1] * (1 + _PENALTY_DAYS / max(self.days, 1))
        # `diagonal` is a view of `system`. The members' matrices differ only in the diagonal.
        diagonal = np.einsum("hpp->hp", system)
        unpenalised = diagonal.copy()
        beta = starts
        for k, member in enumerate(MEMBERS):
            diagonal[:] = unpenalised + penalty * member.penalty
            beta[k] += np.linalg.solve(system, right[k, ..., None])[..., 0]
        return RidgeFit(beta, mean, sd, level.T)

    def _standardised_covariances(self, n: Floats, mean: Floats, sd: Floats) -> Floats:
        """Return the covariances of the standardised columns, shape (24, p, p)."""
        corr = self.gram[:, 1:, 1:] * (1 / (n * sd))[:, :, None]
        corr *= (1 / sd)[:, None, :]
        standard = mean / sd
        corr -= standard[:, :, None] * standard[:, None, :]
        return corr


_SMOOTHER: Final = clock_smoother(_HOUR_WIDTH)


def _smoothed_over_hours(moments: Floats) -> Floats:
    return (_SMOOTHER @ moments.reshape(CLOCK_HOURS, -1)).reshape(moments.shape)

"""What a forecast looks at, laid on the grid of delivery days: prices, season and drivers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tunnihind.forecast.daily import DayGrid
from tunnihind.forecast.model.columns import (
    Rows,
    anomalies,
    calendar_columns,
    far_columns,
    neighbour_columns,
    own_columns,
)
from tunnihind.forecast.model.next_day import NextDayScale, next_day_columns, second_day_columns
from tunnihind.forecast.model.price_state import PriceState
from tunnihind.forecast.model.season import Season
from tunnihind.known import Floats

NEXT_DAY_LEADS = 2
"""Leads that covariates of the next day help; from the third on they do harm."""


@dataclass(frozen=True, slots=True)
class FarDriver:
    """Vintages of a driver that reaches several days, (issue days, ages, 24), and their anomalies."""

    values: Floats
    anomaly: Floats

    @classmethod
    def of(cls, values: Floats) -> FarDriver:
        """Return a driver with its anomalies."""
        return cls(values, anomalies(values))


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that the rows of one model are taken from.

    `lag` is by how many days the newest settled day is past the day of issue: 0 before the auction, 1 after it. Rows of
    lead L thus have the weather that was forecast L + lag days before their day. `near` (delivery days, 24) with their
    `scale`, None where there is none.
    """

    grid: DayGrid
    prices: PriceState
    season: Season
    lag: int
    far: Mapping[str, FarDriver]
    near: Mapping[str, Floats]
    scale: NextDayScale | None

    def has_near(self, lead: int) -> bool:
        """Tell whether next-day covariates are among the columns of a lead."""
        return self.scale is not None and self.lag == 0 and lead <= NEXT_DAY_LEADS

    def near_columns(self, target: Rows, lead: int) -> Floats | None:
        """Return the columns of next-day covariates (n, 24, k), None where the lead has none."""
        if self.scale is None or not self.has_near(lead):
            return None
        if lead == 1:
            return next_day_columns(self.scale, self.near, self.prices, target)
        return second_day_columns(self.scale, self.near, target)

    def shared_columns(self, target: Rows, lead: int, issue: Rows) -> Floats:
        """Return the columns that all leads have: own prices, calendar, far drivers, (n, 24, k)."""
        issue = np.maximum(issue, 0)
        far = [
            far_columns(driver.values, driver.anomaly, self.season.sun, target, lead, issue)
            for driver in self.far.values()
        ]
        own = own_columns(self.prices, target, lead)
        return np.concatenate([own, calendar_columns(self.season, self.prices, target, lead), *far], axis=-1)

    def neighbour_columns(self, target: Rows, lead: int) -> Floats:
        """Return the columns of the neighbours' prices, (n, 24, k)."""
        return neighbour_columns(self.prices, target, lead)

    def same_until(self, other: Inputs, row: int) -> bool:
        """Tell whether two inputs are the same, bit by bit, in all that a row of the grid and those before it see."""
        if self.grid.first != other.grid.first or self.lag != other.lag or self.scale != other.scale:
            return False
        if list(self.far) != list(other.far) or list(self.near) != list(other.near):
            return False
        issued = max(row - self.lag, 0)  # the row of lead 1 was issued 1 + lag days before
        pairs = [
            (self.prices.target[: row + 1], other.prices.target[: row + 1]),
            (self.prices.y[: row + 1], other.prices.y[: row + 1]),
            *((self.near[name][: row + 1], other.near[name][: row + 1]) for name in self.near),
            *((self.far[name].values[:issued], other.far[name].values[:issued]) for name in self.far),
        ]
        return all(np.array_equal(one, two, equal_nan=True) for one, two in pairs)

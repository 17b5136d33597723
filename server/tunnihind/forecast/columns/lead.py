"""Computes the input columns of a point model for each lead, from data known when the forecast was issued."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.columns.next_day import NextDayScale, next_day_columns, second_day_columns
from tunnihind.forecast.columns.prices_and_calendar import calendar_columns, neighbour_columns, own_price_columns
from tunnihind.forecast.columns.table import ColumnGroup, DayRows, InputRows
from tunnihind.forecast.columns.weather import anomalies, weather_columns
from tunnihind.forecast.known_days.drivers import MIN_ISSUE_DAYS
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.known_days.known_days import KnownDays
from tunnihind.forecast.known_days.price_state import PriceState
from tunnihind.forecast.known_days.season import Season
from tunnihind.known import Floats

OWN_PRICES: Final = "own prices"
CALENDAR: Final = "calendar"
WEATHER: Final = "weather"
NEXT_DAY: Final = "next day"
NEIGHBOURS: Final = "neighbours"

_LAST_NEXT_DAY_LEAD: Final = 2
"""Only leads up to this one use next-day drivers, because these drivers make the forecasts of later leads worse."""
_DIGESTED_ROWS: Final = 64


@dataclass(frozen=True, slots=True)
class WeatherDriver:
    """The vintages of a weather driver and their anomalies, both of shape (issue days, ages, 24)."""

    values: Floats
    anomaly: Floats

    @classmethod
    def of(cls, values: Floats) -> WeatherDriver:
        """Return the vintages `values` with their anomalies."""
        return cls(values, anomalies(values))


@dataclass(frozen=True, slots=True)
class ColumnData:
    """The data from which the input rows of all leads are computed.

    `issue_lag` is 1 if forecasts are issued on the day before the newest settled day, and 0 if they are issued later.
    Without weather drivers, `issue_lag` is always 0. `next_day` maps the name of each next-day driver to an array of
    shape (delivery days, 24). If `next_day` is empty, `scale` is None. `has_second_day_columns` is true if a next-day
    driver uses a covariate whose forecasts end with the next day. Otherwise, lead 2 has no columns of next-day drivers.
    """

    grid: DayGrid
    prices: PriceState
    season: Season
    issue_lag: int
    weather: Mapping[str, WeatherDriver]
    next_day: Mapping[str, Floats]
    scale: NextDayScale | None
    has_second_day_columns: bool
    _digests: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, days: KnownDays, issue_lag: int, fit_row: int) -> ColumnData:
        """Return the data for all forecasts with the same `issue_lag`.

        `issue_lag` is 1 if forecasts are issued on the day before the newest settled day, and 0 if they are issued
        later. If `issue_lag` is 1, next-day drivers are left out. `scale` is computed from the days up to row
        `fit_row`. If those days are too few, later days are used too.
        """
        weather = days.drivers.far
        next_day = days.drivers.near if issue_lag == 0 else {}
        return cls(
            grid=days.grid,
            prices=days.prices,
            season=days.season,
            issue_lag=issue_lag if weather else 0,  # only the columns of weather drivers depend on the issue day
            weather={name: WeatherDriver.of(values) for name, values in weather.items()},
            next_day=next_day,
            scale=NextDayScale.fitted(_drivers_until(next_day, fit_row)) if next_day else None,
            has_second_day_columns=days.drivers.uses_next_day_covariates,
        )

    def input_rows(self, target: DayRows, lead: int, issue: DayRows | None = None) -> InputRows:
        """Compute the input rows of the target days in `target` at one lead.

        `issue` holds the issue day of each target day. By default, the issue day is `lead` + `issue_lag` days before
        the target day.
        """
        issue = target - lead - self.issue_lag if issue is None else issue
        return InputRows.of(
            self._column_groups(target, lead, np.maximum(issue, 0)),
            low=self.prices.low[target - lead, None],
            high=self.prices.high[target - lead, None],
            has_next_day_drivers=self._has_next_day_drivers(target),
        )

    def _column_groups(self, target: DayRows, lead: int, issue: DayRows) -> Iterator[ColumnGroup]:
        yield ColumnGroup(OWN_PRICES, own_price_columns(self.prices, target, lead))
        yield ColumnGroup(CALENDAR, calendar_columns(self.season, self.prices, target, lead))
        weather = (
            weather_columns(name, driver.values, driver.anomaly, self.season.sun, target, lead, issue)
            for name, driver in self.weather.items()
        )
        yield ColumnGroup(WEATHER, {name: values for columns in weather for name, values in columns.items()})
        if self.scale is not None and self.issue_lag == 0 and lead == 1:
            yield ColumnGroup(NEXT_DAY, next_day_columns(self.scale, self.next_day, self.prices, target))
        elif (
            self.scale is not None
            and self.issue_lag == 0
            and self.has_second_day_columns
            and lead <= _LAST_NEXT_DAY_LEAD
        ):
            yield ColumnGroup(NEXT_DAY, second_day_columns(self.scale, self.next_day, target))
        yield ColumnGroup(NEIGHBOURS, neighbour_columns(self.prices, target, lead))

    def _has_next_day_drivers(self, target: DayRows) -> NDArray[np.bool_]:
        """For each target day, return whether all next-day drivers are known for that day and for the day before.

        If there are no next-day drivers, return False for each day.
        """
        known = np.zeros(self.grid.day_count, np.bool_)
        if self.next_day:
            drivers = np.stack(list(self.next_day.values()))
            known[: drivers.shape[1]] = np.isfinite(drivers).all(axis=(0, 2))
        both: NDArray[np.bool_] = known[target] & known[target - 1]
        return both

    def digest_until(self, row: int) -> str:
        """Return a digest of the prices and drivers from which the input rows of the days up to `row` are computed."""
        if row not in self._digests:
            self._digests[row] = self._compute_digest_until(row)
        return self._digests[row]

    def _compute_digest_until(self, row: int) -> str:
        # The digests of near rows are asked together, and share the digest of the rows before.
        before = max((row - 1) // _DIGESTED_ROWS * _DIGESTED_ROWS, 0)
        first = before + 1 if before else 0
        by_name = [
            *((name, values[first : row + 1]) for name, values in self.next_day.items()),
            *((name, driver.values[self._issued(before) : self._issued(row)]) for name, driver in self.weather.items()),
            *((name, values[first:]) for name, values in self.prices.arrays_until(row)),
        ]
        facts = (
            self.digest_until(before) if before else "",
            self.grid.first,
            self.issue_lag,
            self.has_second_day_columns,
            self.scale,
            [(name, one.dtype.str, one.shape) for name, one in by_name],
        )
        digest = blake2b(repr(facts).encode(), digest_size=16)
        for _, values in by_name:
            digest.update(np.ascontiguousarray(values))
        return digest.hexdigest()

    def _issued(self, row: int) -> int:
        """Return how many issue days the input rows up to `row` use.

        At lead 1, the issue day is 1 + `issue_lag` days before the target day.
        """
        return max(row - self.issue_lag, 0)


def _drivers_until(drivers: Mapping[str, Floats], row: int) -> dict[str, Floats]:
    """Return the drivers' values up to row `row`.

    If `row` is fewer than `MIN_ISSUE_DAYS` rows after the first row with all values, later rows are added.
    """
    known = np.isfinite(np.stack(list(drivers.values()))).all(axis=(0, 2))
    enough = int(np.argmax(known)) + MIN_ISSUE_DAYS
    return {name: values[: max(row, enough) + 1] for name, values in drivers.items()}

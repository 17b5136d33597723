"""The input of a point model: rows of named columns."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Concatenate, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.known import Floats

type DayRows = NDArray[np.intp]
"""The rows of n delivery days in a `DayGrid`, shape (n,)."""
type Columns = dict[str, Floats]
"""Columns for n days, by name. Hourly columns have shape (n, 24). Daily columns have shape (n,)."""


class ColumnGroup(NamedTuple):
    """Columns of one kind, such as the columns of weather drivers."""

    name: str
    columns: Columns


@dataclass(frozen=True)
class ColumnNames:
    """The names of all columns.

    `groups` maps the name of each group to the names of its columns, in order. `daily` holds the names of the columns
    with one value a day.
    """

    groups: Mapping[str, tuple[str, ...]]
    daily: frozenset[str]

    @cached_property
    def all(self) -> tuple[str, ...]:
        """The column names of all groups, in order."""
        return tuple(name for names in self.groups.values() for name in names)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.all)}

    def positions(self, names: Iterable[str]) -> list[int]:
        """Return the positions of the named columns in `all`. Raises KeyError if a column does not exist."""
        return [self._positions[name] for name in names]

    def in_group(self, group: str) -> tuple[str, ...]:
        """Return the names of a group's columns. If the group does not exist, return an empty tuple."""
        return self.groups.get(group, ())

    def daily_in_group(self, group: str) -> tuple[str, ...]:
        """Return the names of a group's daily columns."""
        return tuple(name for name in self.in_group(group) if name in self.daily)


@dataclass(frozen=True, slots=True)
class InputRows:
    """The input rows of one lead, one row for each of n target days.

    All prices and covariates in a row were known when the forecast of its target day was issued. `x` (n, 24, columns)
    holds the columns in the order of `names.all`. `low` and `high` (n, 1) are the bounds of the forecasts on the asinh
    scale. `has_next_day_drivers` (n,) is true if there are next-day drivers, and if all of them are known for the
    target day and for the day before.
    """

    names: ColumnNames
    x: Floats
    low: Floats
    high: Floats
    has_next_day_drivers: NDArray[np.bool_]
    _picked_from: tuple[InputRows, slice] | None = field(default=None, compare=False, repr=False)
    _cached: dict[object, NDArray[Any]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(
        cls, groups: Iterable[ColumnGroup], *, low: Floats, high: Floats, has_next_day_drivers: NDArray[np.bool_]
    ) -> Self:
        """Combine groups of columns into rows. Raises ValueError if two columns have the same name."""
        groups = tuple(groups)
        by_name = [column for group in groups for column in group.columns.items()]
        names = ColumnNames(
            {group.name: tuple(group.columns) for group in groups},
            frozenset(name for name, values in by_name if values.ndim == 1),
        )
        if len(set(names.all)) < len(names.all):
            raise ValueError("two columns have the same name")
        hourly = (values if values.ndim > 1 else _as_hourly(values) for _, values in by_name)
        return cls(names, np.stack(list(hourly), axis=-1), low, high, has_next_day_drivers)

    def rows_at(self, days: slice) -> InputRows:
        """Return only the rows of the target days at the positions `days`."""
        some = self.x[days], self.low[days], self.high[days], self.has_next_day_drivers[days]
        return InputRows(self.names, *some, _picked_from=(self, days))

    def cached_day_values[**Given, Number: np.generic](
        self, make: Callable[Concatenate[InputRows, Given], NDArray[Number]], *given: Given.args, **named: Given.kwargs
    ) -> NDArray[Number]:
        """Return the array that `make` computes from these rows, shape (n, ...).

        `make` must compute each day's values from the row of that day alone. To save time, `make` is called only once
        for the same arguments, and the rows that `rows_at` returns share the result.
        """
        if self._picked_from is not None:
            whole, days = self._picked_from
            return whole.cached_day_values(make, *given, **named)[days]
        key = make, given, tuple(named.items())
        if key not in self._cached:
            self._cached[key] = make(self, *given, **named)
        return self._cached[key]

    def hourly(self, name: str) -> Floats:
        """Return the hourly values of one column, shape (n, 24)."""
        column: Floats = self.x[..., self.names.positions([name])[0]]
        return column

    def daily(self, names: Iterable[str]) -> Floats:
        """Return the values of the named daily columns, shape (n, number of names)."""
        values: Floats = self.x[:, 0, self.names.positions(names)]
        return values


def _as_hourly(daily: Floats) -> Floats:
    return np.repeat(daily[:, None], CLOCK_HOURS, axis=1)

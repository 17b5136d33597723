"""Figures of rows that are picked from other rows."""

import numpy as np

from tunnihind.forecast.columns.table import ColumnGroup, InputRows
from tunnihind.known import Floats

DAYS = 9


def rows() -> InputRows:
    rng = np.random.default_rng(3)
    columns = {"price": rng.normal(size=(DAYS, 24)), "load": rng.normal(size=DAYS)}
    bound = np.ones((DAYS, 1))
    return InputRows.of(
        [ColumnGroup("own", columns)], low=-bound, high=bound, has_next_day_drivers=np.ones(DAYS, np.bool_)
    )


def test_what_is_made_of_each_day_is_made_once_for_all_days_that_rows_are_picked_from() -> None:
    made: list[int] = []

    def sums(some: InputRows, factor: float) -> Floats:
        made.append(len(some.x))
        total: Floats = factor * some.hourly("price").sum(axis=1)
        return total

    whole = rows()
    picked = [whole.rows_at(slice(2, 7)), whole.rows_at(slice(2, 7)).rows_at(slice(1, 3)), whole]
    found = [some.cached_day_values(sums, 2.0) for some in picked]
    assert made == [DAYS]
    for some, sum_of_days in zip(picked, found, strict=True):
        np.testing.assert_array_equal(sum_of_days, sums(some, 2.0))
    np.testing.assert_array_equal(whole.cached_day_values(sums, 3.0), sums(whole, 3.0))

"""Tiers, replay and intervals work with any point model; its rows have named columns."""

from collections.abc import Callable
from datetime import date

import numpy as np
import pytest

from tests.support.markets.mean_model import Mean
from tests.support.markets.windy_market import windy_archive
from tunnihind.core.market import ESTONIA
from tunnihind.forecast.columns.lead import CALENDAR, NEIGHBOURS, NEXT_DAY, OWN_PRICES, WEATHER
from tunnihind.forecast.columns.prices_and_calendar import WEEK_MEAN_COLUMN
from tunnihind.forecast.columns.table import ColumnGroup, InputRows
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.known import Archive, Floats

type Utc = Callable[..., int]


@pytest.fixture(scope="module")
def archive() -> Archive:
    return windy_archive(date(2025, 6, 1), 150)


def test_a_model_of_ten_lines_makes_runs_of_the_same_hours_with_its_own_intervals(archive: Archive, utc: Utc) -> None:
    known = archive.as_of(utc(2025, 10, 20, 9))
    ours, mean = TieredForecaster(ESTONIA).forecast(known), TieredForecaster(ESTONIA, model=Mean).forecast(known)
    assert ours is not None
    assert mean is not None
    assert (mean.tier, mean.start_ts, mean.end_ts) == (ours.tier, ours.start_ts, ours.end_ts)
    assert not np.allclose(mean.p50, ours.p50)
    # The mean doesn't use the wind, which determines this market, so its error is larger.
    assert (mean.p90 - mean.p10).mean() > 1.2 * (ours.p90 - ours.p10).mean()


def test_a_model_reads_its_columns_by_name(archive: Archive, utc: Utc) -> None:
    given: list[InputRows] = []

    class Reading(Mean):
        def learn(self, lead: int, rows: InputRows, price: Floats, predicted: Floats) -> None:
            given.append(rows)
            super().learn(lead, rows, price, predicted)

    TieredForecaster(ESTONIA, model=Reading).forecast(archive.as_of(utc(2025, 10, 20, 9)))
    rows = given[-1]
    assert list(rows.names.groups) == [OWN_PRICES, CALENDAR, WEATHER, NEIGHBOURS]
    assert rows.hourly(WEEK_MEAN_COLUMN).shape == (len(rows.x), 24)
    assert "wind_fi_target" in rows.names.in_group(WEATHER)
    assert rows.names.in_group(NEXT_DAY) == ()


def test_two_columns_of_one_name_are_refused() -> None:
    group = ColumnGroup("a", {"price": np.zeros((2, 24))})
    with pytest.raises(ValueError, match="the same name"):
        InputRows.of(
            [group, ColumnGroup("b", group.columns)],
            low=np.zeros(2),
            high=np.ones(2),
            has_next_day_drivers=np.zeros(2, bool),
        )


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

"""The calendar of hours."""

import pytest

from tests.support.markets.day_quotes import AUTUMN, SPRING
from tests.support.pages import sample_views
from tests.support.pages.summaries import summary_of
from tunnihind.market import HOUR_S


def test_a_cell_of_the_calendar_is_tinted_by_the_four_quarters_of_its_hour() -> None:
    rows = summary_of(sample_views.ordinary(), period="quarter").grid
    cells = [cell for row in rows for cells in row.clock_hours for cell in cells]
    assert {len(cell.tints) for cell in cells} == {4}
    assert any(len(set(cell.tints)) > 1 for cell in cells)
    assert all(cell.ts % HOUR_S == 0 for cell in cells)


def test_the_calendar_begins_with_today_and_ends_with_the_past_week_backwards() -> None:
    rows = summary_of(sample_views.ordinary()).grid
    assert [row.day.day for row in rows] == [15, 16, 17, 18, 14, 13, 12, 11, 10, 9, 8]
    assert [row.name for row in rows][:3] == ["today", "tomorrow", ""]
    assert [row.is_past for row in rows] == [False] * 4 + [True] * 7


def test_the_calendar_tells_the_mean_of_each_day_and_of_a_forecast_as_about_that() -> None:
    summary = summary_of(sample_views.ordinary(), unit="mwh", vat="none")
    told = [summary.display.brief_told_mean(row.periods) for row in summary.grid]
    means = [f"{sum(p.eur_mwh for p in row.periods) / len(row.periods):.0f}" for row in summary.grid]
    assert [row.is_whole for row in summary.grid] == [True] * 3 + [False] + [True] * 7
    assert told == [f"about {mean}" if i in {2, 3} else mean for i, mean in enumerate(means)]


def test_the_hour_that_autumn_repeats_has_two_cells_and_two_names() -> None:
    now = sample_views.noon_of(AUTUMN)
    summary = summary_of(sample_views.ordinary(now), now)
    row = summary.grid[0]
    assert [len(cells) for cells in row.clock_hours] == [1, 1, 1, 2, *[1] * 20]
    first = row.clock_hours[3][0].ts
    clock = summary.display.clock
    assert [clock(first + i * HOUR_S) for i in range(-1, 3)] == ["02:00", "03:00 EEST", "03:00 EET", "04:00"]


def test_spring_leaves_the_third_hour_out() -> None:
    now = sample_views.noon_of(SPRING)
    row = summary_of(sample_views.ordinary(now), now).grid[0]
    assert [len(cells) for cells in row.clock_hours] == [1, 1, 1, 0, *[1] * 20]


def test_tints_part_the_hours_evenly_and_set_prices_below_zero_apart() -> None:
    cells = [cell for row in summary_of(sample_views.negative()).grid for cells in row.clock_hours for cell in cells]
    tints = [tint for cell in cells for tint in cell.tints if tint is not None]
    assert {cell.tints for cell in cells if cell.periods[0].eur_mwh < 0} == {(None,)}
    shares = [tints.count(tint) / len(tints) for tint in range(6)]
    assert all(share == pytest.approx(1 / 6, abs=0.03) for share in shares)

"""The calendar of hours."""

import pytest

from tests.support.api.api_server import HOUR, make_view
from tests.support.markets.day_quotes import AUTUMN, SPRING
from tests.support.pages import sample_views
from tests.support.pages.summaries import summary_of
from tunnihind.core.market import HOUR_S
from tunnihind.web.scale import tint


def test_a_cell_of_the_calendar_is_tinted_by_the_four_quarters_of_its_hour() -> None:
    rows = summary_of(sample_views.ordinary(), period="quarter").calendar
    cells = [cell for row in rows for cells in row.local_hours for cell in cells]
    assert {len(cell.tints) for cell in cells} == {4}
    assert any(len(set(cell.tints)) > 1 for cell in cells)
    assert all(cell.ts % HOUR_S == 0 for cell in cells)


def test_the_calendar_begins_with_today_and_ends_with_the_past_week_backwards() -> None:
    rows = summary_of(sample_views.ordinary()).calendar
    assert [row.day.day for row in rows] == [15, 16, 17, 18, 14, 13, 12, 11, 10, 9, 8]
    assert [row.name for row in rows][:3] == ["today", "tomorrow", ""]
    assert [row.is_past for row in rows] == [False] * 4 + [True] * 7


def test_the_calendar_tells_the_mean_of_each_day_and_of_a_forecast_as_about_that() -> None:
    summary = summary_of(sample_views.ordinary(), unit="mwh", vat="none")
    told = [summary.display.brief_mean_price_with_about(row.periods) for row in summary.calendar]
    means = [f"{sum(p.eur_mwh for p in row.periods) / len(row.periods):.0f}" for row in summary.calendar]
    assert [row.is_whole for row in summary.calendar] == [True] * 3 + [False] + [True] * 7
    assert told == [f"about {mean}" if i in {2, 3} else mean for i, mean in enumerate(means)]


def test_the_hour_that_autumn_repeats_has_two_cells_and_two_names() -> None:
    now = sample_views.noon_of(AUTUMN)
    summary = summary_of(sample_views.ordinary(now), now)
    row = summary.calendar[0]
    assert [len(cells) for cells in row.local_hours] == [1, 1, 1, 2, *[1] * 20]
    first = row.local_hours[3][0].ts
    clock = summary.display.time_of_day
    assert [clock(first + i * HOUR_S) for i in range(-1, 3)] == ["02:00", "03:00 EEST", "03:00 EET", "04:00"]


def test_spring_leaves_the_third_hour_out() -> None:
    now = sample_views.noon_of(SPRING)
    row = summary_of(sample_views.ordinary(now), now).calendar[0]
    assert [len(cells) for cells in row.local_hours] == [1, 1, 1, 0, *[1] * 20]


def test_a_price_has_the_same_colour_in_the_calendar_and_the_chart_and_below_zero_one_of_its_own() -> None:
    for options in ({}, {"package": "vork_4", "margin": "0.5"}, {"unit": "mwh", "vat": "none"}):
        summary = summary_of(sample_views.negative(), HOUR + 612, **options)  # type: ignore[arg-type]  # options
        cells = [cell for row in summary.calendar for cells in row.local_hours for cell in cells]
        assert list(summary.scale) == sorted(summary.scale)
        for cell in cells:
            shown = summary.display.shown_price(cell.periods[0])
            assert cell.tints == (
                ("negative",) if shown < 0 else (f"t{sum(bound <= shown for bound in summary.scale)}",)
            )
        today = {cell.tints[0] for cells in summary.calendar[0].local_hours for cell in cells if cell.is_settled}
        assert summary.drawing is not None
        assert today <= {steps.tint for steps in summary.drawing.settled}
        assert summary.current is not None
        assert summary.tint == tint(summary.display.shown_price(summary.current), summary.scale)


def test_a_fifth_of_the_last_thirty_days_is_in_each_colour() -> None:
    hours = dict(zip(range(HOUR - 700 * HOUR_S, HOUR, HOUR_S), range(-100, 600), strict=True))
    view = make_view({ts: float(price) for ts, price in hours.items()})
    assert view.price_scale == pytest.approx([119.8, 239.6, 359.4, 479.2])
    assert make_view({HOUR: 1.0}).price_scale == ()

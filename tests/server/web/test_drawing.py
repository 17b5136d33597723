"""The chart that the server draws."""

import re
from datetime import date
from itertools import accumulate

import pytest

from tests.support.api.api_server import HOUR, make_run, make_view
from tests.support.markets.day_quotes import AUTUMN, SPRING
from tests.support.pages import sample_views
from tests.support.pages.summaries import NOW, summary_of
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import HOUR_S
from tunnihind.web.drawing import Drawing


def drawing_of(view: ServedData, now: int = NOW, **options: str) -> Drawing:
    drawing = summary_of(view, now, pipeline_expected=True, **options).drawing
    assert drawing is not None
    return drawing


@pytest.mark.parametrize(("day", "quarters"), [(SPRING, 92), (AUTUMN, 100), (date(2025, 12, 15), 96)])
def test_a_day_of_quarters_is_drawn_as_so_many_steps(day: date, quarters: int) -> None:
    now = sample_views.noon_of(day)
    drawing = drawing_of(sample_views.ordinary(now), now, period="quarter")
    steps = [x for steps in drawing.settled for x in re.findall(r"H([\d.]+)", steps.line)]
    end_of_day = 10 * drawing.days[0].width
    assert sum(float(x) <= end_of_day + 0.1 for x in steps) == quarters


def points_of(path: str) -> list[tuple[float, int]]:
    """Return the points of a path. Each point is given relative to the point before."""
    start, *ways = [pair.split() for pair in re.findall(r"-?[\d.]+ -?\d+", path)]
    return list(
        accumulate(
            ((float(x), int(y)) for x, y in ways),
            lambda point, way: (round(point[0] + way[0], 1), point[1] + way[1]),
            initial=(float(start[0]), int(start[1])),
        )
    )


def test_the_drawing_holds_all_of_the_band_and_zero() -> None:
    drawing = drawing_of(sample_views.negative())
    ys = [y for _, y in points_of(drawing.band)]
    assert 0 <= min(ys) <= max(ys) <= 1000
    assert 0 < drawing.zero < 1000
    assert [tick.at for tick in drawing.prices if tick.label == "0"] == [pytest.approx(drawing.zero / 10)]
    assert all(0 <= tick.at <= 100 for tick in drawing.prices)


def test_no_forecast_is_drawn_where_the_price_is_published() -> None:
    hours = {HOUR + i * HOUR_S: 1.0 for i in range(3)}
    drawing = drawing_of(make_view(hours, make_run([5.0] * 5, start=HOUR + HOUR_S)))
    assert len(points_of(drawing.median)) == 3


def test_each_day_is_named_below_its_own_part_of_the_drawing() -> None:
    drawing = drawing_of(sample_views.ordinary())
    assert [day.label for day in drawing.days] == ["Mon 15 Dec", "Tue 16 Dec", "Wed 17 Dec", "Thu 18 Dec"]
    ends = [day.at + day.width for day in drawing.days]
    assert [day.at for day in drawing.days] == pytest.approx([0, *ends[:-1]], abs=0.02)
    # The last day has 13 of the 85 hours. After it there is room for two hours.
    assert ends[-1] == pytest.approx(100 * 85 / 87, abs=0.02)


def test_each_price_is_drawn_in_its_colour_from_the_price_before_it() -> None:
    drawing = drawing_of(make_view({HOUR: 1.0, HOUR + HOUR_S: 2.0, HOUR + 3 * HOUR_S: 3.0}))
    lines = {steps.tint: steps.line for steps in drawing.settled}
    assert list(lines) == ["t0", "t2", "t4"]
    # The second hour's line begins at the end of the first hour's. Before the third hour, an hour is missing.
    first_height = lines["t0"].partition(" ")[2].partition("H")[0]
    assert lines["t2"].partition(" ")[2].startswith(f"{first_height}V")
    assert "V" not in lines["t4"]
    assert all(steps.area.endswith(f"V{drawing.zero}Z") for steps in drawing.settled)
    assert drawing.band == drawing.median == ""


def test_the_drawing_shades_the_hours_of_the_night_rate() -> None:
    # Monday noon UTC: it is night until 7 that day, then three times from 22 to 7, and on to the end of the drawing.
    drawing = drawing_of(sample_views.ordinary(), package="vork_4")
    hour = 1000 / 87
    assert [x / hour for x, _ in drawing.nights] == pytest.approx([0, 22, 46, 70], abs=0.02)
    assert [width / hour for _, width in drawing.nights] == pytest.approx([7, 9, 9, 9], abs=0.02)


def test_times_stand_below_their_hours_by_the_readers_clock() -> None:
    drawing = drawing_of(sample_views.ordinary())
    assert [tick.label for tick in drawing.hours[:5]] == ["00:00", "06:00", "12:00", "18:00", "00:00"]
    assert [tick.at for tick in drawing.hours[:5]] == pytest.approx([100 * i * 6 / 87 for i in range(5)], abs=0.02)


def test_a_single_hour_at_zero_can_be_drawn() -> None:
    drawing = drawing_of(make_view({HOUR: 0.0}))
    assert drawing.settled

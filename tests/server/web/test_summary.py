import re
from dataclasses import replace
from datetime import date
from itertools import accumulate
from statistics import fmean

import pytest

from tests.support import sample_views
from tests.support.api_server import HOUR, make_run, make_view
from tests.support.day_quotes import AUTUMN, SPRING
from tunnihind.api.served_data import Percentiles, ServedData
from tunnihind.market import DAY_S, HOUR_S, QUARTER_S, day_start
from tunnihind.settings import Settings
from tunnihind.web.options import PageOptions
from tunnihind.web.periods import PricedPeriod
from tunnihind.web.summary import Summary, summarise

NOW = HOUR + 612


def summary_of(view: ServedData, now: int = NOW, *, pipeline_expected: bool = True, **options: str) -> Summary:
    return summarise(view, now, Settings(), PageOptions.read(options), pipeline_expected=pipeline_expected)


def warnings(summary: Summary) -> list[str]:
    return [notice.text for notice in summary.notices if notice.is_warning]


def test_a_settled_price_stands_before_the_forecast_of_its_hour() -> None:
    summary = summary_of(make_view({HOUR + HOUR_S: 20.0}, make_run([50.0, 60.0])))
    periods = summary.days[0].periods
    assert [(period.ts, period.eur_mwh, period.settled is not None) for period in periods] == [
        (HOUR + HOUR_S, 20.0, True),
        (HOUR + 2 * HOUR_S, 60.0, False),
    ]


def test_with_nothing_known_the_reason_stands_in_the_place_of_the_price() -> None:
    summary = summary_of(ServedData("empty"))
    assert summary.is_empty
    assert summary.notices == ()
    assert (summary.current, summary.following, summary.grid, summary.drawing) == (None, None, (), None)
    assert summary.freshness == ()


def test_old_data_is_said_plainly_with_its_age() -> None:
    texts = " ".join(warnings(summary_of(sample_views.stale())))
    assert "forecast is 9 hours old" in texts
    assert "refreshed 9 hours ago" in texts


def test_a_missing_price_is_said_once() -> None:
    view = sample_views.stale()
    hour = HOUR // HOUR_S * HOUR_S
    assert summary_of(view).current is None  # the page says so in the price's place
    assert "market price is missing" not in " ".join(warnings(summary_of(view)))
    forecast = summary_of(replace(view, issued={hour: sample_views.percentiles(hour)}))
    assert forecast.current is not None
    assert "market price is missing" in " ".join(warnings(forecast))


def test_fresh_data_warns_of_nothing() -> None:
    assert warnings(summary_of(sample_views.ordinary())) == []


def test_a_server_without_a_pipeline_is_not_blamed_for_old_data() -> None:
    assert "refreshed" not in " ".join(warnings(summary_of(sample_views.stale(), pipeline_expected=False)))


@pytest.mark.parametrize(("minutes", "is_late"), [(15 * 60 + 29, False), (15 * 60 + 30, True)])
@pytest.mark.parametrize("tz", ["tallinn", "utc"])
def test_prices_of_tomorrow_are_due_and_after_half_past_three_late(minutes: int, is_late: bool, tz: str) -> None:
    midnight = day_start(date(2025, 12, 15)) - HOUR_S
    view = make_view({midnight + HOUR_S + i * HOUR_S: 5.0 for i in range(24)})
    summary = summary_of(view, midnight + minutes * 60, tz=tz)
    assert any("late" in text for text in warnings(summary)) is is_late
    assert summary.tomorrow_is_due is not is_late


def test_prices_of_tomorrow_that_are_there_are_not_late() -> None:
    evening = HOUR + 10 * HOUR_S
    for tz in ("tallinn", "utc"):
        summary = summary_of(sample_views.ordinary(evening), evening, tz=tz)
        assert warnings(summary) == []
        assert not summary.tomorrow_is_due


def test_the_current_hour_without_a_settled_price_shows_its_forecast() -> None:
    view = make_view({HOUR - HOUR_S: 1.0}, issued={HOUR: Percentiles(10.0, 20.0, 30.0)})
    current = summary_of(view).current
    assert current is not None
    assert (current.settled, current.eur_mwh, current.forecast) == (None, 20.0, (10.0, 20.0, 30.0))


@pytest.mark.parametrize(("day", "hours"), [(SPRING, 23), (AUTUMN, 25), (date(2025, 12, 15), 24)])
def test_a_day_has_as_many_hours_as_the_estonian_clock(day: date, hours: int) -> None:
    now = sample_views.noon_of(day)
    summary = summary_of(sample_views.ordinary(now), now)
    assert len(summary.days[0].periods) == hours
    assert sum(len(cells) for cells in summary.grid[0].clock_hours) == hours


@pytest.mark.parametrize(("day", "quarters"), [(SPRING, 92), (AUTUMN, 100), (date(2025, 12, 15), 96)])
def test_a_day_of_quarters_is_drawn_as_so_many_steps(day: date, quarters: int) -> None:
    now = sample_views.noon_of(day)
    summary = summary_of(sample_views.ordinary(now), now, period="quarter")
    assert len(summary.days[0].periods) == quarters
    assert summary.drawing is not None
    steps = [x for steps in summary.drawing.settled for x in re.findall(r"H([\d.]+)", steps.line)]
    end_of_day = 10 * summary.drawing.days[0].width
    assert sum(float(x) <= end_of_day + 0.1 for x in steps) == quarters


def test_the_present_hour_has_the_quarters_that_it_is_the_mean_of_where_they_are_known_by_themselves() -> None:
    view = sample_views.ordinary()
    summary = summary_of(view)
    assert summary.current is not None
    assert [period.eur_mwh for period in summary.quarters] == [
        sample_views.shaped(HOUR + i * QUARTER_S, sample_views.price(HOUR)) for i in range(4)
    ]
    assert fmean(period.eur_mwh for period in summary.quarters) == pytest.approx(summary.current.eur_mwh)
    by_hour = replace(view, known_by_hour=frozenset(HOUR + i * QUARTER_S for i in range(4)))
    assert summary_of(by_hour).quarters == summary_of(sample_views.stale()).quarters == ()
    by_quarter = summary_of(view, period="quarter")
    assert by_quarter.quarters == ()
    assert by_quarter.hour == replace(summary.current, forecast=None)
    assert summary.hour is summary_of(by_hour, period="quarter").hour is None


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
    assert told == [f"about {mean}" if i in {2, 3} else mean for i, mean in enumerate(means)]


def test_only_quarters_go_on_where_the_full_horizon_is_served() -> None:
    view, served_whole = sample_views.ordinary(), Settings(full_horizon=True)
    ends = {
        period: summarise(view, NOW, served_whole, PageOptions.read({"period": period})).days[-1].periods[-1].ts
        for period in ("hour", "quarter")
    }
    assert ends == {"hour": sample_views.LAST, "quarter": HOUR + 151 * HOUR_S - QUARTER_S}


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


def test_in_utc_days_begin_at_utc_midnight() -> None:
    periods = summary_of(sample_views.ordinary(), tz="utc").days[0].periods
    assert periods[0].ts % DAY_S == 0


def test_tints_part_the_hours_evenly_and_set_prices_below_zero_apart() -> None:
    cells = [cell for row in summary_of(sample_views.negative()).grid for cells in row.clock_hours for cell in cells]
    tints = [tint for cell in cells for tint in cell.tints if tint is not None]
    assert {cell.tints for cell in cells if cell.periods[0].eur_mwh < 0} == {(None,)}
    shares = [tints.count(tint) / len(tints) for tint in range(6)]
    assert all(share == pytest.approx(1 / 6, abs=0.03) for share in shares)


def test_the_wanted_score_window_is_shown_or_else_the_longest_there_is() -> None:
    view = sample_views.ordinary()
    assert [summary_of(view, score=days).score.days for days in ("7", "30", "90")] == [7, 30, 90]  # type: ignore[union-attr]
    short = ServedData("short", settled=view.settled, accuracy=view.accuracy[:1])
    assert summary_of(short, score="90").score.days == 7  # type: ignore[union-attr]
    assert summary_of(sample_views.without_forecast()).score is None


def points_of(path: str) -> list[tuple[float, int]]:
    """Return the points that a path joins, each of which is given by its way from the one before."""
    start, *ways = [pair.split() for pair in re.findall(r"-?[\d.]+ -?\d+", path)]
    return list(
        accumulate(
            ((float(x), int(y)) for x, y in ways),
            lambda point, way: (round(point[0] + way[0], 1), point[1] + way[1]),
            initial=(float(start[0]), int(start[1])),
        )
    )


def test_the_drawing_holds_all_of_the_band_and_zero() -> None:
    drawing = summary_of(sample_views.negative()).drawing
    assert drawing is not None
    ys = [y for _, y in points_of(drawing.band)]
    assert 0 <= min(ys) <= max(ys) <= 1000
    assert 0 < drawing.zero < 1000
    assert [tick.at for tick in drawing.prices if tick.label == "0"] == [pytest.approx(drawing.zero / 10)]
    assert all(0 <= tick.at <= 100 for tick in drawing.prices)


def test_no_forecast_is_drawn_where_the_price_is_published() -> None:
    hours = {HOUR + i * HOUR_S: 1.0 for i in range(3)}
    drawing = summary_of(make_view(hours, make_run([5.0] * 5, start=HOUR + HOUR_S))).drawing
    assert drawing is not None
    assert len(points_of(drawing.median)) == 3


def test_each_day_is_named_below_its_own_part_of_the_drawing() -> None:
    drawing = summary_of(sample_views.ordinary()).drawing
    assert drawing is not None
    assert [day.label for day in drawing.days] == ["Mon 15 Dec", "Tue 16 Dec", "Wed 17 Dec", "Thu 18 Dec"]
    ends = [day.at + day.width for day in drawing.days]
    assert [day.at for day in drawing.days] == pytest.approx([0, *ends[:-1]], abs=0.02)
    # The last day has 13 of the 85 hours, and after it there is room for two.
    assert ends[-1] == pytest.approx(100 * 85 / 87, abs=0.02)


def test_the_forecasts_end_is_drawn_at_the_end_of_its_last_hour() -> None:
    drawing = summary_of(sample_views.ordinary()).drawing
    assert drawing is not None
    start = HOUR - 12 * HOUR_S
    assert drawing.limit == pytest.approx(
        1000 * (sample_views.LAST + HOUR_S - start) / (sample_views.END - start), abs=0.1
    )


def test_each_price_is_drawn_in_the_colour_of_its_level_from_the_price_before_it() -> None:
    drawing = summary_of(make_view({HOUR: 1.0, HOUR + HOUR_S: 2.0, HOUR + 3 * HOUR_S: 3.0})).drawing
    assert drawing is not None
    lines = {steps.level: steps.line for steps in drawing.settled}
    assert list(lines) == ["very_low", "normal", "very_high"]
    # The second hour's line begins where the first one's ends; before the third an hour is missing.
    first_height = lines["very_low"].partition(" ")[2].partition("H")[0]
    assert lines["normal"].partition(" ")[2].startswith(f"{first_height}V")
    assert "V" not in lines["very_high"]
    assert all(steps.area.endswith(f"V{drawing.zero}Z") for steps in drawing.settled)
    assert drawing.band == drawing.median == ""
    assert drawing.limit is None


def test_the_drawing_shades_the_hours_of_the_night_rate() -> None:
    # Monday noon UTC: night until 7 that day, from 22 to 7 thrice, and on to the end of the drawing.
    drawing = summary_of(sample_views.ordinary()).drawing
    assert drawing is not None
    hour = 1000 / 87
    assert [night.x / hour for night in drawing.nights] == pytest.approx([0, 22, 46, 70], abs=0.02)
    assert [night.width / hour for night in drawing.nights] == pytest.approx([7, 9, 9, 9], abs=0.02)


def test_times_stand_below_their_hours_by_the_readers_clock() -> None:
    drawing = summary_of(sample_views.ordinary()).drawing
    assert drawing is not None
    assert [tick.label for tick in drawing.hours[:5]] == ["00:00", "06:00", "12:00", "18:00", "00:00"]
    assert [tick.at for tick in drawing.hours[:5]] == pytest.approx([100 * i * 6 / 87 for i in range(5)], abs=0.02)


def test_a_single_hour_at_zero_can_be_drawn() -> None:
    drawing = summary_of(make_view({HOUR: 0.0})).drawing
    assert drawing is not None
    assert drawing.settled


def test_an_hour_without_a_forecast_has_no_percentiles() -> None:
    with pytest.raises(ValueError, match="no forecast"):
        _ = PricedPeriod(HOUR, None, None).percentiles

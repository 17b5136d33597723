"""The tables: each day's prices and their likely ranges, and the calendar of hours."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, make_run, make_view
from tests.support.markets.day_quotes import AUTUMN, SPRING
from tests.support.pages import sample_views
from tests.support.pages.summaries import NOW, summary_of
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, day_start
from tunnihind.forecast.run import SCENARIO_COUNT, Run, Scenarios
from tunnihind.web.days import DaySummary
from tunnihind.web.scale import tint

MIDNIGHT = day_start(date(2025, 12, 15)) - HOUR_S
"""Midnight of the reader's today. The market's day begins an hour later."""


def days_of(view: ServedData, now: int = NOW, **options: str) -> tuple[DaySummary, ...]:
    return summary_of(view, now, pipeline_expected=True, **({"unit": "mwh", "vat": "none"} | options)).days


def hours(start: int, count: int, price: float = 1.0) -> dict[int, float]:
    return {start + i * HOUR_S: price for i in range(count)}


def paths(run: Run, eur_mwh: np.ndarray) -> Scenarios:
    return Scenarios(made_at=run.made_at, zone="ee", start_ts=run.start_ts, eur_mwh=eur_mwh)


def test_the_days_go_from_today_to_the_end_of_what_is_served() -> None:
    days = days_of(sample_views.ordinary())
    assert [(day.name, day.day.day) for day in days] == [("today", 15), ("tomorrow", 16), ("", 17), ("", 18)]
    assert [len(day.periods) for day in days] == [24, 24, 24, 13]


def test_a_day_has_the_cheapest_and_dearest_of_its_hours_that_have_not_passed() -> None:
    for day in days_of(sample_views.ordinary()):
        ahead = [period.eur_mwh for period in day.periods if period.ts >= HOUR]
        assert day.cheapest is not None
        assert day.most_expensive is not None
        assert (day.cheapest.eur_mwh, day.most_expensive.eur_mwh) == (min(ahead), max(ahead))


def test_a_day_by_quarters_has_its_cheapest_quarter_and_the_same_mean() -> None:
    by_hour, by_quarter = (days_of(sample_views.ordinary(), period=p)[2] for p in ("hour", "quarter"))
    assert by_hour.cheapest is not None
    assert by_hour.most_expensive is not None
    assert by_quarter.cheapest is not None
    assert by_quarter.most_expensive is not None
    assert by_quarter.cheapest.ts == by_hour.cheapest.ts
    assert by_quarter.cheapest.eur_mwh == pytest.approx(by_hour.cheapest.eur_mwh - 9)
    assert by_quarter.most_expensive.ts == by_hour.most_expensive.ts + 3 * QUARTER_S
    means = [sum(period.eur_mwh for period in day.periods) / len(day.periods) for day in (by_hour, by_quarter)]
    assert means[0] == pytest.approx(means[1], abs=0.01)


def test_a_day_says_what_its_prices_are_and_from_when_to_when() -> None:
    forecast = make_run([5.0] * 100, start=HOUR + HOUR_S)
    assert [(day.state, day.state_text) for day in days_of(make_view(hours(MIDNIGHT, 25), forecast))] == [
        ("settled", "published"),
        ("forecast", "forecast from 01:00"),
        ("forecast", "forecast"),
        ("forecast", "forecast until 01:00"),
    ]
    assert [day.state_text for day in days_of(make_view(hours(HOUR, 2)))] == ["published 12:00–14:00", "not known yet"]
    assert [day.state_text for day in days_of(make_view(hours(HOUR, 12)))] == ["published from 12:00", "not known yet"]
    assert days_of(make_view(hours(MIDNIGHT, 1), forecast))[0].state_text == "partly known"
    assert days_of(make_view(hours(HOUR + 2 * HOUR_S, 3), forecast))[0].state_text == "partly forecast"
    assert [day.state for day in days_of(ServedData("empty", ESTONIA))] == ["none", "none"]


@pytest.mark.parametrize("period", ["hour", "quarter"])
def test_a_day_of_which_one_hour_is_forecast_is_told_from_one_of_which_more_is(period: str) -> None:
    forecast = make_run([5.0] * 100, start=HOUR + HOUR_S)
    for published, has_only_one_hour in ((25, True), (26, False)):
        last = days_of(make_view(hours(MIDNIGHT, published), forecast), period=period)[-1]
        assert (last.day.day, last.has_only_one_hour) == (18, has_only_one_hour)


def test_hours_that_follow_each_other_and_are_of_one_kind_stand_together() -> None:
    days = days_of(make_view(hours(HOUR + 2 * HOUR_S, 3), make_run([5.0] * 12, start=HOUR + HOUR_S)))
    assert [(run[0].settled, len(run)) for run in days[0].price_groups] == [(None, 1), (1.0, 3), (None, 7)]
    assert [len(run) for run in days[1].price_groups] == [1]


def test_prices_that_are_forecasts_are_told_as_about_that_and_others_exactly() -> None:
    view = make_view(hours(MIDNIGHT, 25), make_run([5.0] * 72, start=HOUR + HOUR_S))
    summary = summary_of(view, unit="mwh", vat="none")
    today, tomorrow, *_ = summary.days
    assert today.cheapest is not None
    assert tomorrow.most_expensive is not None
    assert (summary.display.mean_price_with_about(today.periods), summary.display.price_with_about(today.cheapest)) == (
        "1.00",
        "1.00",
    )
    assert summary.display.mean_price_with_about(tomorrow.periods) == "about 5"
    assert summary.display.price_with_about(tomorrow.most_expensive) == "about 5"


def test_the_range_of_a_mean_is_that_of_the_price_paths_and_of_what_is_published() -> None:
    run = make_run([50.0] * 72, start=HOUR + HOUR_S)
    # All hours of a path have the same price, so the mean of a whole day of forecast is the path's price.
    prices = np.repeat(np.linspace(0, 190, SCENARIO_COUNT)[:, None], 72, axis=1)
    view = replace(make_view(hours(MIDNIGHT, 25, 100.0), run), scenarios=paths(run, prices))
    expected = [(100 + 23 * price) / 24 for price in (19.0, 171.0)]
    for period in ("hour", "quarter"):
        today, tomorrow, *_ = days_of(view, period=period)
        assert today.mean_range is None, "all of it is published"
        assert tomorrow.mean_range == pytest.approx(expected)


@pytest.mark.parametrize("period", ["hour", "quarter"])
def test_cheapest_hours_are_those_of_each_path_with_each_hours_fees(period: str) -> None:
    run = make_run([50.0] * 72, start=HOUR + HOUR_S)
    prices = np.random.default_rng(1).normal(60, 40, (SCENARIO_COUNT, 72)).round(2)
    view = replace(make_view(hours(MIDNIGHT, 25, 100.0), run), scenarios=paths(run, prices))
    summary = summary_of(view, period=period, package="vork_4")
    display, known = summary.display, set(hours(MIDNIGHT, 25))
    on_paths = [
        {
            ts: display.shown_amount(100.0 if ts in known else price, ts)
            for ts, price in zip(run.starts(), path, strict=True)
        }
        for path in prices.tolist()
    ]
    assert len({round(path[ts] - path[HOUR + HOUR_S], 6) for path in on_paths[:1] for ts in known if ts > HOUR}) == 2
    today, tomorrow, *later = summary.cheapest_hours.items()
    assert [day.day for day, _ in (today, tomorrow, *later)] == [15, 16, 17]
    for day, by_count in (today, tomorrow, *later):
        ahead = [ts for ts in run.starts() if display.local_day(ts) == day]
        assert len(by_count) == 8
        for count, price in enumerate(by_count, 1):
            means = [sum(sorted(path[ts] for ts in ahead)[:count]) / count for path in on_paths]
            assert price == pytest.approx(np.quantile(means, (0.1, 0.5, 0.9)))
    assert today[1][2].p10 == today[1][2].p90, "all of it is published"
    assert display.cheapest_price_text(today[1][2]) == display.texts.number(today[1][2].p50, 2)
    assert display.cheapest_price_text(tomorrow[1][2]).startswith("about ")


@given(st.lists(st.lists(st.floats(-50, 400), min_size=72, max_size=72), min_size=1, max_size=4))
def test_the_range_of_a_mean_holds_it_and_lies_between_the_means_of_the_lowest_and_highest_paths(
    rows: list[list[float]],
) -> None:
    run = make_run([50.0] * 72, start=HOUR + HOUR_S)
    prices = np.array([rows[i % len(rows)] for i in range(SCENARIO_COUNT)]).round(2)
    view = replace(make_view(hours(MIDNIGHT, 25), run), scenarios=paths(run, prices))
    first = (MIDNIGHT + 25 * HOUR_S - run.start_ts) // HOUR_S
    means = [(1.0 + sum(path[first : first + 23])) / 24 for path in prices]
    bounds = days_of(view)[1].mean_range
    assert bounds is not None
    told = (1.0 + 23 * 50.0) / 24
    assert bounds[0] <= told + 0.01
    assert bounds[1] >= told - 0.01
    assert min(*means, told) - 0.01 <= bounds[0] <= bounds[1] <= max(*means, told) + 0.01


def test_without_price_paths_the_range_of_a_mean_is_that_of_the_bounds_of_its_hours() -> None:
    day = days_of(sample_views.ordinary())[2]
    intervals = [period.percentiles for period in day.periods if period.settled is None]
    published = [period.settled for period in day.periods if period.settled is not None]
    low, high = ((sum(published) + sum(i[bound] for i in intervals)) / 24 for bound in (0, 2))
    assert day.mean_range == pytest.approx((low, high), abs=0.01)


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

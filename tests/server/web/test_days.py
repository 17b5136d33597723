"""The table by day: each day's prices, and their likely ranges."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, make_run, make_view
from tests.support.markets.day_quotes import AUTUMN, SPRING
from tests.support.pages import sample_views
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, day_start
from tunnihind.forecast.run import SCENARIO_COUNT, Run, Scenarios
from tunnihind.settings import Settings
from tunnihind.web.days import DaySummary
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import DashboardSummary, summarise_dashboard

NOW = HOUR + 612
MIDNIGHT = day_start(date(2025, 12, 15)) - HOUR_S
"""Midnight of the reader's today. The market's day begins an hour later."""


def summary_of(view: ServedData, now: int = NOW, **options: str) -> DashboardSummary:
    return summarise_dashboard(view, now, Settings(), PageOptions.read({"unit": "mwh", "vat": "none"} | options))


def days_of(view: ServedData, now: int = NOW, **options: str) -> tuple[DaySummary, ...]:
    return summary_of(view, now, **options).days


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


@pytest.mark.parametrize("day", [SPRING, AUTUMN])
def test_a_day_of_another_length_is_whole_too(day: date) -> None:
    now = sample_views.noon_of(day)
    assert days_of(sample_views.ordinary(now), now)[0].state_text == "published"


def test_prices_that_are_forecasts_are_told_as_about_that_and_others_exactly() -> None:
    summary = summary_of(make_view(hours(MIDNIGHT, 25), make_run([5.0] * 72, start=HOUR + HOUR_S)))
    today, tomorrow, *_ = summary.days
    assert today.cheapest is not None
    assert tomorrow.most_expensive is not None
    assert (summary.display.mean_price_with_about(today.periods), summary.display.price_with_about(today.cheapest)) == (
        "1.00",
        "1.00",
    )
    assert summary.display.mean_price_with_about(tomorrow.periods) == "about 5"
    assert summary.display.price_with_about(tomorrow.most_expensive) == "about 5"


def test_a_published_day_has_no_range_and_one_with_a_forecast_has() -> None:
    today, tomorrow, *_ = days_of(make_view(hours(MIDNIGHT, 25), make_run([5.0] * 72, start=HOUR + HOUR_S)))
    assert today.mean_range is None
    assert tomorrow.mean_range is not None


def test_the_range_of_a_mean_is_that_of_the_price_paths_and_of_what_is_published() -> None:
    run = make_run([50.0] * 72, start=HOUR + HOUR_S)
    # All hours of a path have the same price, so the mean of a whole day of forecast is the path's price.
    prices = np.repeat(np.linspace(0, 190, SCENARIO_COUNT)[:, None], 72, axis=1)
    view = replace(make_view(hours(MIDNIGHT, 25, 100.0), run), scenarios=paths(run, prices))
    expected = [(100 + 23 * price) / 24 for price in (19.0, 171.0)]
    for period in ("hour", "quarter"):
        assert days_of(view, period=period)[1].mean_range == pytest.approx(expected)


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

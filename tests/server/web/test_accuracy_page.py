"""The page of accuracy: its figures, and its texts after few scores."""

import re
from dataclasses import replace
from datetime import date
from itertools import pairwise
from math import isnan

import pytest

from tests.support.api.api_server import Serve
from tests.support.pages import sample_views
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA
from tunnihind.forecast.scoring.live_scores import (
    MonthScores,
    ScoresByMonth,
    WindowScores,
)
from tunnihind.web.accuracy_page import AccuracyFigures, AccuracySummary, scored_days, summarise_accuracy
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import PageContext
from tunnihind.web.texts import texts_in


def summary_of(data: ServedData, **options: str) -> AccuracySummary:
    chosen = PageOptions.read(options)
    return summarise_accuracy(data, chosen, texts_in(chosen.lang))


def with_months(count: int) -> ServedData:
    months = [f"{2024 + n // 12}-{n % 12 + 1:02}" for n in range(count)]
    issued = tuple(MonthScores(month, sample_views.window(30)) for month in months)
    return replace(sample_views.ordinary(), monthly_scores=ScoresByMonth(issued=issued))


def test_months_come_newest_first_with_the_figures_of_the_chosen_days_ahead() -> None:
    summary = summary_of(sample_views.ordinary(), ahead="7")
    assert [*summary.months] == [date(2025, month, 1) for month in range(12, 0, -1)]
    scores = sample_views.window(30, 12)
    newest = next(iter(summary.months.values()))
    assert newest.error.forecast == scores.by_days_ahead[7].mae
    assert newest.error.baseline == scores.by_days_ahead[7].baseline_mae
    assert newest.error.seven_day_mean == scores.seven_day_mean_mae[7]
    assert newest.saving_share.forecast == scores.decisions.by_days_ahead[7][4].share
    assert newest.boiler_saving.forecast == pytest.approx(
        scores.decisions.by_days_ahead[7][3].forecast * 9 * 365 / 1000
    )
    assert summary.years == (2025,)
    assert summary.recent_figures is not None
    assert summary.recent_figures.days == 30


@pytest.mark.parametrize(
    ("lang", "days", "heading"),
    [
        ("en", 3, "The last 3 days"),
        ("et", 3, "Viimased 3 päeva"),
        ("ru", 3, "За последние 3 дня"),
        ("en", 1, "The last day"),
    ],
)
async def test_a_young_server_tells_of_the_days_it_has_scored(serve: Serve, lang: str, days: int, heading: str) -> None:
    """The window has more days than the server has scored."""
    young = replace(sample_views.window(days), days=90)
    server = await serve(replace(sample_views.ordinary(), recent_scores=(young,)))
    assert f">{heading}</h2>" in (await server.ask(f"/accuracy?lang={lang}")).body.decode()


@pytest.mark.parametrize(("lang", "wind"), [("en", "0.93 <small>0.3 m/s"), ("et", "0,93 <small>0,3 m/s")])
async def test_the_page_says_how_good_the_weather_forecasts_were(serve: Serve, lang: str, wind: str) -> None:
    page = (await (await serve(sample_views.ordinary())).ask(f"/accuracy?lang={lang}")).body.decode()
    _, _, section = page.partition('id="weather-title"')
    rows = re.findall(r'<tr><th scope="row">(\d)</th>(.*?)</tr>', section)
    assert [days for days, _ in rows[:7]] == ["1", "2", "3", "4", "5", "6", "7"]
    assert rows[0][1].startswith(f"<td>{wind}</small>")
    assert rows[6][1].startswith("<td>–</td>")


async def test_without_scored_weather_the_page_is_silent_about_it(serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), page_context=PageContext)
    assert "weather-title" not in (await server.ask("/accuracy")).body.decode()


@pytest.mark.parametrize(
    ("hours", "days"), [(0, 0), (5, 1), (23, 1), (25, 1), (29 * 24 + 23, 30), (6 * 24 + 25, 7), (90 * 24, 90)]
)
def test_short_and_long_days_count_as_one_scored_day(hours: int, days: int) -> None:
    assert scored_days(hours) == days


@pytest.mark.parametrize("count", [1, 5, 24])
def test_bars_and_labels_stay_within_the_plot(count: int) -> None:
    summary = summary_of(with_months(count))
    assert [chart.name for chart in summary.charts] == ["saving", "error", "range"]
    for chart in summary.charts:
        assert len(chart.bars) == count * (1 if chart.name == "range" else 3)
        assert len(chart.labels) <= 4
        for bar in chart.bars:
            assert 0 <= bar.x < bar.x + bar.width <= 1000
            assert 0 <= bar.y <= bar.y + bar.height <= 1000.1
        for label in chart.labels:
            assert 0 <= label.at < label.at + label.width <= 100.01
        # All bars have the same width, and a single month is not stretched over the chart.
        assert len({bar.width for bar in chart.bars}) == 1
        assert chart.bars[0].width < 150
        # Bars are in order from left to right, and none covers another.
        edges = [(bar.x, bar.x + bar.width) for bar in chart.bars]
        assert all(end <= start for (_, end), (start, _) in pairwise(edges))
    assert summary.charts[2].target == 200.0


def test_the_errors_axis_ends_at_a_round_number_above_all_bars() -> None:
    [_, errors, _] = summary_of(sample_views.ordinary()).charts
    assert [tick.label for tick in errors.ticks] == ["0.0", "2.0", "4.0", "6.0", "8.0", "10.0"]
    assert [tick.at for tick in errors.ticks] == [100, 80, 60, 40, 20, 0]


def test_a_share_below_zero_has_no_bar_and_is_in_the_table() -> None:
    window = sample_views.window(30)
    plans = {
        lead: {hours: replace(plan, forecast=-5.0) for hours, plan in of_lead.items()}
        for lead, of_lead in window.decisions.by_days_ahead.items()
    }
    worse = replace(window, decisions=replace(window.decisions, by_days_ahead=plans))
    summary = summary_of(
        ServedData("1", ESTONIA, monthly_scores=ScoresByMonth(issued=(MonthScores("2025-01", worse),)))
    )
    assert summary.charts[0].bars[0].height == 0
    assert next(iter(summary.months.values())).saving_share.forecast < 0


def test_before_the_first_scores_the_backtest_is_shown_one_day_ahead() -> None:
    summary = summary_of(sample_views.before_the_first_scores(), ahead="5")
    assert (summary.is_backtest, summary.recent_figures, summary.years) == (True, None, ())
    scored = sample_views.before_the_first_scores().monthly_scores.backtest
    assert [*summary.months.values()] == [AccuracyFigures.of(month.scores, 1) for month in reversed(scored)]


def test_months_without_a_scored_hour_at_that_distance_are_left_out() -> None:
    nothing = WindowScores.of(3, [])
    scored = ScoresByMonth(issued=(MonthScores("2025-01", nothing), MonthScores("2025-02", sample_views.window(20))))
    summary = summary_of(ServedData("1", ESTONIA, monthly_scores=scored))
    assert [first.month for first in summary.months] == [2]
    only = summary_of(ServedData("1", ESTONIA, monthly_scores=ScoresByMonth(issued=(MonthScores("2025-01", nothing),))))
    assert (only.months, only.charts, only.is_backtest) == ({}, (), False)


def test_windows_of_an_older_version_show_errors_and_no_savings() -> None:
    old = replace(sample_views.window(30), seven_day_mean_mae={}, decisions=WindowScores.of(0, []).decisions)
    summary = summary_of(replace(sample_views.ordinary(), recent_scores=(old,)))
    assert summary.recent_figures is not None
    assert isnan(summary.recent_figures.saving_share.forecast)
    assert summary.week_saving_share is None


def test_an_empty_server_has_nothing_to_show() -> None:
    summary = summary_of(ServedData("empty", ESTONIA))
    assert (summary.months, summary.charts, summary.recent_figures, summary.is_backtest) == ({}, (), None, False)


@pytest.mark.parametrize(("lang", "percent"), [("en", "81%"), ("et", "81%"), ("ru", "81%")])
async def test_the_page_shows_figures_charts_and_where_the_data_is(serve: Serve, lang: str, percent: str) -> None:
    server = await serve(sample_views.ordinary())
    html = (await server.ask(f"/accuracy?lang={lang}")).body.decode()
    assert percent in html
    assert html.count('role="img"') == 3
    assert 'href="api/v1/accuracy?format=csv"' in html
    assert 'href="api/v1/accuracy?format=csv&amp;year=2025"' in html
    assert "nan" not in html
    assert ">inf" not in html


async def test_the_page_says_that_it_shows_a_backtest(serve: Serve) -> None:
    html = (await (await serve(sample_views.before_the_first_scores())).ask("/accuracy")).body.decode()
    assert "No forecast of this server has been scored yet" in html
    assert html.count('role="img"') == 3
    assert "ahead=2" not in html


async def test_while_nothing_is_scored_so_far_ahead_other_days_can_be_chosen(serve: Serve) -> None:
    whole, nothing = sample_views.window(30), WindowScores.of(0, []).overall
    near = replace(whole, by_days_ahead=dict.fromkeys(range(1, 8), nothing) | {1: whole.by_days_ahead[1]})
    data = replace(
        sample_views.ordinary(),
        recent_scores=(near,),
        monthly_scores=ScoresByMonth(issued=(MonthScores("2025-12", near),)),
    )
    html = (await (await serve(data)).ask("/accuracy?ahead=7")).body.decode()
    assert "No forecast has been scored yet" in html
    assert ">1</a>" in html
    assert "ahead=7" in html

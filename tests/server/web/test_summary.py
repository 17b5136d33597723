"""The dashboard's summary."""

from datetime import date

import pytest

from tests.support.api.api_server import HOUR, make_run, make_view
from tests.support.markets.day_quotes import AUTUMN, SPRING
from tests.support.pages import sample_views
from tests.support.pages.summaries import NOW, summary_of
from tunnihind.api.served_data import Percentiles, ServedData
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S
from tunnihind.settings import Settings
from tunnihind.web.display import PricedPeriod
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import summarise_dashboard


def test_a_settled_price_stands_before_the_forecast_of_its_hour() -> None:
    summary = summary_of(make_view({HOUR + HOUR_S: 20.0}, make_run([50.0, 60.0])))
    periods = summary.days[0].periods
    assert [(period.ts, period.eur_mwh, period.settled is not None) for period in periods] == [
        (HOUR + HOUR_S, 20.0, True),
        (HOUR + 2 * HOUR_S, 60.0, False),
    ]


def test_with_nothing_known_the_reason_stands_in_the_place_of_the_price() -> None:
    summary = summary_of(ServedData("empty", ESTONIA))
    assert summary.no_prices_explanation
    assert summary.notices == ()
    assert (summary.current, summary.next_period, summary.calendar, summary.drawing) == (None, None, (), None)
    assert summary.freshness == ()


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
    assert sum(len(cells) for cells in summary.calendar[0].local_hours) == hours


def test_all_of_the_forecast_is_shown_where_the_full_horizon_is_served() -> None:
    view, served_whole = sample_views.ordinary(), Settings(full_horizon=True)
    by_hour, by_quarter = (
        summarise_dashboard(view, NOW, served_whole, PageOptions.read({"period": period}))
        for period in ("hour", "quarter")
    )
    assert by_hour.days[-1].periods[-1].ts == HOUR + 150 * HOUR_S
    assert by_quarter.days[-1].periods[-1].ts == HOUR + 151 * HOUR_S - QUARTER_S
    # `/api/series` has only public hours, so the page gives the other hours to its script.
    assert [hour["ts"] for hour in by_hour.beyond_window] == list(
        range(sample_views.LAST + HOUR_S, HOUR + 151 * HOUR_S, HOUR_S)
    )
    assert by_quarter.beyond_window == summary_of(view).beyond_window == ()


def test_in_utc_days_begin_at_utc_midnight() -> None:
    periods = summary_of(sample_views.ordinary(), tz="utc").days[0].periods
    assert periods[0].ts % DAY_S == 0


@pytest.mark.parametrize("period", ["hour", "quarter"])
def test_the_small_view_has_the_same_price_and_drawing_and_nothing_that_it_does_not_show(period: str) -> None:
    view = sample_views.ordinary()
    whole, small = (summary_of(view, period=period, embed=embed) for embed in ("0", "1"))
    assert (small.current, small.next_period, small.levels) == (whole.current, whole.next_period, whole.levels)
    assert small.drawing == whole.drawing
    assert whole.outlook
    assert whole.days
    assert whole.calendar
    assert (small.outlook, small.days, small.calendar) == ((), (), ())


def test_the_present_price_has_the_word_and_the_colour_of_the_last_30_days_and_its_level_of_today() -> None:
    day = HOUR - HOUR % DAY_S
    cheap_days = {ts: 20.0 + ts // HOUR_S % 24 for ts in range(day - 9 * DAY_S, day, HOUR_S)}
    expensive, cheap = ({day + i * HOUR_S: price + i for i in range(24)} for price in (900.0, 1.0))
    said = [
        (view.word, view.tint, view.levels[HOUR])
        for view in map(
            summary_of,
            (make_view(cheap_days | expensive), make_view(cheap_days | cheap | {HOUR: 7.9}), make_view({HOUR: 900.0})),
        )
    ]
    assert said == [("t4", "t4", "normal"), ("free", "t0", "low"), (None, None, "normal")]


def test_an_hour_without_a_forecast_has_no_percentiles() -> None:
    with pytest.raises(ValueError, match="no forecast"):
        _ = PricedPeriod(HOUR, None, None).percentiles

"""The page's notices about missing, old or late data."""

from dataclasses import replace
from datetime import date

import pytest

from tests.support.api.api_server import HOUR, make_run, make_view, with_series
from tests.support.pages import sample_views
from tests.support.pages.summaries import summary_of
from tests.support.store.stores import HELD
from tunnihind.core.market import HOUR_S, day_start
from tunnihind.web.summary import DashboardSummary


def warnings(summary: DashboardSummary) -> list[str]:
    return [notice.text for notice in summary.notices if notice.is_warning]


def test_old_data_is_said_plainly_with_its_age() -> None:
    texts = " ".join(warnings(summary_of(sample_views.stale())))
    assert "forecast is 9 h old" in texts
    assert "refreshed 9 h ago" in texts


@pytest.mark.parametrize(("age_s", "is_old"), [(3 * HOUR_S, False), (3 * HOUR_S + 1, True)])
def test_a_forecast_is_called_old_after_three_hours(age_s: int, *, is_old: bool) -> None:
    view = make_view({HOUR: 5.0}, make_run([5.0] * 48, made_at=HOUR - age_s), last_refresh=HOUR)
    assert any("forecast is" in text for text in warnings(summary_of(view, HOUR))) is is_old


def test_a_missing_price_is_said_once() -> None:
    view = sample_views.stale()
    hour = HOUR // HOUR_S * HOUR_S
    assert summary_of(view).current is None  # the page says so in place of the price
    assert "market price is missing" not in " ".join(warnings(summary_of(view)))
    forecast = summary_of(with_series(view, issued={hour: sample_views.percentiles(hour)}))
    assert forecast.current is not None
    assert "market price is missing" in " ".join(warnings(forecast))


def test_fresh_data_warns_of_nothing() -> None:
    assert warnings(summary_of(sample_views.ordinary())) == []


def test_a_server_without_a_pipeline_is_not_blamed_for_old_data() -> None:
    assert "refreshed" not in " ".join(warnings(summary_of(sample_views.stale(), pipeline_expected=False)))


@pytest.mark.parametrize(("minutes", "is_late"), [(15 * 60 + 29, False), (15 * 60 + 30, True)])
@pytest.mark.parametrize("tz", ["local", "utc"])
def test_prices_of_tomorrow_are_due_and_after_half_past_three_late(minutes: int, is_late: bool, tz: str) -> None:
    midnight = day_start(date(2025, 12, 15)) - HOUR_S
    view = make_view({midnight + HOUR_S + i * HOUR_S: 5.0 for i in range(24)})
    summary = summary_of(view, midnight + minutes * 60, tz=tz)
    assert any("late" in text for text in warnings(summary)) is is_late
    assert summary.tomorrow_is_due is not is_late


@pytest.mark.parametrize(
    ("reason", "is_settled", "told"),
    [
        ("disagreement", False, "Tue 16 Dec: two sources give different prices. Until it is clear"),
        ("off", False, "Tue 16 Dec: the prices that came look wrong"),
        ("incomplete", False, "Tomorrow's prices are late"),
        ("disagreement", True, "Tue 16 Dec: two sources give different prices. This page shows the prices of one"),
        ("off", True, None),
    ],
)
def test_why_prices_of_tomorrow_are_held_back_is_said(reason: str, *, is_settled: bool, told: str | None) -> None:
    today, tomorrow = date(2025, 12, 15), date(2025, 12, 16)
    start, evening = day_start(today), day_start(today) + 18 * HOUR_S
    view = replace(
        make_view({start + hour * HOUR_S: 5.0 for hour in range(48 if is_settled else 24)}),
        held=(replace(HELD, day=tomorrow, reason=reason), replace(HELD, day=tomorrow, zone="fi", reason="zeros")),
        unconfirmed={("ee", tomorrow): "elering"} if is_settled else {},
    )
    found = [text for text in warnings(summary_of(view, evening)) if " h " not in text]
    assert [text.startswith(told or "") for text in found] == ([True] if told else [])


def test_prices_of_tomorrow_that_are_there_are_not_late() -> None:
    evening = HOUR + 10 * HOUR_S
    for tz in ("local", "utc"):
        summary = summary_of(sample_views.ordinary(evening), evening, tz=tz)
        assert warnings(summary) == []
        assert not summary.tomorrow_is_due

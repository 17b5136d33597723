"""What the dashboard says of the accuracy of the forecasts."""

from tests.support.api.api_server import hours_view
from tests.support.pages import sample_views
from tests.support.pages.summaries import summary_of


def test_the_wanted_score_window_is_shown_or_else_the_longest_there_is() -> None:
    view = sample_views.ordinary()
    assert [summary_of(view, score=days).score.window.days for days in ("7", "30", "90")] == [7, 30, 90]  # type: ignore[union-attr]
    short = hours_view("short", view.hours.settled, accuracy=view.accuracy[:1])
    assert summary_of(short, score="90").score.window.days == 7  # type: ignore[union-attr]
    assert summary_of(sample_views.without_forecast()).score is None

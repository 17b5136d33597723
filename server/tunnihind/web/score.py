"""What the dashboard says of the accuracy of the forecasts: the scores of the last days; pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from tunnihind.api.accuracy import accuracy_response
from tunnihind.api.models.accuracy import AccuracyWindow
from tunnihind.api.served_data import ServedData
from tunnihind.web.accuracy import DAY_PLAN_HOURS, days_scored
from tunnihind.web.options import PageOptions


@dataclass(frozen=True, slots=True)
class Score:
    """The scores over a window, and over how many of its delivery days there are any.

    `caught` is the share of the possible saving that the forecast's cheapest hours of a day caught, by days ahead,
    where it is known.
    """

    window: AccuracyWindow
    days: int
    caught: Mapping[int, float]


def score(data: ServedData, now: int, options: PageOptions) -> Score | None:
    """Return the scores of the window that the reader wants, or else of the longest there is; None without any."""
    windows = [window for window in accuracy_response(data, now).windows if window.overall.n]
    if not windows:
        return None
    window = next((one for one in windows if one.days == int(options.score)), windows[-1])
    return Score(window, days_scored(max(ahead.n for ahead in window.by_days_ahead)), _caught(window))


def _caught(window: AccuracyWindow) -> Mapping[int, float]:
    return {
        ahead.days_ahead: plans.share
        for ahead in window.decisions.by_days_ahead
        for plans in ahead.plans
        if plans.hours == DAY_PLAN_HOURS and plans.share is not None
    }

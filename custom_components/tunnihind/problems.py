"""What can be wrong with the prices, judged by the ages that the answers themselves tell."""

from datetime import time
from enum import StrEnum
from typing import Final

from .prices.days import Day, instant_of
from .prices.timeline import HOUR_S
from .view import View

MINUTE_S: Final = 60

# A poll or two may be lost without anybody having to know.
UNREACHABLE_S: Final = 15 * MINUTE_S
# Nobody should have to mend what a reboot of the server or of the router mends by itself.
UNREACHABLE_FOR_LONG_S: Final = 2 * HOUR_S
# A server's answer is made anew with every hour; one that is older comes from a cache before a dead server.
ANSWER_LIFE_S: Final = HOUR_S
# The market publishes at about 14:00 Estonian time, and by its own rules at the latest within the next hour and a half.
PUBLISHED_BY: Final = time(15, 30)
# The forecast is made anew every hour.
FORECAST_LIFE_S: Final = 6 * HOUR_S


class Problem(StrEnum):
    """Why the prices are not what they should be."""

    SERVER_UNREACHABLE = "server_unreachable"
    PRICES_LATE = "prices_late"
    FORECAST_STALE = "forecast_stale"
    FORECAST_MISSING = "forecast_missing"
    NO_PRICE = "no_price"


def problems(view: View, *, heard_at: int) -> list[Problem]:
    """Return what is wrong now. `heard_at` is when the server last answered, UTC seconds.

    As long as the server is out of reach nothing can be said of the market or of the forecast.
    """
    found = _old(view) if silence_s(view, heard_at=heard_at) < UNREACHABLE_S else [Problem.SERVER_UNREACHABLE]
    return found if view.hour else [*found, Problem.NO_PRICE]


def silence_s(view: View, *, heard_at: int) -> int:
    """Return for how long nothing new has come from the server, caches in between notwithstanding."""
    return view.now - min(heard_at, view.answer.now + ANSWER_LIFE_S)


def _old(view: View) -> list[Problem]:
    late = Problem.PRICES_LATE if _prices_are_late(view) else None
    missing = Problem.FORECAST_MISSING if _forecast_is_missing(view) else None
    stale = Problem.FORECAST_STALE if _forecast_is_stale(view) and not missing else None
    return [problem for problem in (late, stale, missing) if problem]


def _prices_are_late(view: View) -> bool:
    return (view.timeline.settled_until or 0) < _published_day(view).end


def _published_day(view: View) -> Day:
    """Return the newest day whose prices should be known."""
    return view.tomorrow if view.now >= instant_of(view.today.date, PUBLISHED_BY) else view.today


def _forecast_is_missing(view: View) -> bool:
    """Look for hours that have not begun: of those that have, forecasts are kept here."""
    return max(view.answer.forecast, default=view.now) <= view.now


def _forecast_is_stale(view: View) -> bool:
    """Judge a forecast that there is: a server may have none."""
    return view.answer.made_at is not None and view.now - view.answer.made_at > FORECAST_LIFE_S

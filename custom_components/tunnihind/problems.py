"""What can be wrong with the prices, judged by the ages that the answers themselves tell."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import Final

from .prices.days import Day, instant_of
from .prices.timeline import HOUR_S
from .prices_now import View

MINUTE_S: Final = 60

# A poll or two may be lost without anybody having to know.
UNREACHABLE_S: Final = 15 * MINUTE_S
# Nobody should have to mend what a reboot of the server or of the router mends by itself.
UNREACHABLE_FOR_LONG_S: Final = 2 * HOUR_S
# A server's answer is made anew with every hour; one that is older comes from a cache before a dead server.
ANSWER_LIFE_S: Final = HOUR_S
# The market publishes at about 14:00 Estonian time, and by its own rules at the latest within the next hour and a half.
PUBLISHED_BY: Final = time(15, 30)
# The server makes a forecast every hour, and calls its data stale after the same time.
FORECAST_LIFE_S: Final = 3 * HOUR_S
# A clock that is off by less shows the same day and hour, or the next one.
CLOCK_OFF_S: Final = HOUR_S


class Problem(StrEnum):
    """Why the prices are not what they should be."""

    SERVER_UNREACHABLE = "server_unreachable"
    PRICES_LATE = "prices_late"
    FORECAST_STALE = "forecast_stale"
    FORECAST_MISSING = "forecast_missing"
    HISTORY_MISSING = "history_missing"
    SERVER_CLOCK = "server_clock"
    SERVER_IS_REHEARSAL = "server_is_rehearsal"
    REHEARSAL_OVER = "rehearsal_over"
    NO_PRICE = "no_price"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """How it stands with the server. Instants are UTC seconds by the entry's clock.

    The server last answered at `heard_at`, 0 when it never did, and last made its answer anew at `told_at`. Its clock
    is `clock_ahead_s` ahead of the entry's. `not_of_its_kind` is the problem where a rehearsal answers in place of a
    live server, or the other way round.
    """

    heard_at: int
    told_at: int
    clock_ahead_s: int
    is_history_missing: bool
    not_of_its_kind: Problem | None

    def silence_s(self, now: int) -> int:
        """Return for how long nothing new has come from the server, caches in between notwithstanding."""
        return now - min(self.heard_at, self.told_at + ANSWER_LIFE_S)


def problems(view: View, contact: Contact) -> list[Problem]:
    """Return what is wrong now.

    As long as the server is out of reach, or is another one, nothing can be said of the market or of the forecast.
    """
    if contact.silence_s(view.now) >= UNREACHABLE_S:
        found = [Problem.SERVER_UNREACHABLE]
    elif contact.not_of_its_kind:
        found = [contact.not_of_its_kind]
    else:
        found = list(_of_data(view, contact))
    return found if view.current else [*found, Problem.NO_PRICE]


def _of_data(view: View, contact: Contact) -> Iterator[Problem]:
    if abs(contact.clock_ahead_s) > CLOCK_OFF_S:
        yield Problem.SERVER_CLOCK
    if _prices_are_late(view):
        yield Problem.PRICES_LATE
    if _forecast_is_missing(view):
        yield Problem.FORECAST_MISSING
    elif _forecast_is_stale(view, contact.clock_ahead_s):
        yield Problem.FORECAST_STALE
    if contact.is_history_missing:
        yield Problem.HISTORY_MISSING


def _prices_are_late(view: View) -> bool:
    return (view.timeline.settled_until or 0) < _published_day(view).end


def _published_day(view: View) -> Day:
    """Return the newest day whose prices should be known."""
    return view.tomorrow if view.now >= instant_of(view.today.date, PUBLISHED_BY) else view.today


def _forecast_is_missing(view: View) -> bool:
    """Look for hours that have not begun: of those that have, forecasts are kept here."""
    return max(view.answer.forecast, default=view.now) <= view.now


def _forecast_is_stale(view: View, clock_ahead_s: int) -> bool:
    """Judge a forecast that there is, by the clock of the server that made it: a server may have none."""
    made_at = view.answer.made_at
    return made_at is not None and view.now + clock_ahead_s - made_at > FORECAST_LIFE_S

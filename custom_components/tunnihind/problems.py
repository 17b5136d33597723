"""What can be wrong with the prices, judged by the ages that the answers give."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import Final

from .prices.days import Day, instant_of
from .prices.timeline import HOUR_S
from .prices_now import PricesNow

MINUTE_S: Final = 60

# A lost poll or two is no problem.
UNREACHABLE_S: Final = 15 * MINUTE_S
# A reboot of the server or the router needs no repair notice.
UNREACHABLE_FOR_LONG_S: Final = 2 * HOUR_S
# A server makes a new answer every hour. An older one comes from a cache in front of a dead server.
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
    QUARTERS_MISSING = "quarters_missing"
    SERVER_CLOCK = "server_clock"
    SERVER_IS_REHEARSAL = "server_is_rehearsal"
    REHEARSAL_OVER = "rehearsal_over"
    RATE_MISSING = "rate_missing"
    NO_PRICE = "no_price"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """When the server last answered, and how. Instants are UTC seconds by the entry's clock.

    `answered_at` is when the last answer came, 0 if none ever did; `answer_made_at` is when the server made it. The
    server's clock is `clock_ahead_s` ahead of the entry's. `are_quarters_missing` where the household is billed or paid
    by the quarter and the server has hours only. `wrong_mode` is the problem where a rehearsal answers in place of a
    live server, or the other way round.
    """

    answered_at: int
    answer_made_at: int
    clock_ahead_s: int
    is_history_missing: bool
    are_quarters_missing: bool
    wrong_mode: Problem | None

    def silence_s(self, now: int) -> int:
        """Return for how long nothing new has come from the server itself: a cache may still answer for it."""
        return now - min(self.answered_at, self.answer_made_at + ANSWER_LIFE_S)


def problems(prices: PricesNow, contact: Contact) -> list[Problem]:
    """Return what is wrong now.

    While the server is out of reach, or is another one, nothing can be said about the market or the forecast.
    """
    if contact.silence_s(prices.now) >= UNREACHABLE_S:
        found = [Problem.SERVER_UNREACHABLE]
    elif contact.wrong_mode:
        found = [contact.wrong_mode]
    else:
        found = list(_of_data(prices, contact))
    if prices.unknown_parts:
        found.append(Problem.RATE_MISSING)
    return found if prices.current else [*found, Problem.NO_PRICE]


def _of_data(prices: PricesNow, contact: Contact) -> Iterator[Problem]:
    if abs(contact.clock_ahead_s) > CLOCK_OFF_S:
        yield Problem.SERVER_CLOCK
    if _prices_are_late(prices):
        yield Problem.PRICES_LATE
    if _forecast_is_missing(prices):
        yield Problem.FORECAST_MISSING
    elif _forecast_is_stale(prices, contact.clock_ahead_s):
        yield Problem.FORECAST_STALE
    if contact.is_history_missing:
        yield Problem.HISTORY_MISSING
    if contact.are_quarters_missing:
        yield Problem.QUARTERS_MISSING


def _prices_are_late(prices: PricesNow) -> bool:
    return (prices.timeline.settled_until or 0) < _published_day(prices).end


def _published_day(prices: PricesNow) -> Day:
    """Return the newest day whose prices should be known."""
    return prices.tomorrow if prices.now >= instant_of(prices.today.date, PUBLISHED_BY) else prices.today


def _forecast_is_missing(prices: PricesNow) -> bool:
    """Look only at hours that have not begun: forecasts of the others are kept from earlier answers."""
    return max(prices.answer.forecast, default=prices.now) <= prices.now


def _forecast_is_stale(prices: PricesNow, clock_ahead_s: int) -> bool:
    """Judge the age of the forecast by the clock of the server that made it. A server may have no forecast."""
    made_at = prices.answer.made_at
    return made_at is not None and prices.now + clock_ahead_s - made_at > FORECAST_LIFE_S

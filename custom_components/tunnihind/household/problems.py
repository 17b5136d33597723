"""Finds problems with the server, and with the household's prices and their forecast."""

from collections.abc import Iterator
from typing import Final

from ..client.answers import MarketPrices
from ..client.polling import Problem, ServerStatus
from ..core.market import FORECAST_STALE_AFTER_S, HOUR_S
from .prices_now import PricesNow

MINUTE_S: Final = 60

# A few failed polls in a row are not a problem.
_UNREACHABLE_S: Final = 15 * MINUTE_S
# A reboot of the server or the router needs no repair notice.
UNREACHABLE_FOR_LONG_S: Final = 2 * HOUR_S
# If the clocks of the server and of Home Assistant differ by at most an hour, the sensors show the prices of a
# neighbouring hour at worst.
_MAX_CLOCK_DIFFERENCE_S: Final = HOUR_S


def problems(prices: PricesNow, server_status: ServerStatus) -> list[Problem]:
    """Return the household's problems as of `prices.now`.

    If the server is unreachable or the wrong server answers, problems with the server's data and clock are left out.
    """
    if prices.now >= server_status.silent_since + _UNREACHABLE_S:
        found = [Problem.SERVER_UNREACHABLE]
    elif server_status.wrong_server:
        found = [server_status.wrong_server]
    else:
        found = list(_server_problems(prices, server_status))
    if prices.unknown_parts:
        found.append(Problem.RATE_MISSING)
    return found if prices.current_period else [*found, Problem.NO_PRICE]


def instants_of_problems(answer: MarketPrices, server_status: ServerStatus) -> Iterator[int]:
    """Yield the instants (UTC seconds) at which problems begin or become lasting if the server sends nothing new.

    Problems that begin at the start of a quarter-hour are left out.
    """
    yield server_status.silent_since + _UNREACHABLE_S
    yield server_status.silent_since + UNREACHABLE_FOR_LONG_S
    if answer.made_at is not None:
        yield _forecast_stale_from(answer.made_at, server_status)


def _server_problems(prices: PricesNow, server_status: ServerStatus) -> Iterator[Problem]:
    if abs(server_status.clock_ahead_s) > _MAX_CLOCK_DIFFERENCE_S:
        yield Problem.SERVER_CLOCK
    if _prices_are_late(prices):
        yield Problem.PRICES_LATE
    if _forecast_is_missing(prices):
        yield Problem.FORECAST_MISSING
    elif prices.answer.made_at is not None and prices.now >= _forecast_stale_from(prices.answer.made_at, server_status):
        yield Problem.FORECAST_STALE
    if server_status.is_history_missing:
        yield Problem.HISTORY_MISSING
    if server_status.are_quarters_missing:
        yield Problem.QUARTERS_MISSING


def _prices_are_late(prices: PricesNow) -> bool:
    is_tomorrow_due = prices.now >= prices.zone.prices_late_from(prices.tomorrow.date)
    return (prices.timeline.settled_until or 0) < (prices.tomorrow if is_tomorrow_due else prices.today).end


def _forecast_is_missing(prices: PricesNow) -> bool:
    """Return whether there is no forecast for any period that starts after now.

    Forecasts for periods that have begun are ignored, because they may come from earlier answers of the server.
    """
    return max(prices.answer.forecast, default=prices.now) <= prices.now


def _forecast_stale_from(made_at: int, server_status: ServerStatus) -> int:
    """Return the instant at which a forecast of `made_at` (on the server's clock) gets older than its limit."""
    return made_at - server_status.clock_ahead_s + FORECAST_STALE_AFTER_S + 1

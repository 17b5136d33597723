"""Collects a server's known prices from the newest answer, the earlier answers and the history of prices."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Final

from ..const import LOGGER
from ..core.market import HOUR_S, MARKET_OF_CODE, QUARTER_S
from ..errors import InvalidAnswer, NotTunnihind, TunnihindError
from ..prices.days import day_at
from .answers import MarketPrices
from .clock import home_assistant_now
from .requests import Client, pause_s

# The prices of the last 49 hours are kept, because yesterday and today together have at most 49 hours. A plan needs
# yesterday's prices if its window began before midnight.
KEPT_PRICES_S: Final = 49 * HOUR_S
# Prices are published only up to the end of the next delivery day. So if a settled price is for a period that begins
# at least this many seconds from now, the price came from a server with a wrong clock.
MAX_SETTLED_AHEAD_S: Final = 48 * HOUR_S
# Past prices may be requested up to this many seconds before the pause between requests ends, because the times of
# polls vary.
_POLL_MARGIN_S: Final = 30
# The prices of three days are requested, because the server counts a day as 24 hours, and yesterday and today together
# may have 49 hours.
_REQUESTED_DAYS: Final = 3
# Missing quarter-hour prices are requested again after this time, because an update of the server may have added them.
_QUARTERS_RETRY_S: Final = HOUR_S


def merged_answers(older: MarketPrices | None, newer: MarketPrices, now: int) -> MarketPrices:
    """Return `newer`, completed with settled prices and forecasts of `older`.

    `now` is the present time on the `EntryClock`, in UTC seconds. Prices that are more than 49 hours old are dropped.
    If only `older` has quarter-hour prices, the hourly means of `older` are used. If only `newer` has quarter-hour
    prices, `older` is ignored.

    A new answer forecasts only periods that have not begun, so the forecasts of `older` are kept for periods that have
    begun according to `now` or the server's clock. If the server's clock is more than an hour behind `now`, all
    forecasts of `older` are kept. Settled prices of `older` are dropped if they are at least 48 hours ahead of both
    `now` and the server's clock.
    """
    if older and older.step_s < newer.step_s:
        older = older.with_hourly_prices()
    elif older and older.step_s > newer.step_s:
        older = None  # the price of an hour doesn't show the prices of its quarters
    began = max(now, newer.now) if newer.now >= now - HOUR_S else inf
    begun = {start: band for start, band in older.forecast.items() if start <= began} if older else {}
    forecast = {**begun, **newer.forecast}
    known = replace(
        newer, forecast={start: forecast[start] for start in sorted(forecast) if start >= now - KEPT_PRICES_S}
    )
    ahead = max(now, newer.now) + MAX_SETTLED_AHEAD_S
    facts = {start: price for start, price in older.settled.items() if start < ahead} if older else {}
    return with_settled_prices(known, {**facts, **newer.settled}, now)


def with_settled_prices(known: MarketPrices, settled: Mapping[int, float], now: int) -> MarketPrices:
    """Return `known` with the settled prices in `settled` added.

    `settled` maps the start of each period to its price in EUR/MWh. Settled prices that are more than 49 hours old at
    `now` (UTC seconds) are dropped.
    """
    both = {**known.settled, **settled}
    return replace(known, settled={start: both[start] for start in sorted(both) if start >= now - KEPT_PRICES_S})


class PastPricesFetcher:
    """Requests the past prices of today and yesterday while some of them are missing.

    The pause between two requests grows from one minute to 15 minutes. `lacks_past_prices_of_today` is true if past
    prices of today are still missing after a request.
    """

    def __init__(self, client: Client) -> None:
        self.lacks_past_prices_of_today = False
        self._client = client
        self._asked_at = 0
        self._attempts = 0

    def is_due(self, now: int) -> bool:
        """Return whether to request missing past prices again at `now` (UTC seconds)."""
        return self._attempts > 0 and not 0 <= now - self._asked_at < pause_s(self._attempts - 1) - _POLL_MARGIN_S

    def forget_requests(self) -> None:
        """Forget all earlier requests, so that the next poll requests missing past prices at once."""
        self.lacks_past_prices_of_today = False
        self._asked_at = self._attempts = 0

    async def with_past_prices(self, known: MarketPrices, now: int) -> MarketPrices:
        """Return `known`. If past prices of today or yesterday are missing, request them and add them to `known`.

        No request is sent while no settled price is known, or during the pause after an earlier request. If the request
        fails, no prices are added.
        """
        yesterday, today = (day_at(MARKET_OF_CODE[known.zone], now, days_later=days) for days in (-1, 0))
        # Only periods before the current period count as past, because at one in the morning the current period may
        # have no price yet.
        past = now - now % known.step_s
        if (
            known.settled
            and not _has_settled_prices(known, yesterday.start, past)
            and (self._attempts == 0 or self.is_due(now))
        ):
            self._asked_at = now
            self._attempts += 1
            try:
                settled = await self._client.settled_prices_of_last_days(_REQUESTED_DAYS, known.step_s)
            except TunnihindError as error:
                LOGGER.debug("can't get the prices of past hours: %s", error)
            else:
                known = with_settled_prices(known, settled, now)
        if not known.settled or _has_settled_prices(known, yesterday.start, past):
            self.forget_requests()
        else:
            self.lacks_past_prices_of_today = not _has_settled_prices(known, today.start, past)
        return known


def _has_settled_prices(known: MarketPrices, start: int, end: int) -> bool:
    return all(instant in known.settled for instant in range(start, end, known.step_s))


class NewestPricesFetcher:
    """Requests the newest prices of a server."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._refused_at: int | None = None

    @property
    def were_quarters_refused(self) -> bool:
        """True if the server sent no valid quarter-hour prices at the last request for them.

        After `forget_refusal` or `fetch(in_quarters=False)`, the value is False.
        """
        return self._refused_at is not None

    def forget_refusal(self) -> None:
        """Forget that the server sent no quarter-hour prices, so that the next poll may request them again."""
        self._refused_at = None

    async def fetch(self, *, in_quarters: bool) -> MarketPrices:
        """Return the newest prices by quarter-hours if `in_quarters` is true, else by hours.

        If the server sends no valid quarter-hour prices, return hourly prices, and don't request quarter-hour prices
        again for up to an hour. If the server reports no change, return the same object as the last time with this
        step. Raises CannotConnect, NotTunnihind and InvalidAnswer.
        """
        # A negative time since the failed request means that Home Assistant's clock was set back. Then quarter-hour
        # prices are requested at once.
        if not in_quarters:
            self.forget_refusal()
        elif self._refused_at is None or not 0 <= home_assistant_now() - self._refused_at < _QUARTERS_RETRY_S:
            try:
                quarters = await self._client.newest_prices(QUARTER_S)
            except (NotTunnihind, InvalidAnswer) as error:
                LOGGER.debug("the server sent no usable quarter-hour prices: %s", error)
                self._refused_at = home_assistant_now()
            else:
                self.forget_refusal()
                return quarters
        return await self._client.newest_prices(HOUR_S)

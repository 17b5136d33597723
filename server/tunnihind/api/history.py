"""`GET /api/v1/history`: the settled prices of a calendar month, read from the store on request."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Self

import msgspec
from msgspec import UNSET

from tunnihind.api.http.headers import Coding
from tunnihind.api.http.representation import CACHE_FOR_EVER, Representation, opaque_tag, represent
from tunnihind.api.models.price_answers import HistoryPrice, HistoryResponse
from tunnihind.api.parameters import RESOLUTIONS, quoted_value
from tunnihind.api.served_data import ServedSeries
from tunnihind.api.snapshot import cache_control
from tunnihind.clock import Clock
from tunnihind.core.market import HOUR_S, WEEK_S, Market, delivery_day, market_time_unit, rounded_market_price
from tunnihind.errors import NotServed, ParameterError
from tunnihind.known import PriceHistory

FIRST_MONTH: Final = "2021-01"
"""Requests for an earlier month get 404."""

MONTH_ADVICE: Final = "give a year and a month as YYYY-MM, such as 2025-11"

_MONTH: Final = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")

type ReadMonthPrices = Callable[[int, int], PriceHistory]
"""Takes the start and the end of a month in unix seconds. Returns the zone's prices of the periods that begin in the
month. Raises StoreError."""

type ArePricesConfirmed = Callable[[int, int], bool]
"""Takes the start and the end of a month in unix seconds. Returns false if the month has unconfirmed prices that a
second source can still confirm. Raises StoreError."""


@dataclass(frozen=True, slots=True)
class Month:
    """A calendar month in a market's time zone. The next month begins at `end_ts`."""

    text: str
    start_ts: int
    end_ts: int

    @classmethod
    def parse(cls, text: str, market: Market, now: int) -> Self:
        """Parse a month such as `2025-11`.

        Raises ParameterError if the text isn't a month in the form YYYY-MM. Raises NotServed if the month is before
        `FIRST_MONTH`, or has not begun at `now`.
        """
        if not _MONTH.fullmatch(text):
            raise ParameterError(f"`month` is {quoted_value(text)}: {MONTH_ADVICE}.")
        current = f"{market.local_time(now):%Y-%m}"
        if text < FIRST_MONTH:
            raise NotServed(f"`month` is {text}: prices are served from {FIRST_MONTH} on, give a later month.")
        if text > current:
            raise NotServed(f"`month` is {text}, which hasn't begun: give {current} or an earlier month.")
        first = date.fromisoformat(f"{text}-01")
        return cls(text, market.midnight(first), market.midnight((first + timedelta(days=31)).replace(day=1)))


class MonthReader:
    """Reads the prices of a month from the store, and makes the answer to `GET /api/v1/history`."""

    def __init__(
        self,
        market: Market,
        read: ReadMonthPrices,
        are_confirmed: ArePricesConfirmed,
        clock: Clock,
        *,
        may_cache_for_ever: bool,
    ) -> None:
        """In a demo or rehearsal, `may_cache_for_ever` must be false, because an address may get other prices later."""
        self._market = market
        self._read = read
        self._are_confirmed = are_confirmed
        self._clock = clock
        self._may_cache_for_ever = may_cache_for_ever

    def parse_month(self, text: str) -> Month:
        """Parse a month as `Month.parse` does, by the clock's time. Raises ParameterError, NotServed."""
        return Month.parse(text, self._market, int(self._clock.now()))

    def read_answer(self, month: Month, resolution: str, coding: Coding) -> Representation:
        """Return the answer with a month's prices. `resolution` is a key of `RESOLUTIONS`. Raises StoreError."""
        now = int(self._clock.now())
        prices = self._read(month.start_ts, month.end_ts)
        answer = _history_response(prices, self._market, month, resolution)
        is_over = now >= month.end_ts + WEEK_S and _has_all_prices(answer, month)
        # `_are_confirmed` is called after `_read`, so that the check covers every price in the answer.
        is_unchanging = self._may_cache_for_ever and is_over and self._are_confirmed(month.start_ts, month.end_ts)
        body = msgspec.json.encode(answer)
        return represent(
            body,
            coding,
            tag=opaque_tag(body),
            cache_control=CACHE_FOR_EVER if is_unchanging else cache_control(now, RESOLUTIONS[resolution]),
        )


def _history_response(prices: PriceHistory, market: Market, month: Month, resolution: str) -> HistoryResponse:
    step_s = RESOLUTIONS[resolution]
    hours = prices.series_of(market.zone).between(month.start_ts, month.end_ts)
    served = ServedSeries.of(hours, prices.series_of(market.zone, step_s))
    items = [
        HistoryPrice(
            ts=ts,
            eur_mwh=rounded_market_price(price),
            hourly=UNSET if step_s == HOUR_S else ts in served.priced_by_hour,
        )
        for ts, price in served.settled.items()
    ]
    return HistoryResponse(
        zone=market.code, currency=market.currency, month=month.text, resolution=resolution, prices=items
    )


def _has_all_prices(answer: HistoryResponse, month: Month) -> bool:
    """Return whether an answer has the price of every period of the month.

    For a day that was traded in quarters, an answer by quarters must have each quarter's own price.
    """
    step_s = RESOLUTIONS[answer.resolution]
    return len(answer.prices) == (month.end_ts - month.start_ts) // step_s and not any(
        price.hourly is True and market_time_unit(delivery_day(price.ts)) < HOUR_S for price in answer.prices
    )

"""Requests a server's settled market prices by calendar month."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from ..core.market import Market
from ..errors import CannotConnect

EARLIEST_DAY: Final = date(2021, 1, 1)
"""The API has no prices before this day."""
_ATTEMPTS: Final = 5
_LONGEST_WAIT_S: Final = 30

type MonthPriceFetcher = Callable[[date], Awaitable[dict[int, float]]]
"""Returns the settled market prices (EUR/MWh) of the month that begins on a given day.

The keys are the starts of the price periods in UTC seconds.
"""


@dataclass(frozen=True, slots=True)
class MarketHistory:
    """The settled market prices of past months of a zone. All requests raise TunnihindError if they fail."""

    fetch_month: MonthPriceFetcher
    zone: Market

    def month_of(self, instant: int) -> date:
        """Return the first day of the zone's month that contains `instant` (UTC seconds)."""
        return self.zone.local_time(instant).date().replace(day=1)

    async def prices_of_month(self, month: date) -> dict[int, float]:
        """Request a month's settled prices.

        If the server requests a pause, retry after this pause, but after 30 seconds at most. Retry up to four times.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return await self.fetch_month(month)
            except CannotConnect as error:
                if error.retry_after is None:
                    raise
                await asyncio.sleep(min(error.retry_after, _LONGEST_WAIT_S))
        return await self.fetch_month(month)

    async def prices_between(self, start: int, end: int) -> dict[int, float]:
        """Return the settled prices of all months with a part of the time from `start` to `end` (UTC seconds)."""
        prices: dict[int, float] = {}
        for month in _months(max(self.month_of(start), EARLIEST_DAY), self.month_of(end - 1)):
            prices |= await self.prices_of_month(month)
        return prices

    async def has_month_before(self, instant: int) -> bool:
        """Return whether a month before that of `instant` (UTC seconds) has prices.

        Months 1, 2, 4, 8 and so on before are requested. So a few requests are enough to see beyond a gap, unless the
        gap is longer than the history before it.
        """
        months = _months(EARLIEST_DAY, self.month_of(instant))
        back = 1
        while back < len(months):
            if await self.prices_of_month(months[-1 - back]):
                return True
            back *= 2
        return False

    async def first_period(self, until: int) -> int | None:
        """Return the start of the first period with a price, in UTC seconds, or None if no month has a price.

        Months up to that of `until` (UTC seconds) are searched. Nearly always, all months after the first with prices
        have prices, so a few requests are enough.
        """
        months = _months(EARLIEST_DAY, self.month_of(until))
        first: int | None = None
        while months:
            middle = len(months) // 2
            prices = await self.prices_of_month(months[middle])
            first = min(prices, default=first)
            months = months[:middle] if prices else months[middle + 1 :]
        return first


def _months(first: date, last: date) -> list[date]:
    """Return the first days of all months from that of `first` to that of `last`."""
    months: list[date] = []
    while first <= last:
        months.append(first)
        first = (first + timedelta(days=31)).replace(day=1)
    return months

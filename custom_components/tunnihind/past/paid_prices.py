"""What past hours cost the household, by the server's settled prices, asked for one Estonian month after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Final

from ..const import LOGGER
from ..errors import CannotConnect
from ..prices.days import local
from ..prices.tariff import Tariff
from .hours import HourPrice, LeftOut, hour_price, without_rate

# The API has no prices of earlier months.
EARLIEST: Final = date(2021, 1, 1)
_ATTEMPTS: Final = 5
_LONGEST_WAIT_S: Final = 30

type SettledIn = Callable[[date], Awaitable[dict[int, float]]]
"""Asks the server for the settled prices of the month that begins on that day, EUR/MWh by the start of the period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidPrices:
    """What the household pays by the period it is billed by, which is `step_s` seconds long."""

    step_s: int
    settled_in: SettledIn
    tariff: Tariff

    async def of(self, hours: Iterable[int]) -> dict[int, HourPrice | LeftOut]:
        """Return what each of these hours (UTC seconds, in the order of time) cost, or why that is not known.

        The server is not asked for a month without any rate. Raises TunnihindError.
        """
        found: dict[int, HourPrice | LeftOut] = {}
        for month, of_month in groupby(hours, key=_month_of):
            found |= await self._of_month(month, tuple(of_month))
        return found

    async def _of_month(self, month: date, hours: tuple[int, ...]) -> dict[int, HourPrice | LeftOut]:
        if all(self.tariff.known_price(0.0, hour) is None for hour in hours):
            return {hour: without_rate(hour, self.tariff) for hour in hours}
        settled = await self._settled_in(month)
        LOGGER.debug("the server has %d settled prices of %s", len(settled), f"{month:%Y-%m}")
        return {hour: hour_price(hour, settled, self.step_s, self.tariff) for hour in hours}

    async def _settled_in(self, month: date) -> dict[int, float]:
        """Return a month's settled prices. A server that is busy is asked again after the time that it names."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return await self.settled_in(month)
            except CannotConnect as error:
                if error.retry_after is None:
                    raise
                await asyncio.sleep(min(error.retry_after, _LONGEST_WAIT_S))
        return await self.settled_in(month)


def _month_of(instant: int) -> date:
    return local(instant).date().replace(day=1)

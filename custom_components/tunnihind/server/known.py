"""The known prices of a server: from its newest answer, from earlier answers, and from its past hours."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Final

from ..const import LOGGER
from ..errors import InvalidResponse, NotTunnihind, TunnihindError
from ..prices.days import day_at
from ..prices.timeline import HOUR_S, QUARTER_S
from .answers import ForecastAnswer
from .client import Client, pause_s
from .clock import home_now

# Today and yesterday. One of these days may have 25 hours. A window that began before midnight needs yesterday's
# prices.
KEEP_S: Final = 49 * HOUR_S
# The market settles only the next day. Prices of later hours came from a server whose clock was ahead.
SETTLED_AHEAD_S: Final = 48 * HOUR_S
# The time between two polls is a minute, and varies by some seconds.
_MARGIN_S: Final = 30
# The server counts days back from the current hour, so all of yesterday needs three days.
_DAYS_SINCE_YESTERDAY: Final = 3
# A server may have only the endpoints of the specification, and so no quarters. An update may add quarters.
ASK_AGAIN_S: Final = HOUR_S


def merged(older: ForecastAnswer | None, newer: ForecastAnswer, now: int) -> ForecastAnswer:
    """Return `newer` together with the settled prices and begun periods of `older` that `newer` no longer contains.

    Periods before yesterday at `now` (UTC seconds, the household's clock) are dropped, whatever the server's clock
    shows. A server forecasts future periods only, so older forecasts stay for periods that have begun by either clock.
    If the server's clock is behind, all older forecasts stay. An older settled price is dropped if by both clocks it is
    too early for it.
    """
    if older and older.step_s < newer.step_s:
        older = older.in_hours()
    elif older and older.step_s > newer.step_s:
        older = None  # an hour's price differs from its quarters' prices
    began = max(now, newer.now) if newer.now >= now - HOUR_S else inf
    begun = {start: band for start, band in older.forecast.items() if start <= began} if older else {}
    forecast = {**begun, **newer.forecast}
    known = replace(newer, forecast={start: forecast[start] for start in sorted(forecast) if start >= now - KEEP_S})
    ahead = max(now, newer.now) + SETTLED_AHEAD_S
    facts = {start: price for start, price in older.settled.items() if start < ahead} if older else {}
    return with_settled(known, {**facts, **newer.settled}, now)


def with_settled(known: ForecastAnswer, settled: Mapping[int, float], now: int) -> ForecastAnswer:
    """Return the known prices together with these `settled` prices.

    Drop prices that are too old at `now` (UTC seconds).

    Prices are in EUR/MWh, by the start of their period.
    """
    both = {**known.settled, **settled}
    return replace(known, settled={start: both[start] for start in sorted(both) if start >= now - KEEP_S})


class History:
    """Asks for missing past periods of today and yesterday: at first with each poll, later less often.

    `is_missing` is true if periods of today are still missing after the server was asked.
    """

    def __init__(self, client: Client) -> None:
        self.is_missing = False
        self._client = client
        self._asked_at = 0
        self._attempts = 0

    def is_due(self, now: int) -> bool:
        """Return whether it is time to ask again for missing periods. `now` is the entry's time, UTC seconds."""
        return self._attempts > 0 and not 0 <= now - self._asked_at < pause_s(self._attempts - 1) - _MARGIN_S

    def forget(self) -> None:
        """Ask again with the next poll."""
        self.is_missing = False
        self._asked_at = self._attempts = 0

    async def completed(self, known: ForecastAnswer, now: int) -> ForecastAnswer:
        """Return the known prices with the past periods of today and yesterday, if the server sends them.

        A server without any prices is not asked until it has some.
        """
        yesterday, today = day_at(now, days_later=-1), day_at(now)
        if known.settled and not _knows(known, yesterday.start, now) and (self._attempts == 0 or self.is_due(now)):
            self._asked_at = now
            self._attempts += 1
            try:
                settled = await self._client.settled_of_last(_DAYS_SINCE_YESTERDAY, known.step_s)
            except TunnihindError as error:
                LOGGER.debug("the server did not send the past hours: %s", error)
            else:
                known = with_settled(known, settled, now)
        if not known.settled or _knows(known, yesterday.start, now):
            self.forget()
        else:
            self.is_missing = not _knows(known, today.start, now)
        return known


def _knows(known: ForecastAnswer, start: int, end: int) -> bool:
    return all(instant in known.settled for instant in range(start, end, known.step_s))


class NewestPrices:
    """Asks for a server's newest prices."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._refused_at: int | None = None

    @property
    def has_no_quarters(self) -> bool:
        """Whether quarters are wanted but the server has no usable quarters."""
        return self._refused_at is not None

    def forget(self) -> None:
        """Ask for quarters again with the next poll, because another server may answer."""
        self._refused_at = None

    async def ask(self, *, in_quarters: bool) -> ForecastAnswer:
        """Return the newest prices. If the server has nothing new, return the same object.

        Raises CannotConnect, NotTunnihind and InvalidResponse.
        """
        if not in_quarters:
            self._refused_at = None
            return await self._client.forecast(HOUR_S)
        # The difference is below 0 if the clock was set back.
        if self._refused_at is not None and 0 <= home_now() - self._refused_at < ASK_AGAIN_S:
            return await self._client.forecast(HOUR_S)
        try:
            quarters = await self._client.forecast(QUARTER_S)
        except (NotTunnihind, InvalidResponse) as error:
            hours = await self._client.forecast(HOUR_S)
            LOGGER.debug("the server has no quarters of an hour that can be used: %s", error)
            self._refused_at = home_now()
            return hours
        self._refused_at = None
        return quarters

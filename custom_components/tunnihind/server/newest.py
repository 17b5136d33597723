"""Which prices a server is asked for: by the quarter where they are wanted and it has them, else by the hour."""

from typing import Final

from ..const import LOGGER
from ..errors import InvalidResponse, NotTunnihind
from ..prices.timeline import HOUR_S, QUARTER_S
from .answers import ForecastAnswer
from .client import Client
from .clock import home_now

# A server that keeps only the API's specification has no quarters. It may be updated.
ASK_AGAIN_S: Final = HOUR_S


class NewestPrices:
    """Asks for a server's newest prices."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._refused_at: int | None = None

    @property
    def has_no_quarters(self) -> bool:
        """Whether quarters are wanted and the server has none that can be used."""
        return self._refused_at is not None

    def forget(self) -> None:
        """Ask for quarters again with the next poll: the server may have become another one."""
        self._refused_at = None

    async def ask(self, *, in_quarters: bool) -> ForecastAnswer:
        """Return the newest prices: the same object while the server has nothing new.

        Raises CannotConnect, NotTunnihind and InvalidResponse.
        """
        if not in_quarters:
            self._refused_at = None
            return await self._client.forecast(HOUR_S)
        # Less than 0: the clock was set back.
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

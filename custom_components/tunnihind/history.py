"""Today's hours that were over before the server was first asked: without them the day as a whole is not known."""

from typing import Final

from .answers import ForecastAnswer
from .client import Client
from .const import LOGGER
from .errors import TunnihindError
from .known import with_settled
from .pauses import pause_s
from .prices.days import day_at

# Polls are a minute apart, give or take a moment.
_MARGIN_S: Final = 30


class History:
    """Asks for past hours as long as some of today's are missing, with the next polls and then ever less often."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._asked_at = 0
        self._asked_in_vain = 0

    @property
    def is_missing(self) -> bool:
        """Whether the server was asked for past hours of today and some of them are still not known."""
        return self._asked_in_vain > 0

    def is_due(self, now: int) -> bool:
        """Tell whether it is time to ask again for what is missing. `now` is the entry's, UTC seconds."""
        return self.is_missing and not 0 <= now - self._asked_at < pause_s(self._asked_in_vain - 1) - _MARGIN_S

    def forget(self) -> None:
        """Begin anew, with another server."""
        self._asked_at = self._asked_in_vain = 0

    async def completed(self, known: ForecastAnswer, now: int) -> ForecastAnswer:
        """Return what is known with today's past hours, as far as the server tells them.

        A server that has no prices at all yet is asked once it has some.
        """
        if not known.settled or _knows_today(known, now):
            self.forget()
            return known
        if self.is_missing and not self.is_due(now):
            return known
        self._asked_at = now
        try:
            known = with_settled(known, await self._client.settled_since_yesterday(), now)
        except TunnihindError as error:
            LOGGER.debug("the server did not tell today's past hours: %s", error)
        self._asked_in_vain = 0 if _knows_today(known, now) else self._asked_in_vain + 1
        return known


def _knows_today(known: ForecastAnswer, now: int) -> bool:
    return all(start in known.settled for start in range(day_at(now).start, now, known.step_s))

"""The clock that an entry lives by: Home Assistant's own, or that of a server that rehearses a past day.

Everything of an entry takes the time from here, and is woken from here. All instants are UTC seconds.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.event import async_track_point_in_utc_time
from homeassistant.util import dt as dt_util

from .prices.timeline import QUARTER_S

# A cache before the server may tell an answer that is a minute old, and both clocks are told in whole seconds.
_CACHED_S: Final = 120
_ROUNDING_S: Final = 1


class EntryClock:
    """One entry's time.

    A live entry lives by Home Assistant's clock, whatever its server's clock shows. A rehearsal lives by its server's:
    by what that showed when it was last told, and the time since. `server_ahead_s` is by how much the server's clock
    was ahead of Home Assistant's then.
    """

    def __init__(self, *, is_rehearsal: bool) -> None:
        self.is_rehearsal: Final = is_rehearsal
        self.server_ahead_s = 0

    def now(self) -> int:
        """Return what time it is for the entry."""
        return home_now() + self._ahead_s

    def at_home(self, instant: int) -> int:
        """Return Home Assistant's time of an instant of the entry's."""
        return instant - self._ahead_s

    def of_server(self, instant: int) -> int:
        """Return the entry's time of an instant of the server's."""
        return instant - self.server_ahead_s + self._ahead_s

    def expects(self, server_now: int) -> bool:
        """Tell whether a server that tells this time now has a clock that has just gone on since it was told last."""
        return abs(self._ahead_of_home(server_now) - self.server_ahead_s) <= _CACHED_S

    def hear(self, server_now: int) -> None:
        """Take up what the server's clock shows now.

        An answer is never younger than the time it tells, but may be older: a little less than before says nothing.
        """
        ahead_s = self._ahead_of_home(server_now)
        if not -_CACHED_S <= ahead_s - self.server_ahead_s <= _ROUNDING_S:
            self.server_ahead_s = ahead_s

    def started_anew(self, before: int, server_now: int) -> bool:
        """Tell whether a rehearsal began again since its clock told `before`; a live server's clock may be set back."""
        return self.is_rehearsal and server_now < before - _CACHED_S

    @property
    def _ahead_s(self) -> int:
        return self.server_ahead_s if self.is_rehearsal else 0

    def _ahead_of_home(self, server_now: int) -> int:
        return server_now - home_now()


class QuarterTimer:
    """Calls at each start of a quarter of an hour of the entry's clock."""

    def __init__(self, hass: HomeAssistant, clock: EntryClock, action: Callable[[], None]) -> None:
        self._hass = hass
        self._clock = clock
        self._action = action
        self._due_at: int | None = None
        self._cancel_timer: CALLBACK_TYPE | None = None

    @callback
    def async_set(self) -> None:
        """Wait for the next quarter, also where a clock has been moved since this was done last."""
        now = self._clock.now()
        due_at = self._clock.at_home(now - now % QUARTER_S + QUARTER_S)
        if due_at != self._due_at:
            self.async_cancel()
            self._due_at = due_at
            self._cancel_timer = async_track_point_in_utc_time(
                self._hass, self._ring, dt_util.utc_from_timestamp(due_at)
            )

    @callback
    def async_cancel(self) -> None:
        """Wait no more."""
        self._due_at = None
        if self._cancel_timer:
            self._cancel_timer()
            self._cancel_timer = None

    @callback
    def _ring(self, _: datetime) -> None:
        self._due_at = self._cancel_timer = None
        self.async_set()
        self._action()


def home_now() -> int:
    """Return what time it is by Home Assistant's clock."""
    return int(dt_util.utcnow().timestamp())

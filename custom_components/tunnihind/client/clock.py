"""The present time for a config entry, and a timer that uses this time. All instants are UTC seconds.

The prices, plans, sensors and actions of a config entry use the time of its `EntryClock`.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.event import async_track_point_in_utc_time
from homeassistant.util import dt as dt_util

from ..core.market import SHORTEST_STEP_S

# An answer from a cache in front of the server is rarely more than this many seconds old.
_MAX_CACHE_AGE_S: Final = 120
# The server's time and Home Assistant's time are rounded to seconds, so their difference may vary by a second.
_ROUNDING_S: Final = 1


class EntryClock:
    """Shows the present time for one config entry.

    In a rehearsal, this clock shows the server's time: Home Assistant's time plus `server_ahead_s`. Otherwise, this
    clock shows Home Assistant's time. `server_ahead_s` is the number of seconds by which the server's clock is ahead of
    Home Assistant's clock.
    """

    def __init__(self, *, is_rehearsal: bool) -> None:
        self.is_rehearsal: Final = is_rehearsal
        self.server_ahead_s = 0

    def now(self) -> int:
        """Return the present time on this clock, in UTC seconds."""
        return home_assistant_now() + self.ahead_s

    def to_home_assistant_time(self, instant: int) -> int:
        """Convert a time on this clock to the time that Home Assistant's clock shows at the same moment."""
        return instant - self.ahead_s

    def from_home_assistant_time(self, instant: int) -> int:
        """Convert a time on Home Assistant's clock to the time that this clock shows at the same moment."""
        return instant + self.ahead_s

    def from_server_time(self, instant: int) -> int:
        """Convert a time on the server's clock to the time that the `EntryClock` shows at the same moment."""
        return instant - self.server_ahead_s + self.ahead_s

    def agrees_with(self, server_now: int) -> bool:
        """Return whether `server_now` is at most two minutes off Home Assistant's time plus `server_ahead_s`."""
        return abs(self._seconds_ahead_of_home(server_now) - self.server_ahead_s) <= _MAX_CACHE_AGE_S

    def synchronise(self, server_now: int) -> None:
        """Update `server_ahead_s` from `server_now`, the time in an answer of the server.

        The expected time is Home Assistant's time plus `server_ahead_s`. If `server_now` is at most two minutes earlier
        or one second later than the expected time, `server_ahead_s` stays the same, because the answer may come from a
        cache and times are rounded.
        """
        ahead_s = self._seconds_ahead_of_home(server_now)
        if not -_MAX_CACHE_AGE_S <= ahead_s - self.server_ahead_s <= _ROUNDING_S:
            self.server_ahead_s = ahead_s

    def has_restarted(self, before: int, server_now: int) -> bool:
        """Return whether a rehearsal's clock has gone back by more than two minutes, from `before` to `server_now`.

        If so, the rehearsal has started again. If the entry is not for a rehearsal, return False.
        """
        return self.is_rehearsal and server_now < before - _MAX_CACHE_AGE_S

    @property
    def ahead_s(self) -> int:
        """The number of seconds by which this clock is ahead of Home Assistant's clock."""
        return self.server_ahead_s if self.is_rehearsal else 0

    def _seconds_ahead_of_home(self, server_now: int) -> int:
        return server_now - home_assistant_now()


class UpdateTimer:
    """While the timer is set, calls `action` whenever a new quarter-hour begins according to `clock`.

    The timer can also call `action` at other times between.
    """

    def __init__(self, hass: HomeAssistant, clock: EntryClock, action: Callable[[], None]) -> None:
        self._hass = hass
        self._clock = clock
        self._action = action
        self._due_at: int | None = None
        self._cancel_timer: CALLBACK_TYPE | None = None

    @callback
    def async_set(self, other_times: Iterable[int] = ()) -> None:
        """Start the timer for the next quarter-hour, or for the first of `other_times` ahead if this is earlier.

        `other_times` are UTC seconds on `clock`. Call this method again whenever these times may have changed, or
        somebody may have set the server's clock or Home Assistant's clock.
        """
        now = self._clock.now()
        quarter = now - now % SHORTEST_STEP_S + SHORTEST_STEP_S
        due_at = self._clock.to_home_assistant_time(min((quarter, *(time for time in other_times if time > now))))
        if due_at != self._due_at:
            self.async_cancel()
            self._due_at = due_at
            self._cancel_timer = async_track_point_in_utc_time(
                self._hass, self._fire, dt_util.utc_from_timestamp(due_at)
            )

    @callback
    def async_cancel(self) -> None:
        """Cancel the timer."""
        self._due_at = None
        if self._cancel_timer:
            self._cancel_timer()
            self._cancel_timer = None

    @callback
    def _fire(self, _: datetime) -> None:
        self._due_at = self._cancel_timer = None
        self.async_set()
        self._action()


def home_assistant_now() -> int:
    """Return the time of Home Assistant's clock in UTC seconds."""
    return int(dt_util.utcnow().timestamp())

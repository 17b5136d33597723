"""The clocks of the server. Classes take their clock as an argument, so that tests and rehearsals can set the time."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Gives the time, and waits for a number of seconds."""

    def now(self) -> float:
        """Return the time in unix seconds UTC."""

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` seconds. A negative number counts as 0."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return the time in unix seconds UTC."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` seconds by the event loop's clock, which never jumps."""
        await asyncio.sleep(max(seconds, 0.0))


class RehearsalClock(SystemClock):
    """A clock for rehearsals (`serve --as-of`). When created, it shows `instant` (unix seconds UTC)."""

    def __init__(self, instant: float) -> None:
        self._instant = instant
        self._started = time.monotonic()

    def now(self) -> float:
        """Return the rehearsal's time in unix seconds UTC."""
        return self._instant + time.monotonic() - self._started

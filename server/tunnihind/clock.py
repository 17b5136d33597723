"""The clocks of the server. A clock is passed in, so that tests and rehearsals can set the time."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Returns the time and waits."""

    def now(self) -> float:
        """Return the time in unix seconds UTC."""

    async def sleep(self, seconds: float) -> None:
        """Wait for the given seconds. If the number is negative, return at once."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return the time in unix seconds UTC."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait by the event loop's clock, because that clock never jumps."""
        await asyncio.sleep(max(seconds, 0.0))


class RehearsalClock(SystemClock):
    """A clock for `serve --as-of`. The clock starts at `instant`."""

    def __init__(self, instant: float) -> None:
        self._instant = instant
        self._started = time.monotonic()

    def now(self) -> float:
        """Return the rehearsed time in unix seconds UTC."""
        return self._instant + time.monotonic() - self._started

"""Clocks that only a test moves, and instants from Estonian clock times."""

from datetime import datetime

from tunnihind.market import ESTONIA


def local(text: str) -> int:
    """Return the instant at which Estonian clocks show `2025-12-15 13:45`, the first of two."""
    return int(datetime.fromisoformat(text).replace(tzinfo=ESTONIA.clock).timestamp())


class TimeIsUp(Exception):
    """Ends a pipeline that would never end."""


class StillClock:
    """A clock that moves only when someone sleeps."""

    def __init__(self, instant: float) -> None:
        self.instant = instant
        self.slept: list[float] = []

    def now(self) -> float:
        return self.instant

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.instant += max(seconds, 0.0)


class JumpingClock(StillClock):
    """Takes at least `nap_s` for every sleep, so that a day passes in few steps; `work_s` goes by between looks."""

    def __init__(self, instant: float, *, nap_s: float = 30.0, work_s: float = 0.0) -> None:
        super().__init__(instant)
        self.until = float("inf")
        self.nap_s = nap_s
        self._work_s = work_s

    def now(self) -> float:
        self.instant += self._work_s
        return self.instant

    async def sleep(self, seconds: float) -> None:
        if self.instant >= self.until:
            raise TimeIsUp
        await super().sleep(max(seconds, self.nap_s))

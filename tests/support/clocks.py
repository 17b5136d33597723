"""Clocks that only a test moves, and a conversion of Estonian clock times to instants."""

from datetime import datetime

from tunnihind.core.market import ESTONIA


def local(text: str) -> int:
    """Return the instant of an Estonian clock time like `2025-12-15 13:45`, the first instant if there are two."""
    return int(datetime.fromisoformat(text).replace(tzinfo=ESTONIA.time_zone).timestamp())


class TimeIsUp(Exception):
    """The error that ends an endless pipeline."""


class StillClock:
    """A clock that moves only during a sleep."""

    def __init__(self, instant: float) -> None:
        self.instant = instant
        self.slept: list[float] = []

    def now(self) -> float:
        return self.instant

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.instant += max(seconds, 0.0)


class JumpingClock(StillClock):
    """A clock on which every sleep lasts at least `nap_s`, so that a day passes in few steps.

    Each look at the clock costs `work_s`.
    """

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

"""What the tests of the sources share: a session, a clock that stands still, and retries that don't wait."""

from collections.abc import AsyncIterator, Iterator

import pytest
import stamina
from aiohttp import ClientSession

from tunnihind.sources.upstream import open_session


class StillClock:
    """A clock that moves only when someone sleeps."""

    def __init__(self, instant: float) -> None:
        self.instant = instant
        self.slept: list[float] = []

    def now(self) -> float:
        return self.instant

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.instant += seconds


@pytest.fixture(autouse=True)
def _no_backoff() -> Iterator[None]:
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    async with open_session("operator@example.org") as opened:
        yield opened

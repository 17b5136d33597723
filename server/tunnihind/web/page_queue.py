"""Has pages made one after another, so that however many are asked for at once, the API's answers go between them."""

import asyncio
from collections.abc import Callable
from typing import Final

MOST_WAITING: Final = 200
"""At 15 to 40 ms a page, the last one waits some seconds. A browser gives up after ten, and asks again in a minute."""


class PageQueue:
    """Lets pages be made in the order in which they were asked for."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def make[Page](self, make: Callable[[], Page]) -> Page | None:
        """Return what `make` returns, called when it is its turn; None where too many are waiting already."""
        if self._waiting >= MOST_WAITING:
            return None
        self._waiting += 1
        try:
            async with self._turn:
                # The lock alone hands the turn on at once: what else has been asked for would wait for all pages.
                await asyncio.sleep(0)
                return make()
        finally:
            self._waiting -= 1

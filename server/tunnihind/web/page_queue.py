"""Has pages made one after another, so that however many are asked for at once, the API's answers go between them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

MOST_WAITING: Final = 200
"""So many different pages. At 15 to 40 ms each, the last one waits some seconds. A browser gives up after ten, and asks
again in a minute."""


class PageQueue:
    """Lets pages be made in the order in which they were asked for."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = Counter[Hashable]()

    async def make[Page](self, key: Hashable, make: Callable[[], Page]) -> Page | None:
        """Return what `make` returns, called when it is its turn; None where too many other pages are waiting already.

        The same `key` stands for the same page: however many wait for that, it takes the room of one. All open pages
        ask at the same second, just after the full hour.
        """
        if key not in self._waiting and len(self._waiting) >= MOST_WAITING:
            return None
        self._waiting[key] += 1
        try:
            async with self._turn:
                # The lock alone hands the turn on at once: what else has been asked for would wait for all pages.
                await asyncio.sleep(0)
                return make()
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]

"""Play Elering from a CSV of prices: `python -m tests.support.upstreams prices.csv 2025-12-15T10:00:00Z`.

Days not yet published at that instant come as the clock reaches their publication; Ctrl-C ends it.
"""

import asyncio
import sys
from datetime import datetime
from pathlib import Path

from tests.support.upstreams.elering import FakeElering, csv_quotes
from tunnihind.clock import RehearsalClock


async def play(file: Path, instant: str) -> None:
    clock = RehearsalClock(datetime.fromisoformat(instant).timestamp())
    async with FakeElering(csv_quotes(file), now=clock.now) as server:
        print(server.url, flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1]), sys.argv[2]))

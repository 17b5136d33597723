"""Serve prices from a CSV file as Elering does: `python -m tests.support.upstreams prices.csv 2025-12-15T10:00:00Z`.

Days that are not published yet at that instant appear when the clock reaches their publication. Ctrl-C ends the server.
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

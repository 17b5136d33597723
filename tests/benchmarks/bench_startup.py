"""The start-up time of a server with two years of history: live, and as a rehearsal of yesterday.

    uv run --no-sync python -m tests.benchmarks.bench_startup [--rounds 5]

The history is the simulated market's in four zones, with quarters from the market's first day with quarters.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import click

from tests.support.machine.processes import free_port
from tunnihind.clock import SystemClock
from tunnihind.market import DAY_S, ESTONIA, delivery_day, iso_utc
from tunnihind.pipeline.modelling import make_runs
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.prices import PriceIngest
from tunnihind.sources.simulated import SimulatedSource
from tunnihind.store.store import Store

YEARS: Final = 2
LIMIT_S: Final = 60.0
COMMAND: Final = Path(sys.executable).with_name("tunnihind")


def fill(url: str) -> None:
    """Store two years of prices and a fresh run."""
    clock = SystemClock()
    today = delivery_day(clock.now())
    with Store(url) as store:
        ingest = PriceIngest(store, [ESTONIA], [SimulatedSource(clock=clock)], clock, Observer())
        asyncio.run(ingest.ingest(today - timedelta(days=365 * YEARS), today + timedelta(days=1)))
        runs = make_runs(store, int(clock.now()), ESTONIA)
        if runs is not None:
            store.runs.add_forecast(runs)


def seconds_to_ready(*arguments: str) -> float:
    """Start the server and return the seconds until it is ready."""
    port = free_port()
    started = time.perf_counter()
    with subprocess.Popen(
        [COMMAND, "serve", "--host", "127.0.0.1", "--port", str(port), *arguments], stderr=subprocess.DEVNULL
    ) as server:
        try:
            while time.perf_counter() - started < LIMIT_S:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz"):
                        return time.perf_counter() - started
                except urllib.error.URLError:
                    time.sleep(0.01)
        finally:
            server.terminate()
    raise SystemExit("the server did not get ready")


def rows(url: str, rounds: int) -> Iterator[str]:
    """Yield a line for each way of starting."""
    yesterday = iso_utc(int(time.time()) - DAY_S)
    for label, extra in (("live", ["--no-pipeline"]), ("rehearsal", ["--as-of", yesterday])):
        times = [seconds_to_ready("--database-url", url, *extra) for _ in range(rounds)]
        yield f"{label:<10} median {statistics.median(times):.2f} s, worst {max(times):.2f} s of {rounds}"


@click.command(help=__doc__)
@click.option("--rounds", default=5, show_default=True)
def main(rounds: int) -> None:
    """Fill a database and time the starts."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'startup.db'}"
        fill(url)
        for row in rows(url, rounds):
            click.echo(row)


if __name__ == "__main__":
    main()

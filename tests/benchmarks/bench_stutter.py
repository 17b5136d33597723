"""The effect of the 90-day backtest on serving: latencies of `/api/v1/forecast` with and without the backtest.

    uv run --no-sync python -m tests.benchmarks.bench_stutter [--seconds 15] [--rate 200]

The server and its forecasting process are real, and the store holds two years of the simulated market. A client in a
separate process sends requests at a steady rate and times each. The scoring process runs at low priority, as under
`tunnihind serve`.
"""

import asyncio
import http.client
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import click

from tests.benchmarks.bench_startup import fill
from tests.support.api.api_server import no_prices
from tests.support.machine.processes import free_port
from tunnihind.api.metrics import Metrics
from tunnihind.api.served_data import read_served_data
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import SystemClock
from tunnihind.market import ESTONIA
from tunnihind.pipeline.modelling import process_modeller
from tunnihind.service.application import ServedZone
from tunnihind.service.site import open_site
from tunnihind.settings import Settings
from tunnihind.store.store import Store

SLICES: Final = 12
"""The number of slices, each of about a second, for one line of input."""


async def serve(url: str) -> None:
    """Serve, and print the port. For each line of standard input, score some slices, and print the seconds."""
    clock = SystemClock()
    settings = Settings(database_url=url, host="127.0.0.1", port=free_port())
    snapshot = Snapshot(settings, clock)
    with Store(url) as store:
        snapshot.replace_data(read_served_data(store, ESTONIA, int(clock.now())))
    site = open_site(
        settings,
        [ServedZone(snapshot=snapshot, read_prices=no_prices)],
        clock,
        instance_id="bench",
        metrics=Metrics(),
        pipeline_expected=False,
    )
    async with site, process_modeller(url) as modeller:
        click.echo(settings.port)
        while await asyncio.to_thread(sys.stdin.readline):
            started = time.perf_counter()
            # No learning is stored, so the same forecasts are made again and again.
            for _ in range(SLICES):
                await modeller.forecast_past_days(ESTONIA, int(clock.now()))
            click.echo(f"{time.perf_counter() - started:.1f}")


def latencies_ms(port: int, seconds: float, rate: float) -> list[float]:
    """Send requests at a steady rate over one connection and return the latencies."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times = []
    ends = time.perf_counter() + seconds
    due = time.perf_counter()
    while (now := time.perf_counter()) < ends:
        time.sleep(max(0.0, due - now))
        due += 1 / rate
        sent = time.perf_counter()
        connection.request("GET", "/api/v1/forecast", headers={"Accept-Encoding": "gzip"})
        connection.getresponse().read()
        times.append((time.perf_counter() - sent) * 1000)
    return times


def row(label: str, times: list[float]) -> str:
    """Describe a sample of latencies."""
    ordered = sorted(times)
    p99 = ordered[int(0.99 * len(ordered))]
    median = statistics.median(ordered)
    return f"{label:<16} n {len(ordered)}, median {median:.2f} ms, p99 {p99:.2f} ms, max {ordered[-1]:.2f} ms"


async def compare(seconds: float, rate: float) -> None:
    """Start the server, and measure its latencies in turns with and without a backtest."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'stutter.db'}"
        await asyncio.to_thread(fill, url)
        server = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.benchmarks.bench_stutter", "--serve", url,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(await server.stdout.readline())
        for _ in range(2):
            click.echo(row("without backtest", await asyncio.to_thread(latencies_ms, port, seconds, rate)))
            server.stdin.write(b"\n")
            sample = asyncio.create_task(asyncio.to_thread(latencies_ms, port, seconds, rate))
            took = (await server.stdout.readline()).decode().strip()
            click.echo(row("with backtest", await sample) + f" (the backtest took {took} s)")
        server.stdin.close()
        await server.wait()


@click.command(help=__doc__)
@click.option("--seconds", default=15.0, show_default=True)
@click.option("--rate", default=200.0, show_default=True)
@click.option("--serve", "url", hidden=True)
def main(seconds: float, rate: float, url: str | None) -> None:
    """Compare, or run the server for the comparison."""
    asyncio.run(compare(seconds, rate) if url is None else serve(url))


if __name__ == "__main__":
    main()

"""The cost of a month of history: its size, its time, and the wait of other requests.

    uv run --no-sync python -m tests.benchmarks.bench_history [--rounds 20]

The store is real and holds five years of the simulated market, hours and then quarters. First, single months are
measured. Then two clients read months without a pause, as many as the server admits at once. Meanwhile a third client
requests the forecast 100 times a second.
"""

import asyncio
import statistics
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Final

import click
import numpy as np
import uvloop
from aiohttp import ClientSession, web

from tunnihind.api.routes import MAX_STORE_READERS
from tunnihind.api.served_data import read_served_data
from tunnihind.api.server import Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import RehearsalClock
from tunnihind.market import ESTONIA, HOUR_S, QUARTER_S, QUARTERS_SINCE, ZONES, day_start
from tunnihind.service.application import ServedZone, create_app
from tunnihind.settings import Settings
from tunnihind.sources.simulated_market import SimulatedMarket
from tunnihind.store.prices import Price
from tunnihind.store.store import Store

SPANS: Final = ((date(2021, 1, 1), QUARTERS_SINCE, HOUR_S), (QUARTERS_SINCE, date(2026, 1, 1), QUARTER_S))
NOW: Final = day_start(date(2025, 12, 31)) + 12 * HOUR_S
ASKED: Final = ("2021-07", "2025-09", "2025-11", "2025-12")
CODINGS: Final = ("identity", "gzip", "zstd")


def fill(store: Store) -> None:
    """Store five years of all zones."""
    market = SimulatedMarket(7)
    for first, after, step_s in SPANS:
        starts = np.arange(day_start(first), day_start(after), step_s)
        by_zone = market.prices((starts + step_s / 2).astype(np.float64))
        rows = [
            Price(zone, ts, step_s, round(price, 2))
            for zone in ZONES
            for ts, price in zip(starts.tolist(), by_zone[zone].tolist(), strict=True)
        ]
        store.prices.add(rows, source="benchmark", seen_ts=NOW)


async def measure(address: str, rounds: int) -> None:
    """Print the size and time of months. Then print the forecast's latency alone and while months are read."""
    async with ClientSession(address, auto_decompress=False) as session:
        for resolution in ("15m", "60m"):
            for month in ASKED:
                told = []
                for coding in CODINGS:
                    times = []
                    for _ in range(rounds):
                        started = time.perf_counter()
                        query = {"month": month, "resolution": resolution}
                        async with session.get("/api/v1/history", params=query, headers=accept(coding)) as answer:
                            body = await answer.read()
                        times.append(time.perf_counter() - started)
                    told.append(f"{coding} {len(body)} bytes in {statistics.median(times) * 1000:.1f} ms")
                click.echo(f"{month} {resolution}: {', '.join(told)}")
        click.echo(f"forecast alone: {await latencies(session, 5)}")
        readers = [asyncio.create_task(read_on(session)) for _ in range(MAX_STORE_READERS)]
        click.echo(f"forecast while months are read: {await latencies(session, 5)}")
        for reader in readers:
            reader.cancel()


def accept(coding: str) -> dict[str, str]:
    return {"Accept-Encoding": coding}


async def read_on(session: ClientSession) -> None:
    """Read months without a pause."""
    while True:
        async with session.get("/api/v1/history", params={"month": "2025-11"}, headers=accept("gzip")) as answer:
            await answer.read()


async def latencies(session: ClientSession, seconds: float) -> str:
    """Request the forecast at a steady rate, and return the latencies."""
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        async with session.get("/api/v1/forecast", headers=accept("gzip")) as answer:
            await answer.read()
        times.append(time.perf_counter() - started)
        await asyncio.sleep(0.01)
    p50, p99 = (statistics.quantiles(times, n=100)[at] * 1000 for at in (49, 98))
    return f"median {p50:.1f} ms, p99 {p99:.1f} ms, longest {max(times) * 1000:.1f} ms"


async def serve_and_measure(store: Store, rounds: int) -> None:
    """Serve the store like a live server, and measure."""
    settings, clock = Settings(), RehearsalClock(NOW)
    snapshot = Snapshot(settings, clock)
    snapshot.replace_data(read_served_data(store, ESTONIA, NOW))
    app = create_app(
        settings,
        [
            ServedZone(
                snapshot=snapshot,
                read_prices=lambda start, end: store.prices.read_archive(start, end, zones=("ee",)).newest_versions(),
            )
        ],
        clock,
        instance_id="benchmark",
    )
    runner = Runner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await measure(f"http://127.0.0.1:{runner.addresses[0][1]}", rounds)
    await runner.cleanup()


@click.command()
@click.option("--rounds", default=20, help="Requests for each month and coding.")
def main(rounds: int) -> None:
    """Measure, and print the figures."""
    with tempfile.TemporaryDirectory() as folder, Store(f"sqlite:///{Path(folder) / 'history.db'}") as store:
        fill(store)
        click.echo(f"{store.prices.count()} prices stored")
        uvloop.run(serve_and_measure(store, rounds))


if __name__ == "__main__":
    main()

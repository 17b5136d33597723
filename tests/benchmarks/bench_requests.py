"""The cost of a request: the forecast, the quarters and a feed, compared with a bare aiohttp handler of the same size.

    uv run --no-sync python -m tests.benchmarks.bench_requests [--seconds 4] [--rounds 5] [--requests 1000000]

Each server is a separate process on the loopback, with uvloop and without an access log. The servers are measured in
turns (ours, bare, ours, bare …) with `wrk`, or with a plain socket client if `wrk` is not installed. They serve the
largest possible bodies: 35 settled and 72 forecast hours, and their quarters. All work is bounded in count and in time.
"""

import asyncio
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import click
import numpy as np
import uvloop
from aiohttp import web

from tests.benchmarks.wrk_report import Load, read_report
from tests.support.markets.runs import run_with
from tests.support.store.pipelines import scenarios_with
from tunnihind.api.feeds import FEED_FORMATS, FeedRequest
from tunnihind.api.http.headers import CODINGS, Coding
from tunnihind.api.http.representation import Representation
from tunnihind.api.served_data import Percentiles, ServedData, ServedSeries
from tunnihind.api.server import Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import RehearsalClock
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S
from tunnihind.forecast.run import Run
from tunnihind.known import PriceHistory
from tunnihind.price_series import PriceSeries
from tunnihind.service.application import ServedZone, create_app
from tunnihind.settings import Settings

FORECAST: Final = "/api/v1/forecast"
QUARTERS: Final = "/api/v1/quarters"
FEED: Final = "/api/feeds/evcc"
COMPARED: Final = (FORECAST, QUARTERS, FEED)
HOST: Final = "127.0.0.1"
CONNECTIONS: Final = 16
HOUR: Final = 1_765_792_800
MEMORY_TIME_LIMIT_S: Final = 300


def largest_view() -> ServedData:
    """Return the largest possible view: 35 settled hours ahead, 14 days back, 9 days of forecast, all with quarters."""
    past = range(HOUR - 14 * DAY_S, HOUR + HOUR_S, HOUR_S)
    quarters = PriceSeries("ee", QUARTER_S, past.start, -1234.56 + np.arange(4 * (len(past) + 34)) * 37 % 401 / 7)
    run = _run(HOUR_S)
    issued = {ts: Percentiles(-1234.56, -1200.11, -1188.78) for ts in past}
    issued_quarters = {
        ts: Percentiles(-1234.56, -1200.11 + ts // QUARTER_S % 97 / 8, -1111.78)
        for ts in range(past.start, past.stop, QUARTER_S)
    }
    return ServedData(
        "benchmark",
        ESTONIA,
        {
            HOUR_S: ServedSeries(quarters.means(HOUR_S), issued=issued, run=run),
            QUARTER_S: ServedSeries(quarters, issued=issued_quarters, run=_run(QUARTER_S)),
        },
        scenarios=scenarios_with(run),
        last_refresh=HOUR - 700,
    )


def _run(step_s: int) -> Run:
    median = -1234.56 + np.arange(9 * DAY_S // step_s) * 37 % 401 / 7
    percentiles = np.array([median - 111.11, median, median + 111.11])
    return run_with(percentiles, made_at=HOUR - 600, start_ts=HOUR + HOUR_S, step_s=step_s)


async def _serve(runner: web.AppRunner) -> None:
    """Serve on a free port, and print it."""
    await runner.setup()
    await web.TCPSite(runner, HOST, 0).start()
    click.echo(runner.addresses[0][1])
    await asyncio.Event().wait()


async def serve_ours() -> None:
    """Serve our application."""
    settings = Settings()
    clock = RehearsalClock(HOUR + 10)
    snapshot = Snapshot(settings, clock)
    snapshot.replace_data(largest_view())
    app = create_app(
        settings,
        [ServedZone(snapshot=snapshot, read_prices=lambda _start, _end: PriceHistory(0, {}))],
        clock,
        instance_id="benchmark",
    )
    await _serve(Runner(app, access_log=None))


async def serve_bare(size: int) -> None:
    """Serve `size` bytes from a bare handler."""
    body = b"x" * size

    async def handle(_request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    for path in COMPARED:
        app.router.add_get(path, handle)
    await _serve(web.AppRunner(app, access_log=None))


@contextmanager
def served(*arguments: str) -> Iterator[tuple[int, int]]:
    """Run one of the servers as a process, and yield its id and its port once it serves."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_requests", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.terminate()


def drive(port: int, path: str, coding: Coding, seconds: int) -> Load:
    """Send requests for some seconds over a fixed number of connections."""
    if shutil.which("wrk"):
        return _wrk(port, path, coding, seconds)
    return asyncio.run(_sockets(port, path, coding, seconds))


def _wrk(port: int, path: str, coding: Coding, seconds: int) -> Load:
    url = f"http://{HOST}:{port}{path}"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-H", f"Accept-Encoding: {coding}", url]
    report = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + 30).stdout
    load = read_report(report)
    if load.failed:
        raise click.ClickException(report)
    return load


async def _sockets(port: int, path: str, coding: Coding, seconds: int) -> Load:
    request = f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept-Encoding: {coding}\r\n\r\n".encode()
    started = time.perf_counter()
    times: list[float] = []

    async def client() -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        while (sent := time.perf_counter()) < started + seconds:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"Content-Length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            times.append(time.perf_counter() - sent)
        writer.close()

    await asyncio.gather(*(client() for _ in range(CONNECTIONS)))
    elapsed = time.perf_counter() - started
    return Load(len(times), 0, len(times) / elapsed, statistics.quantiles(times, n=100)[98] * 1000)


def resident_mb(pid: int) -> float:
    """Return a process's resident memory in MB (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    resident = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(resident[1]) / 1024 if resident else float("nan")


def compare(path: str, coding: Coding, seconds: int, rounds: int) -> float:
    """Measure both servers in turns, print their rates, and return the ratio of their best rounds."""
    size = len(_answers(_snapshot())[path](coding).body)
    ours: list[Load] = []
    bare: list[Load] = []
    with served("ours") as (_, our_port), served("bare", str(size)) as (_, bare_port):
        for port in (our_port, bare_port):
            drive(port, path, coding, 1)
        for _ in range(rounds):
            ours.append(drive(our_port, path, coding, seconds))
            bare.append(drive(bare_port, path, coding, seconds))
    # Other processes can only slow a round down, so the best round is the least disturbed.
    ratio = max(load.per_second for load in ours) / max(load.per_second for load in bare)
    click.echo(f"{path}, {coding}, {size} bytes: {ratio:.3f} of the bare handler, best round against best round")
    for name, loads in (("ours", ours), ("bare", bare)):
        rates = " ".join(f"{load.per_second:.0f}" for load in loads)
        p99 = statistics.median(load.p99_ms for load in loads)
        click.echo(f"  {name}: {rates} requests/s, p99 {p99:.2f} ms")
    return ratio


def _snapshot() -> Snapshot:
    snapshot = Snapshot(Settings(), RehearsalClock(HOUR + 10))
    snapshot.replace_data(largest_view())
    return snapshot


def _answers(snapshot: Snapshot) -> dict[str, Callable[[Coding], Representation]]:
    """Return the functions that make the answers, by address."""
    return {
        FORECAST: snapshot.forecast_answer,
        QUARTERS: partial(snapshot.quarters_answer, 0),
        f"{QUARTERS}?days=1": partial(snapshot.quarters_answer, 1),
        f"{QUARTERS}?days=14": partial(snapshot.quarters_answer, 14),
        "/api/v1/scenarios": snapshot.scenarios_answer,
        "/api/series?days=14": partial(snapshot.series_answer, 14),
        **{
            f"/api/feeds/{reader}{'?resolution=60m' if step_s == HOUR_S else ''}": partial(
                snapshot.feed_answer, FeedRequest(reader, step_s, "consumer")
            )
            for reader in FEED_FORMATS
            for step_s in (QUARTER_S, HOUR_S)
        },
    }


def measure_memory(requests: int) -> None:
    """Print the server's resident memory before and after that many requests."""
    with served("ours") as (pid, port):
        drive(port, FORECAST, "gzip", 1)
        before = resident_mb(pid)
        done, deadline = 0, time.monotonic() + MEMORY_TIME_LIMIT_S
        while done < requests and time.monotonic() < deadline:
            done += drive(port, FORECAST, "gzip", 10).requests
        click.echo(f"memory: {before:.1f} MB, after {done} requests {resident_mb(pid):.1f} MB")


def measure_encoding(repeats: int = 50) -> None:
    """Print the time of making and encoding each answer once."""
    snapshot = _snapshot()
    view = largest_view()
    for coding in CODINGS:
        for path, answer in _answers(snapshot).items():
            times = []
            for _ in range(repeats):
                snapshot.replace_data(view)
                started = time.perf_counter()
                made = answer(coding)
                times.append(time.perf_counter() - started)
            click.echo(f"{path}, {coding}: {statistics.median(times) * 1000:.2f} ms for {len(made.body)} bytes")


@click.group(invoke_without_command=True)
@click.option("--seconds", default=4, help="Length of each round.")
@click.option("--rounds", default=5, help="Rounds for each server.")
@click.option("--requests", default=1_000_000, help="Requests before memory is looked at again.")
@click.pass_context
def main(context: click.Context, seconds: int, rounds: int, requests: int) -> None:
    """Compare, and print the figures."""
    if context.invoked_subcommand:
        return
    measure_encoding()
    for path in COMPARED:
        for coding in ("identity", "gzip"):
            compare(path, coding, seconds, rounds)
    measure_memory(requests)


@main.command()
def ours() -> None:
    """Serve our application."""
    uvloop.run(serve_ours())


@main.command()
@click.argument("size", type=int)
def bare(size: int) -> None:
    """Serve SIZE bytes from a bare handler."""
    uvloop.run(serve_bare(size))


if __name__ == "__main__":
    main()

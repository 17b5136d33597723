"""A server's needs over simulated hours: memory between hourly runs and at its peak, and processor time.

    OPENBLAS_NUM_THREADS=1 uv run --no-sync python -m tests.benchmarks.bench_memory [--hours 8] [--zones ee,lv,lt,fi]

A real `tunnihind serve` runs on a database with six years of prices of four zones and a year of weather of 14 points by
3 variables. Its clock is moved on hour by hour (libfaketime). Nothing is fetched. Memory is the proportional set size
of the server and all of its children (`smaps_rollup`). Processor time is also the sum over the server and all of its
children, including ended ones. The last column is calculated: the processor time on a machine a quarter as fast, about
a Raspberry Pi.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final, Self

import click

from tests.benchmarks.bench_forecast import LAST, fill, weather
from tests.support.machine.processes import UNREACHABLE_URL, free_port
from tests.support.machine.shifted_clock import ShiftedClock, library
from tests.support.markets.windy_market import WindyMarket, archive_of
from tunnihind.cli.options import ZonesType
from tunnihind.core.market import HOUR_S, MARKETS, Zone, iso_utc
from tunnihind.forecast.identity import model_identity
from tunnihind.store.store import Store

YEARS: Final = 6
SLOWER: Final = 4
PATIENCE_S: Final = 900.0
CALM_S: Final = 11.0
"""A server without children for this time has no work left, because the pipeline checks for work every ten seconds."""
COMMAND: Final = Path(sys.executable).with_name("tunnihind")


@dataclass(frozen=True, slots=True)
class Spent:
    """The resources used between two moments."""

    processor_s: float
    peak_mb: float
    steady_mb: float
    seconds: float


class Watch:
    """Measures a server and its children."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.peak_mb = 0.0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def children(self) -> list[int]:
        """Return the server's living child processes."""
        return [
            int(pid) for task in Path(f"/proc/{self.pid}/task").iterdir() for pid in _read(task / "children").split()
        ]

    def pss_mb(self) -> float:
        """Return the memory of the server and its children."""
        return sum(_pss_mb(pid) for pid in (self.pid, *self.children()))

    def processor_s(self) -> float:
        """Return the processor time of the server and of all processes that it has ever started."""
        ticks = sum(sum(_ticks(pid)[:4]) for pid in (self.pid, *self.children()))
        return ticks / os.sysconf("SC_CLK_TCK")

    def until_calm(self, done: Callable[[], bool]) -> Spent:
        """Wait until a task is done and the server is idle."""
        began, spent = time.monotonic(), self.processor_s()
        self.peak_mb, busy = 0.0, time.monotonic()
        while time.monotonic() - began < PATIENCE_S:
            if not _pss_mb(self.pid):
                raise SystemExit("the server has ended: its log says why")
            if self.children() or not done():
                busy = time.monotonic()
            if time.monotonic() - busy > CALM_S:
                return Spent(self.processor_s() - spent, self.peak_mb, self.pss_mb(), busy - began)
            time.sleep(0.1)
        raise SystemExit("the server does not get done with its work")

    def _look(self) -> None:
        while not self._is_over.wait(0.1):
            self.peak_mb = max(self.peak_mb, self.pss_mb())


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # it has ended


def _pss_mb(pid: int) -> float:
    found = [
        line.split()[1] for line in _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines() if line.startswith("Pss:")
    ]
    return int(found[0]) / 1024 if found else 0.0


def _ticks(pid: int) -> list[int]:
    """Return utime, stime, cutime and cstime, the latter two of children that have ended."""
    return [int(value) for value in _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[11:15]]


@contextmanager
def server(database: Path, clock: ShiftedClock, zones: Sequence[Zone], log: Path) -> Iterator[Watch]:
    """Run a server and measure it."""
    arguments = ["--database-url", f"sqlite:///{database}", "--host", "127.0.0.1", "--no-announce"]
    sources = ["--no-weather", "--elering-url", UNREACHABLE_URL, "--history-start", str(LAST.year)]
    arguments += ["--port", str(free_port()), "--zones", ",".join(zones), *sources]
    environment = os.environ | clock.environment
    with log.open("ab") as stream:
        process = subprocess.Popen([COMMAND, "serve", *arguments], stderr=stream, env=environment)
    try:
        with Watch(process.pid) as watch:
            yield watch
    finally:
        process.terminate()
        process.wait()
        click.echo(log.read_text(), err=True)


def runs(database: Path) -> int:
    """Return the number of hourly runs in all zones."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        found: int = connection.execute("SELECT count(*) FROM runs WHERE step_s = 3600").fetchone()[0]
        return found


def measured(
    database: Path, clock: ShiftedClock, zones: Sequence[Zone], hours: int, log: Path
) -> Iterator[tuple[str, Spent]]:
    """Yield each task and its resources."""

    def a_run_of_each_zone() -> Callable[[], bool]:
        wanted = runs(database) + len(zones)
        return lambda: runs(database) >= wanted

    done = a_run_of_each_zone()
    with server(database, clock, zones, log) as watch:
        yield "first start", watch.until_calm(done)
        for _ in range(hours):
            done = a_run_of_each_zone()
            clock.jump(HOUR_S)
            yield f"an hour later, {iso_utc(int(clock.now()))}", watch.until_calm(done)
    done = a_run_of_each_zone()
    clock.jump(HOUR_S)
    with server(database, clock, zones, log) as watch:
        yield "restarted an hour later, first run", watch.until_calm(done)


@click.command(help=__doc__)
@click.option("--hours", default=8, show_default=True)
@click.option("--zones", type=ZonesType(), default="ee", show_default=True)
@click.option("--with-scores", is_flag=True, help="Have the model scored on 90 past days too, at the first start.")
@click.option("--at", default="05:30", show_default=True, help="UTC, of the day before the last one with prices.")
def main(hours: int, zones: tuple[Zone, ...], at: str, *, with_scores: bool) -> None:
    """Fill a database, run a server on it, and print a table."""
    faketime = library()
    if faketime is None:
        raise click.ClickException("libfaketime is not installed")
    first = date(LAST.year - YEARS, LAST.month, LAST.day)
    with tempfile.TemporaryDirectory() as folder:
        database, clock = Path(folder) / "tunnihind.db", ShiftedClock(faketime, Path(folder) / "clock")
        market = WindyMarket.of(first, (LAST - first).days + 1)
        fill(f"sqlite:///{database}", archive_of(first, LAST, market.prices), weather())
        clock.set(f"{LAST - timedelta(days=1)}T{at}:00+00:00")
        if not with_scores:
            with Store(f"sqlite:///{database}") as store:
                for zone in zones:
                    store.backtests.record_scored(model_identity(MARKETS[zone]), zone, int(clock.now()))
        click.echo(f"{'':<44}{'CPU s':>8}{'peak MB':>9}{'then MB':>9}{'seconds':>9}{f'CPU s, {SLOWER}x slower':>20}")
        for what, spent in measured(database, clock, zones, hours, Path(folder) / "log"):
            numbers = f"{spent.processor_s:8.2f}{spent.peak_mb:9.0f}{spent.steady_mb:9.0f}{spent.seconds:9.1f}"
            click.echo(f"{what:<44}{numbers}{SLOWER * spent.processor_s:20.1f}")
        kept = sorted(Path(f"{database}-learnt").glob("*/*"))
        size = sum(path.stat().st_size for path in kept) / 1e6
        click.echo(
            f"{len(kept)} files of what was learnt, {size:.0f} MB; the database {database.stat().st_size / 1e6:.0f} MB"
        )


if __name__ == "__main__":
    main()

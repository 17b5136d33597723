"""The load of a cluster and its behaviour in faults: nginx, PostgreSQL, replicas and `wrk` as real processes.

    uv run --no-sync python -m tests.benchmarks.bench_scale [--quick] [--part throughput]... [--table FILE]

The run takes some nine minutes, or two or three with `--quick`. Every part is bounded in time. A failed part is a line
of the table, and no process is left. The run needs Debian's packages nginx-light, openssl, postgresql, wrk and
libfaketime. On a machine with other work the figures say little, so the table has the machine's load. docs/scale.md has
the table and the conclusions.
"""

import asyncio
import os
import platform
import shutil
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from tests.benchmarks.scale import faults, hour, throughput
from tests.benchmarks.scale.cluster import opened
from tests.benchmarks.scale.report import Finding, Report
from tests.support.machine import nginx, shifted_clock
from tests.support.store import postgresql


@dataclass(frozen=True)
class Sizes:
    """The durations and the amounts."""

    seconds: int
    rounds: int
    fault_s: int
    clients: int
    away_s: float
    all_faults: bool


FULL: Final = Sizes(seconds=6, rounds=4, fault_s=20, clients=5000, away_s=60, all_faults=True)
QUICK: Final = Sizes(seconds=1, rounds=1, fault_s=6, clients=1000, away_s=3, all_faults=False)
_LONGEST_PART_S: Final = 360


async def measure_throughput(folder: Path, sizes: Sizes, report: Report) -> None:
    """Measure the load of the edge and the replicas, and the effect of losing one of them."""
    async with opened(folder, now=time.time) as cluster:
        pipeline = await cluster.start("pipeline")
        await pipeline.until_ready()
        await cluster.start_replicas()
        edge = await cluster.start_edge()
        seconds, rounds = sizes.seconds, sizes.rounds
        await throughput.through_the_edge(edge, report, seconds=seconds, rounds=rounds)
        await throughput.of_replicas(cluster, edge, report, seconds=seconds, rounds=rounds)
        await throughput.with_a_replica_killed(cluster, edge, report, seconds=sizes.fault_s)
        await throughput.with_a_replica_frozen(cluster, edge, report, seconds=sizes.fault_s)


async def measure_hour(folder: Path, sizes: Sizes, report: Report) -> None:
    """Measure the first second of an hour."""
    async with hour.opened_before_an_hour(folder) as (cluster, edge):
        report.add(*await hour.all_clients_at_once(cluster, edge, clients=sizes.clients))


async def measure_faults(folder: Path, sizes: Sizes, report: Report) -> None:
    """Measure the faults and their losses."""
    await faults.survive(folder, report, away_s=sizes.away_s, all_of_them=sizes.all_faults)


PARTS: Final[dict[str, Callable[[Path, Sizes, Report], Awaitable[None]]]] = {
    "throughput": measure_throughput,
    "hour": measure_hour,
    "faults": measure_faults,
}


async def measure(parts: Sequence[str], sizes: Sizes, report: Report) -> None:
    """Run parts, each in a separate folder. An error in a part is a finding."""
    for name in parts:
        started = time.monotonic()
        click.echo(f"{name} …", err=True)
        folder = Path(tempfile.mkdtemp(prefix="tunnihind-scale-"))
        try:
            async with asyncio.timeout(_LONGEST_PART_S):
                await PARTS[name](folder, sizes, report)
        except Exception as error:  # noqa: BLE001  the other parts go on
            click.echo(traceback.format_exc(), err=True)
            report.add(Finding(f"The part {name}", f"ended by {error!r:.300}", "", reached=False))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        click.echo(f"{name}: {time.monotonic() - started:.0f} s", err=True)


def machine() -> str:
    """Describe the machine, and its load."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{os.cpu_count()} processors ({platform.machine()}), {memory:.0f} GB, load before {os.getloadavg()[0]:.1f}"


def _missing() -> list[str]:
    wanted = {
        "nginx": nginx.program(),
        "PostgreSQL": postgresql.is_installed(),
        "openssl": shutil.which("openssl"),
        "wrk": shutil.which("wrk"),
        "libfaketime": shifted_clock.library(),
    }
    return [name for name, found in wanted.items() if not found]


@click.command()
@click.option("--quick", is_flag=True, help="In two or three minutes, with less of everything.")
@click.option("--part", "parts", type=click.Choice([*PARTS]), multiple=True, help="Only this part; may be repeated.")
@click.option("--table", type=click.Path(dir_okay=False, path_type=Path), help="Write the table to this file too.")
def main(*, quick: bool, parts: tuple[str, ...], table: Path | None) -> None:
    """Measure, and print a table."""
    if missing := _missing():
        raise click.ClickException(f"this needs {', '.join(missing)}; the packages are named at the top of the script")
    report, told = Report(), machine()
    asyncio.run(measure(parts or [*PARTS], QUICK if quick else FULL, report))
    text = f"{told}{', quick' if quick else ''}\n\n{report.table()}\n"
    click.echo(text)
    if table is not None:
        table.write_text(text)
    if any(finding.reached is False for finding in report.findings):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

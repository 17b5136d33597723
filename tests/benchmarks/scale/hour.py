"""The first second of an hour, when all clients request an answer that no cache has yet."""

import asyncio
import gzip
import json
import statistics
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from tests.benchmarks.scale.cluster import Cluster, Edge, opened
from tests.benchmarks.scale.load import Got, all_at_once
from tests.benchmarks.scale.report import Finding
from tests.support.machine.shifted_clock import ShiftedClock, library
from tunnihind.market import HOUR_S, floor_hour

_FORECAST: Final = "/api/v1/forecast"
_JUST_BEFORE: Final = "2026-06-10T08:59:30Z"
_TO_CONNECT_S: Final = 6.0
_HANDFUL: Final = 5
_REQUEST: Final = (
    b"GET /api/v1/forecast HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
)


@asynccontextmanager
async def opened_before_an_hour(folder: Path) -> AsyncIterator[tuple[Cluster, Edge]]:
    """Open a cluster shortly before the end of an hour, and fill the edge's cache."""
    found = library()
    assert found is not None
    clock = ShiftedClock(found, folder / "clock")
    clock.set(_JUST_BEFORE)
    async with opened(folder, now=clock.now, clock=clock) as cluster:
        pipeline = await cluster.start("pipeline")
        await pipeline.until_ready()
        await cluster.start_replicas()
        edge = await cluster.start_edge()
        clock.set(_JUST_BEFORE)
        await asyncio.sleep(1)
        yield cluster, edge


async def all_clients_at_once(cluster: Cluster, edge: Edge, *, clients: int) -> list[Finding]:
    """Send the requests of all clients within the first second of an hour."""
    assert cluster.clock is not None
    loop = asyncio.get_running_loop()
    before = floor_hour(int(cluster.now()))
    await all_at_once(edge.port, _REQUEST, clients=1)
    cluster.clock.jump(round(before + HOUR_S - _TO_CONNECT_S - cluster.now()))
    asked = await cluster.asked_of_replicas(_FORECAST)
    start = loop.create_future()
    turn = before + HOUR_S
    loop.call_later(turn - cluster.now() + 0.01, start.set_result, None)
    got = await all_at_once(edge.port, _REQUEST, clients=clients, start=start)
    reached = await cluster.asked_of_replicas(_FORECAST) - asked
    failed = sum(one.status != 200 for one in got)
    wrong = sum(_current(one) != turn for one in got if one.status == 200)
    statuses = dict(Counter(one.status for one in got))
    return [
        Finding(
            f"{clients:,} clients in the first second of an hour",
            f"{failed} failed, {wrong} got another hour {statuses if failed else ''}",
            "none",
            not failed and not wrong,
        ),
        Finding("Requests of these clients that the replicas saw", str(reached), "a handful", 0 < reached <= _HANDFUL),
        Finding("These clients answered after", _times(got)),
    ]


def _current(got: Got) -> int:
    ts: int = json.loads(gzip.decompress(got.body))["dayAhead"][0]["ts"]
    return ts


def _times(got: Sequence[Got]) -> str:
    times = sorted(one.after_s for one in got)
    return f"median {statistics.median(times):.2f} s, p99 {times[len(times) * 99 // 100]:.2f} s, last {times[-1]:.2f} s"

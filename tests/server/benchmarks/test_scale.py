"""The tools of `bench_scale` tell right from wrong: its watcher, its reading of wrk, and its cut network."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.benchmarks.scale.cut import Link
from tests.benchmarks.scale.load import Load, all_at_once, read_report
from tests.benchmarks.scale.truth import Watcher
from tests.support.machine.processes import until
from tunnihind.market import HOUR_S

HOUR: Final = 1_765_792_800
TRUTH: Final = {HOUR + n * HOUR_S: 10.0 + n for n in range(-24, 24)}

REPORT: Final = """
  2 threads and 16 connections
    99%   12.34ms
  3000 requests in 3.00s, 12.00MB read
  Socket errors: connect 1, read 2, write 0, timeout 3
  Non-2xx or 3xx responses: 4
Requests/sec:   1000.50
"""


def settled(first: int, count: int) -> list[dict[str, Any]]:
    return [{"ts": ts, "eurMwh": TRUTH[ts]} for ts in range(first, first + count * HOUR_S, HOUR_S)]


def forecast(**changes: Any) -> dict[str, Any]:  # noqa: ANN401  any JSON
    return {"dayAhead": settled(HOUR, 3), "forecast": [{"ts": HOUR + HOUR_S}], **changes}


async def _has_read(watcher: Watcher) -> bool:
    return watcher.read > 2


async def watched(answer: dict[str, Any], *, now: float = HOUR + 10.0, status: int = 200) -> Watcher:
    """Return the watcher's findings about an answer to every request."""

    async def handle(request: web.Request) -> web.Response:
        series = {"actuals": answer["dayAhead"], "current": next(iter(answer["dayAhead"]), None)}
        return web.json_response(series if request.path == "/api/series" else answer, status=status)

    app = web.Application()
    app.router.add_get("/{path:.*}", handle)
    async with TestServer(app) as server:
        watcher = Watcher(str(server.make_url("")).rstrip("/"), TRUTH, lambda: now)
        task = asyncio.create_task(watcher.run())
        assert await until(partial(_has_read, watcher))
        task.cancel()
    return watcher


async def test_the_watcher_finds_nothing_wrong_with_the_truth() -> None:
    watcher = await watched(forecast())
    assert (watcher.wrong, watcher.failed, watcher.newest) == ([], [], HOUR + 2 * HOUR_S)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (forecast(dayAhead=settled(HOUR - HOUR_S, 3)), "the current hour"),
        (forecast(dayAhead=settled(HOUR, 2) + settled(HOUR + 3 * HOUR_S, 1)), "hours are missing"),
        (forecast(dayAhead=settled(HOUR, 2) + settled(HOUR + HOUR_S, 1)), "hours are missing"),
        (forecast(dayAhead=[{"ts": HOUR, "eurMwh": 10.01}]), "the price of"),
        (forecast(dayAhead=[]), "hours are missing"),
        (forecast(forecast=[{"ts": HOUR}]), "which has begun"),
    ],
    ids=["hour before", "gap", "hour twice", "other price", "nothing", "forecast of now"],
)
async def test_the_watcher_notes_what_is_wrong(answer: dict[str, Any], said: str) -> None:
    watcher = await watched(answer)
    assert any(said in fault for fault in watcher.wrong), watcher.wrong


async def test_the_watcher_notes_what_failed() -> None:
    assert (await watched(forecast(), status=503)).failed


def test_all_that_wrk_calls_an_error_counts_as_failed() -> None:
    assert read_report(REPORT) == Load(3000, 10, 1000.5, 12.34)
    with pytest.raises(ValueError, match="can't be read"):
        read_report("unable to connect")


async def test_clients_that_get_no_answer_are_told_from_those_that_do() -> None:
    asked = 0

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        await reader.readuntil(b"\r\n\r\n")
        asked += 1
        if asked % 2:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        got = await all_at_once(port, b"GET / HTTP/1.1\r\n\r\n", clients=10)
    assert sorted((one.status, one.body) for one in got) == [(0, b"")] * 5 + [(200, b"ok")] * 5


@pytest.fixture
async def echo() -> AsyncIterator[Path]:
    """Return a socket that sends all bytes back. The socket's path has to be short."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "echo"
        async with await asyncio.start_unix_server(take, path):
            yield path


async def test_a_cut_network_lets_nothing_through_until_it_is_healed(echo: Path) -> None:
    async with Link(echo) as link:
        reader, writer = await asyncio.open_connection("127.0.0.1", link.port)
        writer.write(b"one")
        assert await reader.readexactly(3) == b"one"
        link.cut()
        writer.write(b"two")
        answer = asyncio.create_task(reader.readexactly(3))
        done, _ = await asyncio.wait([answer], timeout=0.05)
        assert not done
        link.heal()
        assert await answer == b"two"
        writer.close()

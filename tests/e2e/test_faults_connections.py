"""More silent connections than a server may have open: it still serves requests."""

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.machine.processes import Launch, Server, Tunnihind
from tunnihind.core.market import HOUR_S

SILENT = 1_600
LIMITED = ("sh", "-c", 'ulimit -n 1024 && exec "$@"', "sh")
"""Runs a program that may have 1,024 descriptors and no more."""


@pytest.fixture
def _many_descriptors() -> Iterator[None]:
    """Allow this process its side of all those connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * SILENT + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"needs {wanted} descriptors, and may have {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@asynccontextmanager
async def silent_connections(server: Server, count: int) -> AsyncIterator[None]:
    """Open as many connections as the server takes, send nothing, and never close one."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    opened = await asyncio.gather(
        *(asyncio.open_connection(host, int(port)) for _ in range(count)), return_exceptions=True
    )
    try:
        yield
    finally:
        for one in opened:
            if not isinstance(one, BaseException):
                one[1].close()


@pytest.mark.usefixtures("_many_descriptors")
async def test_silent_connections_leave_descriptors_to_requests_and_database(
    launch: Launch, tunnihind: Tunnihind, tmp_path: Path
) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(f"ts,ee\n{1_765_792_800 - HOUR_S},50\n")
    assert (await tunnihind("import", "prices", str(file))).status == 0
    server = launch("--no-pipeline", wrapper=LIMITED)
    await server.until("/healthz", lambda reply: reply.status == 200)
    async with silent_connections(server, SILENT):
        for _ in range(20):
            assert (await server.get("/api/about")).status == 200
        file.write_text("ts,ee\n1765792800,60\n")
        assert (await tunnihind("import", "prices", str(file))).status == 0
        assert (await tunnihind("status")).status == 0
        assert (await server.get("/api/series")).status == 200
    assert "rror" not in server.log
    assert "unable to open" not in server.log

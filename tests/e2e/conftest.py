"""Real processes of `tunnihind`, talking over the loopback interface only."""

import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from tests.support.processes import Done, Server, run
from tests.support.shifted_clock import ShiftedClock, library

type Tunnihind = Callable[..., Awaitable[Done]]

NOBODY = "http://127.0.0.1:9"
"""An address at which nothing answers (the discard port), so that no test ever asks the real upstreams."""


class Launch(Protocol):
    """Starts a server."""

    def __call__(
        self, *arguments: str, clock: ShiftedClock | None = None, port: int | None = None, wrapper: Sequence[str] = ()
    ) -> Server: ...


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return where a test's processes keep their data."""
    return tmp_path / "data" / "tunnihind.db"


@pytest.fixture
def environment(tmp_path: Path, database: Path) -> dict[str, str]:
    """Return the environment of a test's processes."""
    return server_environment(tmp_path, database)


@pytest.fixture
def tunnihind(environment: dict[str, str]) -> Tunnihind:
    """Return what runs a command to its end."""

    async def command(*arguments: str, clock: ShiftedClock | None = None) -> Done:
        return await run(arguments, environment | (clock.environment if clock else {}))

    return command


@pytest.fixture
async def launch(environment: dict[str, str], tmp_path: Path) -> AsyncIterator[Launch]:
    """Return what starts a server. It has to end when it is told to, alone, and without a bug in its log."""
    servers: list[Server] = []

    def start(
        *arguments: str, clock: ShiftedClock | None = None, port: int | None = None, wrapper: Sequence[str] = ()
    ) -> Server:
        log = tmp_path / f"server-{len(servers)}.log"
        settings = environment | (clock.environment if clock else {})
        servers.append(Server(arguments, settings, port or free_port(), log, wrapper=wrapper))
        return servers[-1]

    yield start
    try:
        for server in servers:
            if server.is_running():
                assert await server.terminate() == 0, server.log
            assert await server.until_alone(), server.family()
            assert "Traceback" not in server.log, server.log
    finally:
        for server in servers:
            server.clear_away()


@pytest.fixture
def clock(tmp_path: Path) -> ShiftedClock:
    """Return a clock for servers to live on another day."""
    found = library()
    if found is None:
        pytest.skip("needs a clock that can be shifted: Debian's package libfaketime")
    return ShiftedClock(found, tmp_path / "clock")


def server_environment(home: Path, database: Path) -> dict[str, str]:
    """Return the environment of a server, with nothing of the machine's but what it takes to run it."""
    # Without PYTHONDONTWRITEBYTECODE in particular: each process would compile everything anew.
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(home),
        "TUNNIHIND_DATABASE_URL": f"sqlite:///{database}",
        "TUNNIHIND_HOST": "127.0.0.1",
        "TUNNIHIND_ELERING_URL": NOBODY,
        "TUNNIHIND_WEATHER": "no",
    }


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port

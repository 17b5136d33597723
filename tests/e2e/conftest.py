"""Real processes of `tunnihind`, talking over the loopback interface only; and a real browser for its pages."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.support.machine.processes import Done, Launch, Server, Tunnihind, free_port, run, server_environment
from tests.support.machine.shifted_clock import ShiftedClock, library


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return the data folder of a test's processes."""
    return tmp_path / "data" / "tunnihind.db"


@pytest.fixture
def environment(tmp_path: Path, database: Path) -> dict[str, str]:
    """Return the environment of a test's processes."""
    return server_environment(tmp_path, database)


@pytest.fixture
def tunnihind(environment: dict[str, str]) -> Tunnihind:
    """Return a function that runs a command to its end."""

    async def command(*arguments: str, clock: ShiftedClock | None = None) -> Done:
        return await run(arguments, environment | (clock.environment if clock else {}))

    return command


@pytest.fixture
async def launch(environment: dict[str, str], tmp_path: Path) -> AsyncIterator[Launch]:
    """Return a function that starts a server.

    The server has to stop on request, leave no process behind, and log no bug.
    """
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
    """Return a clock with which servers run on another day."""
    found = library()
    if found is None:
        pytest.skip("needs a clock that can be shifted: Debian's package libfaketime")
    return ShiftedClock(found, tmp_path / "clock")

"""The Home Assistant app's own start, with a Supervisor that listens and the server of this project."""

import asyncio
import getpass
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientSession, web

from tests.support.machine.processes import COMMAND, Process, free_port, server_environment
from tunnihind.store.store import Store

APP: Final = Path(__file__).parents[2] / "packaging/home-assistant-app"
START: Final = """
import start
from pathlib import Path
start.DATA, start.PORT, start.SUPERVISOR, start.USER = Path({data!r}), {port}, {supervisor!r}, {user!r}
start.main()
"""


@pytest.fixture
async def supervisor() -> AsyncIterator[tuple[str, asyncio.Queue[web.Request]]]:
    """Return the address of a Supervisor that forbids everything, and the discoveries that are sent to it."""
    told: asyncio.Queue[web.Request] = asyncio.Queue()

    async def refuse(request: web.Request) -> web.Response:
        await request.read()
        told.put_nowait(request)
        return web.Response(status=403)

    app = web.Application()
    app.router.add_post("/discovery", refuse)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", told
    await runner.cleanup()


def start_app(data: Path, supervisor: str, port: int, log: Path) -> Process:
    """Start the app with a data folder, as the Supervisor does. Skip the test without root."""
    if os.getuid() != 0:
        pytest.skip("needs root, as in the container, to start the server as another user")
    environment = server_environment(data.parent, data / "tunnihind.db") | {
        "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(APP),
        "SUPERVISOR_TOKEN": "secret",
        "TUNNIHIND_PORT": str(port),
    }
    program = START.format(data=str(data), port=port, supervisor=supervisor, user=getpass.getuser())
    return Process([sys.executable, "-c", program], environment, log)


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


async def test_the_app_announces_a_server_that_answers_and_ends_with_it(
    supervisor: tuple[str, asyncio.Queue[web.Request]], tmp_path: Path
) -> None:
    address, told = supervisor
    port, data = free_port(), tmp_path / "data"
    data.mkdir()
    (data / "options.json").write_text('{"vat_rate": 0.24, "log_level": "info"}')
    app = start_app(data, address, port, tmp_path / "app.log")
    try:
        async with asyncio.timeout(60):
            request = await told.get()
        assert request.headers["Authorization"] == "Bearer secret"
        assert (await request.json())["config"]["port"] == port
        # It is there when Home Assistant comes to look, with the app's options, and whether or not it was announced.
        async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}/api/about") as response:
            assert (await response.json())["vatRate"] == 0.24
        [server] = app.family() - {app.pid}
        assert b"SUPERVISOR_TOKEN" not in environment_of(server)
        await app.until_logged("The server could not be announced to Home Assistant")
        assert await app.terminate() == 0
        assert await app.until_alone()
    finally:
        app.clear_away()


async def test_the_app_goes_on_as_the_server_whose_database_it_was_given(
    supervisor: tuple[str, asyncio.Queue[web.Request]], tmp_path: Path
) -> None:
    address, told = supervisor
    port, data, other = free_port(), tmp_path / "data", tmp_path / "tunnihind.db"
    data.mkdir()
    (data / "options.json").write_text("{}")
    with Store(f"sqlite:///{other}") as store:
        identity = store.state.instance_id()
    for start in ("first", "again"):
        app = start_app(data, address, port, tmp_path / f"{start}.log")
        try:
            async with asyncio.timeout(60):
                await told.get()
            async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}/api/about") as response:
                found = (await response.json())["instanceId"]
            assert (found == identity) is (start == "again")
            if start == "first":
                # As `docker cp` does it: another file of the same name, which belongs to root.
                shutil.copy(other, data / "copy")
                (data / "copy").replace(data / "tunnihind.db")
            assert await app.terminate() == 0
            assert await app.until_alone()
        finally:
            app.clear_away()

"""A server to ask."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from tests.support.api_server import FakeClock, RunningServer, make_view
from tunnihind.api.models import Mode
from tunnihind.api.served_data import ServedData
from tunnihind.api.server import MOST_CONNECTIONS, Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.service.application import create_app
from tunnihind.settings import Settings

type Serve = Callable[..., Awaitable[RunningServer]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Return what starts a server with the given view and settings; without a view it has read nothing yet."""
    runners: list[Runner] = []

    async def start(
        view: ServedData | None = None,
        settings: Settings | None = None,
        *,
        blank: bool = False,
        now: float = FakeClock().instant,
        pipeline_expected: bool = True,
        access_log: logging.Logger | None = None,
        mode: Mode = "live",
        most_connections: int = MOST_CONNECTIONS,
    ) -> RunningServer:
        settings = settings or Settings()
        clock = FakeClock(now)
        snapshot = Snapshot(settings, clock)
        if not blank:
            snapshot.show(view or make_view())
        app = create_app(settings, snapshot, clock, instance_id="test", pipeline_expected=pipeline_expected, mode=mode)
        runner = Runner(app, most_connections=most_connections, access_log=access_log, shutdown_timeout=1)
        runners.append(runner)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return RunningServer(runner, int(runner.addresses[0][1]), snapshot, clock)

    yield start
    for runner in runners:
        await runner.cleanup()


@pytest.fixture
async def server(serve: Serve) -> RunningServer:
    """Return a server with settled prices and a forecast."""
    return await serve()

"""Servers on real sockets, within a test."""

import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache, partial

from aiohttp import web

from tests.support.api.api_server import NOW, RunningServer, Serve, make_view, no_prices
from tests.support.clocks import StillClock
from tests.support.pages import sample_views
from tunnihind.api.history import ArePricesConfirmed, ReadMonthPrices
from tunnihind.api.models.service import Mode
from tunnihind.api.record_files import FindRecord
from tunnihind.api.score_table import ReadScores
from tunnihind.api.served_data import ServedData
from tunnihind.api.server import MAX_CONNECTIONS, Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.service.application import ServedZone, create_app
from tunnihind.settings import Settings
from tunnihind.web.summary import PageContext


@asynccontextmanager
async def serving() -> AsyncIterator[Serve]:
    """Yield a function that starts servers, and stop the servers afterwards.

    All zones of a server have the same view.
    """
    runners: list[Runner] = []
    reserved = ExitStack()

    async def start(
        view: ServedData | None = None,
        settings: Settings | None = None,
        *,
        blank: bool = False,
        now: float = NOW,
        pipeline_expected: bool = True,
        access_log: logging.Logger | None = None,
        mode: Mode = "live",
        most_connections: int = MAX_CONNECTIONS,
        read_prices: ReadMonthPrices = no_prices,
        read_scores: ReadScores = lambda _first, _last: (),
        find_record: FindRecord = lambda _month: None,
        are_confirmed: ArePricesConfirmed = lambda *_: True,
        page_context: Callable[[], PageContext] | None = None,
    ) -> RunningServer:
        settings = settings or Settings()
        clock = StillClock(now)
        snapshots = [Snapshot(settings.for_zone(zone), clock) for zone in settings.zones]
        if not blank:
            for snapshot in snapshots:
                snapshot.replace_data(replace(view or make_view(), market=snapshot.market))
        around = cache(partial(sample_views.page_context, int(now))) if view else PageContext
        app = create_app(
            settings,
            [
                ServedZone(
                    snapshot=snapshot,
                    read_prices=read_prices,
                    read_scores=read_scores,
                    find_record=find_record,
                    are_confirmed=are_confirmed,
                    page_context=page_context or around,
                )
                for snapshot in snapshots
            ],
            clock,
            instance_id="test",
            pipeline_expected=pipeline_expected,
            mode=mode,
        )
        runner = Runner(app, most_connections=most_connections, access_log=access_log, shutdown_timeout=1)
        runners.append(runner)
        await runner.setup()
        port = reserved.enter_context(_reserved_port()).getsockname()[1]
        await web.TCPSite(runner, "127.0.0.1", port).start()
        further = dict(zip(settings.zones[1:], snapshots[1:], strict=True))
        return RunningServer(runner, port, snapshots[0], clock, further)

    try:
        yield start
    finally:
        for runner in runners:
            await runner.cleanup()
        reserved.close()


def _reserved_port() -> socket.socket:
    """Return a socket that keeps a free port.

    The socket doesn't listen. So while no server runs at the port, connections are refused, and no server of a test in
    another process can get the port.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved

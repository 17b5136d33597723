"""Prices and forecasts to serve, and a running server that a test asks over a real socket."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from aiohttp import web
from multidict import CIMultiDict

from tests.support.clocks import HOUR as HOUR  # noqa: PLC0414  most tests take it from here
from tests.support.clocks import StillClock
from tests.support.markets.runs import run_with
from tests.support.pages import sample_views
from tests.support.store.pipelines import scenarios_with
from tunnihind.api.history import AreConfirmed, ReadPrices
from tunnihind.api.metrics import Metrics
from tunnihind.api.models.service import Mode
from tunnihind.api.score_table import ReadScores
from tunnihind.api.served_data import Percentiles, ServedData, in_quarters, served_quarters
from tunnihind.api.server import METRICS, MOST_CONNECTIONS, Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.forecast.known import PriceHistory
from tunnihind.forecast.run import Run
from tunnihind.market import HOUR_S, QUARTER_S, hourly_prices
from tunnihind.price_series import PriceSeries
from tunnihind.service.application import create_app
from tunnihind.settings import Settings
from tunnihind.web.summary import Surroundings

NOW = HOUR + 612.25
"""What the clock of a server shows unless a test says otherwise."""


def make_run(
    medians: Iterable[float], *, start: int = HOUR + HOUR_S, made_at: int = HOUR - 300, step_s: int = HOUR_S
) -> Run:
    """Return a run with the given medians and a band of ±10 EUR/MWh around them."""
    median = np.array(list(medians), np.float64)
    return run_with(np.array([median - 10, median, median + 10]), made_at=made_at, start_ts=start, step_s=step_s)


def make_view(
    settled: Mapping[int, float] | None = None,
    run: Run | None = None,
    *,
    quarters: Mapping[int, float] | None = None,
    quarter_run: Run | None = None,
    version: str = "1",
    issued: Mapping[int, Percentiles] | None = None,
    last_refresh: int | None = HOUR - 200,
) -> ServedData:
    """Return a view; by default 3 settled hours from the current one on, and a forecast of 5 days.

    Of settled hours only the hour is known, and of runs and what was issued only the hours, but for what is given by
    the quarter.
    """
    quarters, issued = quarters or {}, issued or {}
    if settled is None and not quarters:
        settled = {HOUR: 84.37, HOUR + HOUR_S: 71.9, HOUR + 2 * HOUR_S: -1.5}
        run = make_run(50 + i % 24 for i in range(120))
    prices = PriceSeries.of("ee", HOUR_S, {**(settled or {}), **hourly_prices(quarters)})
    in_view = served_quarters(prices, PriceSeries.of("ee", QUARTER_S, quarters))
    return ServedData(
        version=version,
        settled=prices,
        quarters=in_view.prices,
        known_by_hour=in_view.known_by_hour,
        issued=issued,
        issued_quarters={ts + n * QUARTER_S: said for ts, said in issued.items() for n in range(4)},
        run=run,
        quarter_run=in_quarters([run], [quarter_run] if quarter_run else [])[0] if run else None,
        scenarios=scenarios_with(run) if run else None,
        last_refresh=last_refresh,
    )


def no_prices(_start_ts: int, _end_ts: int) -> PriceHistory:
    """Read the history of a server that has no store."""
    return PriceHistory(0, {})


@dataclass(frozen=True)
class Answer:
    """An answer as it came over the wire."""

    status: int
    headers: CIMultiDict[str]
    body: bytes

    @classmethod
    def parse(cls, message: bytes) -> Answer:
        head, _, body = message.partition(b"\r\n\r\n")
        status_line, *lines = head.decode("latin-1").split("\r\n")
        fields = [line.split(": ", 1) for line in lines]
        return cls(int(status_line.split()[1]), CIMultiDict([(name, value) for name, value in fields]), body)


@dataclass(frozen=True)
class RunningServer:
    """A server on a real socket."""

    runner: Runner
    port: int
    snapshot: Snapshot
    clock: StillClock

    @property
    def metrics(self) -> Metrics:
        return self.runner.app[METRICS]

    async def exchange(self, message: bytes) -> bytes:
        """Send bytes, and return all that comes until the server closes the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(message)
        received = await reader.read()
        writer.close()
        return received

    async def ask(self, target: str, *headers: str, method: str = "GET", close: bool = False) -> Answer:
        """Send one request over a connection that stays open, and return exactly the bytes of its answer.

        A second request follows, so that a byte too many in the first answer would show.
        """
        lines = [f"{method} {target} HTTP/1.1", "Host: test", *headers, *(["Connection: close"] if close else [])]
        message = "\r\n".join([*lines, "", ""]).encode("latin-1")
        if close:
            return Answer.parse(await self.exchange(message))
        probe = b"GET /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
        first, second, rest = (await self.exchange(message + probe)).rpartition(b"HTTP/1.1 200 OK\r\n")
        assert rest.endswith(b'{"status":"ok"}')
        assert second
        return Answer.parse(first)


async def html_of(server: RunningServer, path: str, *headers: str) -> str:
    """Return a page, which must be there."""
    answer = await server.ask(path, *headers)
    assert answer.status == 200
    return answer.body.decode()


type Serve = Callable[..., Awaitable[RunningServer]]
"""What the fixture `serve` gives."""


@asynccontextmanager
async def serving() -> AsyncIterator[Serve]:
    """Give what starts servers, and stop those afterwards."""
    runners: list[Runner] = []

    async def start(
        view: ServedData | None = None,
        settings: Settings | None = None,
        *,
        blank: bool = False,
        now: float = NOW,
        pipeline_expected: bool = True,
        access_log: logging.Logger | None = None,
        mode: Mode = "live",
        most_connections: int = MOST_CONNECTIONS,
        read_prices: ReadPrices = no_prices,
        read_scores: ReadScores = lambda _first, _last: (),
        are_confirmed: AreConfirmed = lambda *_: True,
        surroundings: Callable[[], Surroundings] | None = None,
    ) -> RunningServer:
        settings = settings or Settings()
        clock = StillClock(now)
        snapshot = Snapshot(settings, clock)
        if not blank:
            snapshot.show(view or make_view())
        around = cache(partial(sample_views.surroundings, int(now))) if view else Surroundings
        app = create_app(
            settings,
            snapshot,
            clock,
            instance_id="test",
            read_prices=read_prices,
            read_scores=read_scores,
            are_confirmed=are_confirmed,
            pipeline_expected=pipeline_expected,
            mode=mode,
            surroundings=surroundings or around,
        )
        runner = Runner(app, most_connections=most_connections, access_log=access_log, shutdown_timeout=1)
        runners.append(runner)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return RunningServer(runner, int(runner.addresses[0][1]), snapshot, clock)

    try:
        yield start
    finally:
        for runner in runners:
            await runner.cleanup()

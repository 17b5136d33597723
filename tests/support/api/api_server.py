"""Prices and forecasts to serve, and a running server on a real socket."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from multidict import CIMultiDict

from tests.support.clocks import StillClock
from tests.support.markets.runs import run_with
from tests.support.store.pipelines import scenarios_with
from tunnihind.api.metrics import Metrics
from tunnihind.api.served_data import Percentiles, ServedData, ServedSeries, runs_at_step
from tunnihind.api.server import METRICS_KEY, Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, Zone, hourly_prices
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.known import PriceHistory
from tunnihind.price_series import PriceSeries

HOUR = 1_765_792_800
"""2025-12-15T10:00:00Z."""

NOW = HOUR + 612.25
"""The default time of a server's clock."""


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
    """Return a view; by default it has 3 settled hours from the current one on, and a forecast of 5 days.

    Settled prices, runs and issued forecasts are hourly, except the arguments for quarters.
    """
    quarters, issued = quarters or {}, issued or {}
    if settled is None and not quarters:
        settled = {HOUR: 84.37, HOUR + HOUR_S: 71.9, HOUR + 2 * HOUR_S: -1.5}
        run = make_run(50 + i % 24 for i in range(120))
    run_of_quarters = runs_at_step([run], [quarter_run] if quarter_run else [], QUARTER_S)[0] if run else None
    prices = PriceSeries.of("ee", HOUR_S, {**(settled or {}), **hourly_prices(quarters)})
    issued_quarters = {ts + n * QUARTER_S: said for ts, said in issued.items() for n in range(4)}
    in_quarters = ServedSeries.of(prices, PriceSeries.of("ee", QUARTER_S, quarters))
    scenarios = scenarios_with(run) if run else None
    view = hours_view(version, prices, issued=issued, run=run, scenarios=scenarios, last_refresh=last_refresh)
    return with_series(
        view,
        QUARTER_S,
        settled=in_quarters.settled,
        priced_by_hour=in_quarters.priced_by_hour,
        issued=issued_quarters,
        run=run_of_quarters,
    )


def hours_view(
    version: str,
    settled: PriceSeries,
    *,
    issued: Mapping[int, Percentiles] | None = None,
    run: Run | None = None,
    backtest: BacktestScore | None = None,
    **more: Any,  # noqa: ANN401  any other field of a view
) -> ServedData:
    """Return a view with hours only."""
    hours = ServedSeries(settled, issued=issued or {}, run=run, backtest=backtest)
    return ServedData(version, ESTONIA, {HOUR_S: hours}, **more)


def with_series(view: ServedData, step_s: int = HOUR_S, **changes: Any) -> ServedData:  # noqa: ANN401  any field
    """Return a view with other prices or forecasts at one step."""
    return replace(view, series={**view.series, step_s: replace(view.at_step(step_s), **changes)})


def no_prices(_start_ts: int, _end_ts: int) -> PriceHistory:
    """Return the empty history of a server without a store."""
    return PriceHistory(0, {})


@dataclass(frozen=True)
class Answer:
    """An answer's bytes and fields."""

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
    further: Mapping[Zone, Snapshot] = field(default_factory=dict)
    """The views of all zones except the first."""

    @property
    def metrics(self) -> Metrics:
        return self.runner.app[METRICS_KEY]

    async def exchange(self, message: bytes) -> bytes:
        """Send bytes, and return all received bytes until the server closes the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(message)
        received = await reader.read()
        writer.close()
        return received

    async def ask(self, target: str, *headers: str, method: str = "GET", close: bool = False) -> Answer:
        """Send one request over a connection that stays open, and return exactly the bytes of its answer.

        A second request follows. If the first answer had a byte too many, the second request would fail.
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
    """Return a page's HTML. Fails if there is no page."""
    answer = await server.ask(path, *headers)
    assert answer.status == 200
    return answer.body.decode()


type Serve = Callable[..., Awaitable[RunningServer]]
"""The function of the fixture `serve`."""

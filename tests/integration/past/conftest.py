"""A home whose server has prices of months ago."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from tests.support.household.home import Home, MakeHome, instant
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.known import PriceHistory
from tunnihind.price_series import PriceSeries


@dataclass
class Archive:
    """The server's stored prices from an instant on, and the months that the household requested."""

    home: Home = field(init=False)
    since: int
    quarter_of: Callable[[int], float] | None = None
    """The price of a quarter; None: only hours are known."""
    asked: list[str] = field(default_factory=list)
    gap: range = range(0)
    """Hours that the server has no prices of."""
    refusals: list[web.Response] = field(default_factory=list)
    """The server's answers before the real one."""

    def read(self, start_ts: int, end_ts: int) -> PriceHistory:
        """Return the data that a server reads from its store."""
        between = range(max(start_ts, self.since), min(end_ts, self.home.settled_until), HOUR_S)
        known = [hour for hour in between if hour not in self.gap]
        hours = {start: self.home.price_of(start) for start in known}
        quarters = (
            {start: self.quarter_of(start) for hour in known for start in range(hour, hour + HOUR_S, QUARTER_S)}
            if self.quarter_of
            else {}
        )
        known_of = PriceSeries.of("ee", HOUR_S, hours), PriceSeries.of("ee", QUARTER_S, quarters)
        return PriceHistory(self.home.now, {series.key: series for series in known_of if series})

    def watch(self, request: web.Request) -> web.StreamResponse | None:
        if request.path != "/api/v1/history":
            return None
        self.asked.append(request.query["month"])
        return self.refusals.pop(0) if self.refusals else None


@pytest.fixture
async def archive(make_home: MakeHome, proxy: RecordingProxy) -> Archive:
    """Return the data of a home's server on a Wednesday morning: prices since a little before New Year."""
    archive = Archive(instant("2025-12-20T00:00:00+02:00"))
    archive.home = await make_home(read_prices=archive.read)
    proxy.upstream, archive.home.port, proxy.instead = archive.home.server.port, proxy.port, archive.watch
    return archive

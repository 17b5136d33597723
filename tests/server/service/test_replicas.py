"""All replicas give the same answer, byte for byte, within the same second."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from aiohttp import ClientSession, web
from sqlalchemy import delete

from tests.support.clocks import StillClock
from tests.support.store.pipelines import plain_runs
from tests.support.store.stores import DAY, whole_day
from tunnihind.api.feeds import FEED_FORMATS
from tunnihind.api.server import Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.core.market import HOUR_S, QUARTER_S, day_start
from tunnihind.service.application import ServedZone, create_app
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.store import schema
from tunnihind.store.store import Store

NOW = day_start(DAY) + 10 * HOUR_S + 1234
PATHS = [
    "/api/v1/forecast",
    "/api/v1/quarters",
    "/api/v1/quarters?days=3",
    "/api/v1/scenarios",
    "/api/series",
    "/api/series?days=2",
    *(f"/api/feeds/{reader}" for reader in FEED_FORMATS),
    *(f"/api/feeds/{reader}?resolution=15m&price=market" for reader in FEED_FORMATS),
    "/api/v1/history?month=2025-12",
    "/api/v1/history?month=2025-11&resolution=15m",
    "/api/v1/accuracy",
    "/api/v1/accuracy?format=csv",
    "/api/openapi.json",
    "/api/about",
    "/",
    "/accuracy",
    "/docs",
]
SAME_FIELDS = "ETag", "Cache-Control", "Content-Type", "Content-Encoding", "Content-Length", "Vary"


@dataclass
class Replica:
    """A server that reads a store and answers on a port."""

    url: str
    now: float
    settings: Settings = field(default_factory=lambda: Settings(public_url="https://tunnihind.example"))

    def __post_init__(self) -> None:
        self.clock = StillClock(self.now)
        self.store = Store(self.url, read_only=True)
        self.snapshot = Snapshot(self.settings, self.clock)
        self.updater = SnapshotUpdater(self.store, [self.snapshot], self.clock)

    @asynccontextmanager
    async def answering(self) -> AsyncIterator[str]:
        app = create_app(
            self.settings,
            [
                ServedZone(
                    snapshot=self.snapshot,
                    read_prices=lambda start, end: self.store.prices.read_archive(
                        start, end, zones=("ee",)
                    ).newest_versions(),
                    read_scores=lambda first, last: self.store.scores.day_scores("ee", first, last),
                )
            ],
            self.clock,
            instance_id=self.store.state.instance_id(),
            pipeline_expected=False,
        )
        runner = Runner(app, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()
            self.store.close()


@pytest.fixture
def writer(url: str) -> Iterator[Store]:
    """Return a store with weeks of prices, of hours and of quarters, and the forecasts of some days."""
    with Store(url) as store:
        for ago in range(20, 0, -1):
            day = DAY - timedelta(days=ago)
            step_s = HOUR_S if ago % 3 else QUARTER_S
            prices = whole_day(day, step_s, price=lambda n, ago=ago: 40.0 + 7.77 * (n * ago % 11))  # type: ignore[misc]
            store.prices.add(prices, source="test", seen_ts=day_start(day) - HOUR_S)
        for hours_ago in range(60, 0, -7):
            store.runs.add_forecast(plain_runs(NOW - hours_ago * HOUR_S))
        store.state.record_refresh(NOW - 4000)
        yield store


async def answers(session: ClientSession, base: str, path: str, coding: str) -> tuple[object, ...]:
    asked = session.get(base + path, headers={"Accept-Encoding": coding, "X-Request-Id": "same"})
    async with asked as response:
        return response.status, [response.headers.get(name) for name in SAME_FIELDS], await response.read()


async def test_replicas_answer_alike_however_they_came_by_the_data(url: str, writer: Store) -> None:
    # The old replica read an hour ago and after each change. The new replica has just started.
    old = Replica(url, NOW - HOUR_S)
    await old.updater.refresh()
    writer.prices.add(whole_day(DAY), source="test", seen_ts=NOW - 3000)
    old.clock.instant = NOW - 3000
    await old.updater.refresh()
    writer.runs.add_forecast(plain_runs(NOW - 2000))
    writer.state.record_refresh(NOW - 1500)
    # The old replica's clock is a minute slow.
    old.clock.instant = NOW - 2060
    await old.updater.refresh()
    old.clock.instant = NOW
    new = Replica(url, NOW)
    await new.updater.refresh()
    async with AsyncExitStack() as stack:
        bases = [await stack.enter_async_context(replica.answering()) for replica in (old, new)]
        session = await stack.enter_async_context(ClientSession(auto_decompress=False))
        for path in PATHS:
            for coding in ("identity", "gzip", "zstd"):
                one, other = [await answers(session, base, path, coding) for base in bases]
                assert one == other, f"{path} in {coding}"
                assert one[0] == 200, f"{path}: {one}"


async def test_the_version_of_what_is_served_is_that_of_its_data(url: str, writer: Store) -> None:
    """Data stored while a replica reads is neither in the replica's data nor in its version."""
    replica = Replica(url, NOW)
    with replica.store.database.one_view():
        version = replica.store.state.served_version()
        writer.prices.add(whole_day(DAY), source="test", seen_ts=NOW - 3000)
        assert writer.state.served_version() > version
        assert replica.store.state.served_version() == version
        assert day_start(DAY) not in replica.store.prices.read_archive().newest_versions().series_of("ee")
    assert day_start(DAY) in replica.store.prices.read_archive().newest_versions().series_of("ee")
    replica.store.close()


async def test_a_restored_backup_is_shown_under_another_tag_though_versions_repeat(url: str) -> None:
    with Store(url) as writer:
        writer.prices.add(whole_day(DAY), source="test", seen_ts=NOW - 3000)
        replica = Replica(url, NOW)
        await replica.updater.refresh()
        version, tag = replica.snapshot.data.version, replica.snapshot.forecast_answer("identity").tag
        with writer.database.writing() as connection:
            connection.execute(delete(schema.prices))
            writer.state.write("version", int(version) - 1)
        writer.prices.add(whole_day(DAY, price=lambda _: 7.0), source="test", seen_ts=NOW - 2000)
        await replica.updater.refresh()
        assert replica.snapshot.data.version == version
        assert replica.snapshot.data.hours.settled[day_start(DAY)] == 7.0
        assert replica.snapshot.forecast_answer("identity").tag != tag
        replica.store.close()

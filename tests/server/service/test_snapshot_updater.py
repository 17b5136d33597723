"""The served data follow the store: at once if a database server announces changes, otherwise by regular checks."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.clocks import StillClock
from tests.support.store.pipelines import plain_run
from tests.support.store.postgresql import PostgresqlServer, postgresql_server, standby_of
from tests.support.store.stores import DAY, series, whole_day
from tunnihind.api.health import Troubles
from tunnihind.api.snapshot import Snapshot
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, day_start
from tunnihind.errors import SourceRefused, StoreError, StoreLost
from tunnihind.service import snapshot_updater
from tunnihind.service.background import run_in_background
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.store.store import Store
from tunnihind.web.summary import PageContext
from tunnihind.web.weather import region_sun_covariate_names, region_wind_covariate_names

NOW = day_start(DAY) + HOUR_S
PATIENCE_S = 30.0


class Replica:
    """A server's snapshot of a store, without a port."""

    def __init__(self, url: str, *, read_only: bool = True) -> None:
        self.store = Store(url, read_only=read_only)
        self.clock = StillClock(NOW)
        self.snapshot = Snapshot(Settings(public_url="https://tunnihind.example"), self.clock)
        self.updater = SnapshotUpdater(self.store, [self.snapshot], self.clock)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Replica]:
        with self.store:
            async with run_in_background(self.updater.run()):
                yield self

    def last_refresh(self) -> int | None:
        refreshed: int | None = json.loads(self.snapshot.forecast_answer("identity").body)["lastRefresh"]
        return refreshed

    def hours(self) -> int:
        return len(self.snapshot.data.hours.settled)


async def until(holds: Callable[[], object]) -> None:
    """Wait until a condition holds that other threads and processes bring about."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)


@pytest.fixture
async def follower(database: Path) -> AsyncIterator[tuple[Store, Replica]]:
    """Return a store with the prices of a day, and a replica that shows them.

    The replica checks again only on the test's order.
    """
    url = f"sqlite:///{database}"
    with Store(url) as writer:
        settle_a_day(writer)
        replica = Replica(url)
        with replica.store:
            await replica.updater.refresh()
            yield writer, replica


def page_context_of(replica: Replica) -> PageContext:
    return replica.updater.page_contexts["ee"]


async def test_how_the_sources_are_is_followed_without_reading_the_prices_again(
    follower: tuple[Store, Replica],
) -> None:
    writer, replica = follower
    before = replica.snapshot.data
    assert page_context_of(replica).sources == ()
    writer.health.record_failure("elering", NOW, SourceRefused("elering", "HTTP 503: out of order", status=503))
    await replica.updater.refresh()
    after, sources = replica.snapshot.data, page_context_of(replica).sources
    assert [(source.name, source.fault, source.status) for source in sources] == [("elering", "error", 503)]
    assert after is before


async def test_new_weather_is_followed_without_reading_the_prices_again(follower: tuple[Store, Replica]) -> None:
    writer, replica = follower
    before = replica.snapshot.data
    assert page_context_of(replica).weather is None
    for speed in (4.0, 9.0):
        issued = series(NOW - 60 + int(speed), [speed], start_ts=NOW)
        writer.covariates.add(
            dict.fromkeys((*region_wind_covariate_names(ESTONIA), *region_sun_covariate_names(ESTONIA)), (issued,))
        )
        await replica.updater.refresh()
        after = page_context_of(replica).weather
        assert after is not None
        assert after.wind.tolist() == [speed]
        assert replica.snapshot.data is before


async def test_the_weather_is_scored_at_once_and_then_by_the_hour(follower: tuple[Store, Replica]) -> None:
    writer, replica = follower
    noons = [NOW - NOW % DAY_S - back * DAY_S + HOUR_S * 6 for back in range(12)]
    issues = [series(noon, [float(hour % 7) for hour in range(240)], start_ts=noon) for noon in noons]
    backwards = [series(one.issued_ts, [*one.values[::-1]], start_ts=one.start_ts) for one in issues]
    scored = []
    for place, given, later_s in (("ee_tallinn", issues, 0), ("ee_tartu", backwards, 0), ("lv_riga", issues, HOUR_S)):
        writer.covariates.add({f"temperature_2m@{place}": given})
        replica.clock.instant += later_s
        await replica.updater.refresh()
        (scores,) = page_context_of(replica).weather_scores
        scored.append(scores.by_days_ahead)
    assert scored[0] == scored[1] != scored[2]


def settle_a_day(store: Store) -> None:
    store.prices.add(whole_day(DAY), source="test", seen_ts=NOW)


def backup_of(store: Store, target: Path) -> Path:
    path = str(store.database.system.path)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as backup:
        source.backup(backup)
    return target


async def test_a_copy_in_the_files_place_is_shown_at_once(database: Path, tmp_path: Path) -> None:
    replica = Replica(f"sqlite:///{database}", read_only=False)
    with replica.store as store:
        settle_a_day(store)
        backup = backup_of(store, tmp_path / "backup.db")
        store.prices.add(whole_day(DAY + timedelta(days=1)), source="test", seen_ts=NOW)
        store.state.record_refresh(NOW)
        await replica.updater.refresh()
        assert replica.hours() == 48
        backup.replace(database)
        await replica.updater.refresh()
        assert replica.hours() == 24
        assert replica.snapshot.troubles.warnings == {}


@pytest.fixture
def rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make regular checks so rare that none comes within a test."""
    for name in ("CHECK_STORE_EVERY_S", "CHECK_UNANNOUNCED_EVERY_S"):
        monkeypatch.setattr(snapshot_updater, name, 10 * PATIENCE_S)


@pytest.mark.usefixtures("rarely")
async def test_a_change_is_told_to_all_replicas_of_a_database_server(postgresql_url: str) -> None:
    with Store(postgresql_url) as writer:
        one, other = Replica(postgresql_url), Replica(postgresql_url)
        async with one.running(), other.running():
            await until(lambda: one.updater.lag_s is not None and other.updater.lag_s is not None)
            # Listening begins some time later. All later writes are announced.
            await until(lambda: listeners(writer) == 2)
            settle_a_day(writer)
            await until(lambda: one.hours() == other.hours() == 24)
            writer.state.record_refresh(NOW + 1)
            await until(lambda: one.last_refresh() == other.last_refresh() == NOW + 1)


def listeners(store: Store) -> int:
    """Return the number of connections that listen for changes in the database."""
    with store.database.reading() as connection:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        return int(connection.exec_driver_sql(asked.replace("%", "%%")).scalar_one())


async def test_where_changes_are_not_told_of_they_are_looked_for(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_updater, "CHECK_STORE_EVERY_S", 10 * PATIENCE_S)
    monkeypatch.setattr("tunnihind.store.engines.postgresql_connection.CHANNEL", "another_channel")
    with Store(postgresql_url) as writer:
        async with Replica(postgresql_url).running() as replica:
            await until(lambda: replica.updater.lag_s is not None)
            settle_a_day(writer)
            await until(lambda: replica.hours() == 24)


async def test_a_file_is_looked_at_every_few_seconds(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_updater, "CHECK_STORE_EVERY_S", 0.05)
    url = f"sqlite:///{database}"
    with Store(url) as writer:
        async with Replica(url).running() as replica:
            await until(lambda: replica.updater.lag_s is not None)
            settle_a_day(writer)
            await until(lambda: replica.hours() == 24)


async def test_a_replica_of_a_standby_with_an_account_that_may_only_read_follows(
    own_server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A standby announces no changes, so it is checked every second.
    monkeypatch.setattr(snapshot_updater, "CHECK_STORE_EVERY_S", 10 * PATIENCE_S)
    database = own_server.make_database()
    with Store(own_server.url(database)) as writer:
        with own_server.superuser(database) as connection:
            connection.execute("CREATE ROLE reader LOGIN")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        with standby_of(own_server) as standby:
            for server, refreshed in ((own_server, NOW), (standby, NOW + 1)):
                async with Replica(server.url(database, role="reader")).running() as replica:
                    await until(has_read(replica))
                    writer.state.record_refresh(refreshed)
                    await until(has_read(replica, refreshed))
                    with pytest.raises(StoreError, match="opened for reading only"):
                        replica.store.state.write("fact", 1)


def has_read(replica: Replica, refreshed: int | None = None) -> Callable[[], bool]:
    """Return a function that checks that a replica has read.

    With `refreshed`, the shown data have to have this time of refresh.
    """
    if refreshed is None:
        return lambda: replica.updater.lag_s is not None
    return lambda: replica.last_refresh() == refreshed


@pytest.fixture
def own_server() -> Iterator[PostgresqlServer]:
    with postgresql_server() as server:
        yield server


@pytest.mark.usefixtures("rarely")
async def test_answers_go_on_from_memory_without_a_database_and_catch_up_when_it_is_back(
    own_server: PostgresqlServer,
) -> None:
    url = own_server.url(own_server.make_database())
    with Store(url) as writer:
        settle_a_day(writer)
        writer.runs.add(plain_run(NOW - 60, hours=190))
        writer.state.record_refresh(NOW)
        async with Replica(url).running() as replica:
            await until(lambda: replica.updater.lag_s is not None and listeners(writer) == 1)
            await asyncio.to_thread(own_server.stop, "immediate")
            await until(lambda: list(replica.snapshot.troubles))
            assert list(replica.snapshot.troubles) == ["the database server can't be reached"]
            assert replica.hours() == 24
            # Hours pass. Past hours are no longer served, and the ages stay right.
            for hours in (5, 48):
                now = replica.clock.instant = NOW + hours * HOUR_S
                body = json.loads(replica.snapshot.forecast_answer("identity").body)
                assert (body["now"], body["lastRefresh"], body["madeAt"]) == (now, NOW, NOW - 60)
                assert [item["ts"] for item in body["dayAhead"]] == list(range(now, NOW + 23 * HOUR_S, HOUR_S))
                assert body["forecast"][0]["ts"] == now + HOUR_S
                assert len(json.loads(replica.snapshot.series_answer(14, "identity").body)["actuals"]) == 24
            with pytest.raises(StoreLost, match=r"can't (read|connect to) the database") as lost:
                replica.store.prices.read_archive()
            assert lost.value.reason == "the database server can't be reached"
            await asyncio.to_thread(own_server.start)
            writer.state.record_refresh(NOW + 60)
            await until(lambda: replica.last_refresh() == NOW + 60)
            assert list(replica.snapshot.troubles) == []


async def test_readyz_of_every_zone_warns_of_a_zone_without_a_price(store: Store) -> None:
    settings, clock, troubles = Settings(zones=("ee", "lt")), StillClock(NOW), Troubles()
    snapshots = [Snapshot(settings.for_zone(zone), clock, troubles) for zone in settings.zones]
    updater = SnapshotUpdater(store, snapshots, clock)
    await updater.refresh()
    assert updater.troubles.warnings == {}, "before the first price of all, there is nothing to warn of"
    store.prices.add(whole_day(DAY, zones=("ee",)), source="test", seen_ts=NOW)
    await updater.refresh()
    assert [*updater.troubles.warnings.values()] == ["no source has given a price of LT yet"]
    store.prices.add(whole_day(DAY, zones=("lt",)), source="test", seen_ts=NOW)
    await updater.refresh()
    assert updater.troubles.warnings == {}

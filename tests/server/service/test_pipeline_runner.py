"""One server runs the pipeline: the others stand by, and one of them takes over. `ingest` runs it for one pass."""

import asyncio
import gc
import logging
import os
import threading
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import Connection, update

from tests.support.clocks import StillClock
from tests.support.store.pipelines import pipeline_of
from tests.support.store.stores import HOURS
from tests.support.upstreams.elering import flat_quotes
from tests.support.upstreams.sources import ScriptedPrices
from tunnihind.api.health import Troubles
from tunnihind.core.market import HOUR_S
from tunnihind.errors import LeaseLost, StoreError
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.service import pipeline_runner
from tunnihind.service.live import _claim_lease, _keep_renewing_lease
from tunnihind.service.operator_metrics import LeaseCollector
from tunnihind.service.pipeline_runner import STUCK_AFTER_S, PipelineRunner
from tunnihind.store.lease import BEAT_EVERY_S, EXPIRES_AFTER_S, LOOK_EVERY_S, Lease
from tunnihind.store.schema import leases
from tunnihind.store.store import Store

NOW = 1_765_792_800


class SteadyClock(StillClock):
    """Three clocks: a server's, its steady clock that is never set, and its database's."""

    def steady(self) -> float:
        return self.instant

    def of_database(self, connection: Connection) -> int:
        return int(self.instant)


class StubPipeline(Pipeline):
    """A pipeline that only notes whether it is at work."""

    def __init__(self, store: Store, clock: StillClock) -> None:
        self.is_at_work = False
        self.starts = 0
        self.steps = 0
        self.bug: Exception | None = None

    async def run(self, on_change: Callable[[], None]) -> None:
        self.is_at_work = True
        self.starts += 1
        try:
            if self.bug is not None:
                raise self.bug
            await asyncio.Event().wait()
        finally:
            self.is_at_work = False


class Server:
    """A server's store, its pipeline, and the runner of the pipeline."""

    def __init__(self, url: str, clock: SteadyClock, host: str) -> None:
        self.store = Store(url)
        self.store.database.system.now = clock.of_database  # type: ignore[method-assign]
        self.clock = clock
        self.troubles = Troubles()
        self.pipeline = StubPipeline(self.store, clock)
        self.runner = PipelineRunner(self.store, self.pipeline, clock, self.troubles, on_change=lambda: None)
        self.runner._lease._host = host
        self.runner._lease._steady = clock.steady

    async def look(self) -> bool:
        """Check the lease once, and return whether the pipeline is at work afterwards."""
        await self.runner.check_lease()
        await asyncio.sleep(0)  # so that a started pipeline begins
        return self.pipeline.is_at_work

    async def stop(self) -> None:
        task = asyncio.create_task(self.runner.run())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def clock() -> SteadyClock:
    return SteadyClock(NOW)


@pytest.fixture
def servers(url: str, clock: SteadyClock) -> Iterator[tuple[Server, Server]]:
    first, second = Server(url, clock, "first"), Server(url, clock, "second")
    yield first, second
    first.store.close()
    second.store.close()


async def let_expire(server: Server) -> None:
    """Let a server stand by until a silent holder counts as dead."""
    await server.look()
    for _ in range(int((EXPIRES_AFTER_S + 1) / LOOK_EVERY_S)):
        server.clock.instant += LOOK_EVERY_S
        await server.look()


async def test_a_server_stands_by_although_its_pipeline_ended_with_a_bug_before_it_lost_the_lease(
    servers: tuple[Server, Server],
) -> None:
    first, second = servers
    first.pipeline.bug = ValueError("a bug")
    assert not await first.look()
    first.clock.instant += EXPIRES_AFTER_S + 1
    await let_expire(second)
    assert second.pipeline.is_at_work
    assert not await first.look()
    assert first.troubles.another_keeps_data_fresh


async def test_the_first_server_runs_the_pipeline_and_the_second_stands_by(
    servers: tuple[Server, Server], caplog: pytest.LogCaptureFixture
) -> None:
    first, second = servers
    for _ in range(20):
        assert await first.look()
        assert not await second.look()
        first.clock.instant += BEAT_EVERY_S
    assert (first.pipeline.starts, second.pipeline.starts) == (1, 0)
    assert (first.troubles.another_keeps_data_fresh, second.troubles.another_keeps_data_fresh) == (False, True)
    told = [record.message for record in caplog.records if "runs the pipeline on this database" in record.message]
    assert len(told) == 1
    assert " on first runs" in told[0]


async def test_another_takes_over_and_the_old_holder_stops_says_so_once_and_stands_by(
    servers: tuple[Server, Server], caplog: pytest.LogCaptureFixture
) -> None:
    first, second = servers
    assert await first.look()
    # The first server is frozen: it renews its lease no more, and doesn't notice.
    await let_expire(second)
    assert second.pipeline.is_at_work
    with pytest.raises(LeaseLost):
        first.store.state.record_refresh(NOW)
    # The first server continues.
    caplog.clear()
    for _ in range(3):
        assert not await first.look()
    said = f"process {os.getpid()} on second has taken over the pipeline; this server still serves, and stands by"
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [said]
    assert list(first.troubles) == []
    # The second server ends normally, so the first one has the pipeline again at once.
    await second.stop()
    assert [server.pipeline.is_at_work for server in servers] == [False, False]
    assert await first.look()


async def test_a_holder_that_cannot_reach_the_database_stops_before_another_takes_over(
    postgresql_url: str, clock: SteadyClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(postgresql_url, clock, "first")
    assert await server.look()

    def unreachable() -> bool:
        raise StoreError("it can't be reached", reason="it can't be reached")

    monkeypatch.setattr(server.runner._lease, "claim", unreachable)
    clock.instant += EXPIRES_AFTER_S
    assert await server.look()
    assert list(server.troubles) == ["it can't be reached"]
    clock.instant += 1
    assert not await server.look()
    monkeypatch.undo()
    other = Server(postgresql_url, clock, "second")
    await let_expire(other)
    assert not await server.look()
    assert "on second has taken over the pipeline" in caplog.records[-1].message
    assert list(server.troubles) == []
    other.store.close()
    server.store.close()


async def test_a_database_that_gives_no_answer_holds_nothing_up(
    postgresql_url: str, clock: SteadyClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(postgresql_url, clock, "first")
    assert await server.look()
    claim, answer = server.runner._lease.claim, threading.Event()

    def late() -> bool:
        answer.wait(30)
        return claim()

    monkeypatch.setattr(pipeline_runner, "_DATABASE_TIMEOUT_S", 0.01)
    monkeypatch.setattr(server.runner._lease, "claim", late)
    assert await server.look(), "it was ours a moment ago"
    clock.instant += EXPIRES_AFTER_S + 1
    assert not await server.look(), "another server may have it by now"
    assert list(server.troubles) == ["the database does not answer"]
    answer.set()
    monkeypatch.undo()
    assert await server.look()
    server.store.close()


async def test_on_a_file_that_nobody_can_write_to_the_pipeline_goes_on(
    database: Path, clock: SteadyClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(f"sqlite:///{database}", clock, "first")
    assert await server.look()

    def locked() -> bool:
        raise StoreError("the database is locked", reason="it is locked")

    monkeypatch.setattr(server.runner._lease, "claim", locked)
    clock.instant += 10 * EXPIRES_AFTER_S
    assert await server.look()
    server.store.close()


async def test_a_fenced_out_pipeline_stores_nothing_and_does_not_complain_of_it(
    database: Path, clock: SteadyClock, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(f"sqlite:///{database}") as store:
        store.lease_guarding_writes()
        source = ScriptedPrices(flat_quotes(date(2025, 12, 1), date(2025, 12, 16), HOUR_S), clock=clock)
        assert not await pipeline_of(store, clock, prices=(source,)).catch_up()
        assert source.asked
        assert (store.prices.count(), store.runs.newest(HOURS, as_of=NOW + 1)) == (0, None)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_only_the_server_whose_pipeline_makes_no_step_for_minutes_is_stuck(
    servers: tuple[Server, Server], caplog: pytest.LogCaptureFixture
) -> None:
    first, second = servers
    looks = int(STUCK_AFTER_S / BEAT_EVERY_S)
    for _ in range(2 * looks):
        first.pipeline.steps += 1
        await first.look()
        first.clock.instant += BEAT_EVERY_S
    for _ in range(looks):
        assert first.troubles.stuck is None
        await first.look()
        await second.look()
        first.clock.instant += BEAT_EVERY_S
    reason = "the pipeline has made no progress for 15 minutes"
    assert (first.troubles.stuck, second.troubles.stuck) == (reason, None)
    assert list(first.troubles) == [reason]
    assert [record.message for record in caplog.records if "restarted" in record.message] == [
        f"{reason}: the server must be restarted"
    ]
    first.pipeline.steps += 1
    await first.look()
    assert [*first.troubles, first.troubles.stuck] == [None]


async def test_a_server_that_was_suspended_is_not_stuck_when_it_wakes_up(servers: tuple[Server, Server]) -> None:
    first, _ = servers
    await first.look()
    first.clock.instant += 8 * HOUR_S
    await first.look()
    assert first.troubles.stuck is None


async def test_a_server_whose_pipeline_a_bug_has_ended_for_good_is_stuck(
    servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = servers

    def stumble() -> bool:
        raise KeyError("token")

    monkeypatch.setattr(first.runner._lease, "claim", stumble)
    with pytest.raises(KeyError):
        await first.runner.run()
    assert first.troubles.stuck == "the pipeline has ended"


def shown(server: Server) -> dict[str, float]:
    """Return a server's metrics of the lease."""
    families = LeaseCollector(server.runner).collect()
    return {sample.name.removeprefix("tunnihind_pipeline_"): sample.value for one in families for sample in one.samples}


async def test_metrics_tell_who_runs_the_pipeline_and_how_long_its_holder_has_been_silent(
    servers: tuple[Server, Server], clock: SteadyClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline_runner, "monotonic", clock.steady)
    first, second = servers
    assert shown(first) == {"held": 0, "takeovers_total": 0}
    await first.look()
    await second.look()
    assert shown(first) == {"held": 1, "takeovers_total": 1, "lease_age_seconds": 0}
    assert shown(second) == {"held": 0, "takeovers_total": 0, "lease_age_seconds": 0}
    clock.instant += BEAT_EVERY_S
    await second.look()
    assert shown(second)["lease_age_seconds"] == BEAT_EVERY_S
    await first.look()
    await second.look()
    assert shown(second)["lease_age_seconds"] == 0
    await let_expire(second)
    assert await second.look()
    assert not await first.look()
    assert shown(first)["held"] == 0
    assert shown(second) == {"held": 1, "takeovers_total": 1, "lease_age_seconds": 0}


async def test_a_claim_that_fails_after_the_end_is_not_taken_for_a_bug(
    servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, _ = servers
    asked, gone = threading.Event(), threading.Event()

    def fail_late() -> bool:
        asked.set()
        gone.wait(10)
        raise StoreError("the database is away")

    monkeypatch.setattr(pipeline_runner, "_DATABASE_TIMEOUT_S", 0.01)
    monkeypatch.setattr(first.runner, "_claim_lease", fail_late)
    await first.look()
    assert asked.is_set()
    await first.stop()
    claim = first.runner._claim_task
    assert claim is not None
    gone.set()
    await asyncio.wait({claim})
    first.runner._claim_task = None
    del claim
    gc.collect()
    assert "never retrieved" not in caplog.text


ANOTHER = {"token": "theirs", "host": "elsewhere"}


def rewrite_lease(store: Store, **values: object) -> None:
    with store.database.writing_lease_row() as connection:
        connection.execute(update(leases).values(**values))


async def test_a_long_pass_beats_until_another_takes_over(store: Store) -> None:
    lease = store.lease_guarding_writes()
    assert lease.claim()
    rewrite_lease(store, beat_ts=NOW)
    keeping = asyncio.create_task(_keep_renewing_lease(lease, StillClock(NOW)))
    async with asyncio.timeout(30):
        while (holder := lease.holder()) is None or holder.beat_ts == NOW:  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0)
        rewrite_lease(store, **ANOTHER)
        await keeping


async def test_a_pass_is_refused_at_once_while_a_server_beats(store: Store) -> None:
    clock = StillClock(NOW)
    let_another_have_had_it(store)
    lease = Lease(store.database, steady=clock.now)
    claiming = lease.claim

    def meanwhile() -> bool:
        is_ours = claiming()
        rewrite_lease(store, beat_ts=NOW + int(clock.instant) % 60)
        return is_ours

    lease.claim = meanwhile  # type: ignore[method-assign]
    assert not await _claim_lease(lease, clock)
    assert clock.instant < NOW + EXPIRES_AFTER_S / 2


async def test_a_pass_takes_over_from_a_dead_holder_once_that_is_certain(store: Store) -> None:
    clock = StillClock(NOW)
    let_another_have_had_it(store)
    assert await _claim_lease(Lease(store.database, steady=clock.now), clock)
    assert NOW < clock.instant <= NOW + EXPIRES_AFTER_S + 1


def let_another_have_had_it(store: Store) -> None:
    """Give the lease to a process of another machine that ended long ago."""
    assert store.unguarded_lease().claim()
    rewrite_lease(store, **ANOTHER, beat_ts=NOW)


async def test_a_database_that_is_away_for_a_beat_ends_no_pass(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = store.lease_guarding_writes()
    answers = iter(["away", "ours", "another's"])

    def claim() -> bool:
        answer = next(answers)
        if answer == "away":
            raise StoreError("it is away")
        return answer == "ours"

    monkeypatch.setattr(lease, "claim", claim)
    await _keep_renewing_lease(lease, StillClock(NOW))
    assert not list(answers)

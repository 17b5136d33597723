"""`tunnihind ingest`: one pass of the pipeline, during which no server runs the pipeline."""

import asyncio

import pytest
from sqlalchemy import update

from tests.support.clocks import StillClock
from tunnihind.errors import StoreError
from tunnihind.service.live import _claim_lease, _keep_renewing_lease
from tunnihind.store.lease import EXPIRES_AFTER_S, Lease
from tunnihind.store.schema import leases
from tunnihind.store.store import Store

NOW = 1_765_792_800


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

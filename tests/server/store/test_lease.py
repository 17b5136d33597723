"""Only one of several servers on a database runs the pipeline, and only its writes are stored."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, update

from tests.support.store.stores import DAY, hourly, whole_day
from tunnihind.core.market import day_start
from tunnihind.errors import LeaseLost
from tunnihind.store.lease import (
    BEAT_EVERY_S,
    CONFIRMED_AFTER_S,
    EXPIRES_AFTER_S,
    LOOK_EVERY_S,
    Holder,
    Lease,
)
from tunnihind.store.schema import leases
from tunnihind.store.store import Store

HERE = socket.gethostname()
ELSEWHERE = "elsewhere"
HOUR_S = 3600


class Steady:
    """A clock that is never set, and moves when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def steady() -> Steady:
    return Steady()


@contextmanager
def another_process() -> Iterator[int]:
    """Yield the id of another living process."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.communicate(b"\n")


@pytest.fixture(scope="module")
def living() -> Iterator[int]:
    with another_process() as pid:
        yield pid


@pytest.fixture(scope="module")
def dead() -> int:
    with another_process() as pid:
        pass
    return pid


def now_of(store: Store) -> int:
    with store.database.reading() as connection:
        return store.database.system.now(connection)


def hold(store: Store, pid: int, *, host: str = ELSEWHERE, silent_s: int = 0) -> Holder:
    """Give the lease to another process, which last renewed it some seconds ago."""
    beat_ts = now_of(store) - silent_s
    with store.database.writing_lease_row() as connection:
        connection.execute(delete(leases))
        theirs = {"name": "pipeline", "token": "theirs", "host": host, "pid": pid, "beat_ts": beat_ts}
        connection.execute(insert(leases).values(theirs))
    return Holder(host, pid, beat_ts)


def beat(store: Store, beat_ts: int) -> None:
    with store.database.writing_lease_row() as connection:
        connection.execute(update(leases).values(beat_ts=beat_ts))


def watched(store: Store, steady: Steady, seconds: float) -> Lease:
    """Return our claim on a lease, after watching the lease's holder for some seconds."""
    lease = Lease(store.database, steady=steady)
    assert not lease.claim()
    steady.seconds += seconds
    return lease


def test_a_takeover_takes_less_than_fifteen_seconds() -> None:
    # The time of a renewal is rounded to whole seconds, and a check may be running.
    assert EXPIRES_AFTER_S + 1 + 2 * LOOK_EVERY_S < 15
    assert 3 * BEAT_EVERY_S < EXPIRES_AFTER_S, "two beats may be missed"
    assert CONFIRMED_AFTER_S > BEAT_EVERY_S + LOOK_EVERY_S


def test_the_first_to_claim_has_it_and_keeps_it(store: Store) -> None:
    lease = store.unguarded_lease()
    assert lease.claim()
    for seconds in (HOUR_S, -HOUR_S):
        beat(store, now_of(store) + seconds)  # its clock is set
        assert lease.claim()
    holder = lease.holder()
    assert holder is not None
    assert (holder.host, holder.pid) == (HERE, os.getpid())
    assert abs(holder.beat_ts - now_of(store)) <= 5


def test_a_beating_process_is_not_robbed_however_long_one_looks(store: Store, steady: Steady, dead: int) -> None:
    hold(store, dead)
    lease = Lease(store.database, steady=steady)
    for beats in range(20):
        beat(store, now_of(store) + beats % 2)
        assert not lease.claim()
        steady.seconds += BEAT_EVERY_S


def test_a_process_that_has_fallen_silent_is_replaced(store: Store, steady: Steady, living: int) -> None:
    for host in (HERE, ELSEWHERE):
        hold(store, living, host=host, silent_s=EXPIRES_AFTER_S + 1)
        lease = watched(store, steady, CONFIRMED_AFTER_S)
        assert not lease.claim(), "it has not been seen silent for long enough"
        steady.seconds += 0.1
        assert lease.claim()


def test_a_clock_that_is_set_forward_kills_nobody(store: Store, steady: Steady, living: int) -> None:
    held = hold(store, living, silent_s=HOUR_S)
    lease = watched(store, steady, CONFIRMED_AFTER_S - 1)
    assert not lease.claim()
    beat(store, held.beat_ts + int(BEAT_EVERY_S))
    steady.seconds += CONFIRMED_AFTER_S - 1
    assert not lease.claim()
    steady.seconds += CONFIRMED_AFTER_S - 1
    assert not lease.claim(), "it beats, whatever its beats say"


@pytest.mark.parametrize("hours", [1, 24])
def test_a_clock_that_is_set_back_keeps_no_dead_holder(store: Store, steady: Steady, living: int, hours: int) -> None:
    hold(store, living, silent_s=-hours * HOUR_S)
    lease = watched(store, steady, EXPIRES_AFTER_S)
    assert not lease.claim()
    steady.seconds += 0.1
    assert lease.claim()


def test_what_nobody_could_read_is_no_silence(store: Store, steady: Steady, living: int) -> None:
    hold(store, living, silent_s=HOUR_S)
    lease = watched(store, steady, 60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.database, "reading", unreachable)
        with pytest.raises(LeaseLost):
            lease.claim()
    assert not lease.claim(), "its holder may have been cut off too, and needs time for a beat"
    steady.seconds += CONFIRMED_AFTER_S + 0.1
    assert lease.claim()


def unreachable() -> None:
    raise LeaseLost("a StoreError")


def test_on_a_file_the_next_server_need_not_wait_after_a_kill(database: Path, dead: int) -> None:
    with Store(f"sqlite:///{database}") as store:
        for pid in (dead, os.getpid()):
            # The second process is in a restarted container, and has the same process id as the old one.
            hold(store, pid, host=HERE)
            assert store.unguarded_lease().claim()


def test_hosts_of_one_name_on_a_database_server_are_not_taken_for_one(postgresql_url: str, dead: int) -> None:
    with Store(postgresql_url) as store:
        for pid in (dead, os.getpid()):
            hold(store, pid, host=HERE)
            assert not store.unguarded_lease().claim()


def test_a_beat_is_by_the_clock_of_the_database_server(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(postgresql_url) as store:
        monkeypatch.setattr(time, "time", lambda: 0.0)
        lease = store.unguarded_lease()
        assert lease.claim()
        holder = lease.holder()
        assert holder is not None
        assert abs(holder.beat_ts - now_of(store)) <= 5


def test_what_was_taken_over_is_not_given_up_by_its_old_holder(store: Store, living: int) -> None:
    old = store.unguarded_lease()
    assert old.claim()
    hold(store, living)
    assert not old.claim()
    old.release()
    assert not store.unguarded_lease().claim()


def test_what_was_given_up_is_free_at_once_but_not_for_who_gave_it_up(store: Store) -> None:
    lease = store.unguarded_lease()
    assert lease.claim()
    lease.release()
    assert not lease.claim()
    assert lease.holder() is None
    assert store.unguarded_lease().claim()


def claimed_together(leases: Sequence[Lease]) -> list[bool]:
    """Claim all leases at the same moment, each in a thread of its own."""
    together = threading.Barrier(len(leases))

    def claim(lease: Lease) -> bool:
        together.wait(10)
        return lease.claim()

    with ThreadPoolExecutor(len(leases)) as pool:
        return [*pool.map(claim, leases)]


def test_of_many_that_claim_at_once_one_has_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = iter(f"host {n}" for n in range(8))
    monkeypatch.setattr(socket, "gethostname", lambda: next(hosts))
    assert sorted(claimed_together([store.unguarded_lease() for _ in range(8)])) == [False] * 7 + [True]


def test_of_many_that_see_a_silent_holder_one_takes_over(store: Store, steady: Steady, living: int) -> None:
    hold(store, living, silent_s=HOUR_S)
    claims = [Lease(store.database, steady=steady) for _ in range(6)]
    for lease in claims:
        lease._host = f"host {id(lease)}"
    assert not any(lease.claim() for lease in claims)
    steady.seconds += EXPIRES_AFTER_S
    assert sorted(claimed_together(claims)) == [False] * 5 + [True]


def test_what_a_holder_writes_is_kept_until_another_takes_over(store: Store, living: int) -> None:
    lease = store.lease_guarding_writes()
    assert lease.claim()
    seen = day_start(DAY)
    store.prices.add(whole_day(DAY), source="ours", seen_ts=seen)
    kept, version = hourly(store), store.state.served_version()
    hold(store, living)
    with pytest.raises(LeaseLost):
        store.prices.add(whole_day(DAY, price=lambda _: 1.0), source="ours", seen_ts=seen + 60)
    with pytest.raises(LeaseLost):
        store.state.record_refresh(seen)
    assert (hourly(store), store.state.served_version(), store.state.last_refresh()) == (kept, version, None)


def test_who_never_had_the_lease_writes_nothing(store: Store) -> None:
    store.lease_guarding_writes()
    with pytest.raises(LeaseLost):
        store.state.write("fact", 1)
    assert store.state.read("fact") is None


def test_a_takeover_in_the_middle_of_a_write_undoes_it(postgresql_url: str, living: int) -> None:
    # SQLite lets no other process take over meanwhile.
    with Store(postgresql_url) as store, Store(postgresql_url) as other:
        assert store.lease_guarding_writes().claim()

        def write() -> None:
            with store.database.writing():
                store.state.write("fact", 1)
                hold(other, living)

        with pytest.raises(LeaseLost):
            write()
        assert store.state.read("fact") is None


def test_nobody_takes_over_between_the_check_and_the_commit(url: str, store: Store, living: int) -> None:
    lease = store.unguarded_lease()
    assert lease.claim()
    order = list[str]()

    def take_over() -> None:
        with Store(url) as other:
            hold(other, living)
        order.append("taken over")

    with store.database.writing() as connection:
        lease.require_held(connection)
        thief = threading.Thread(target=take_over)
        thief.start()
        thief.join(0.5)
        order.append("committed")
    thief.join(20)
    assert order == ["committed", "taken over"]


def test_a_holder_of_a_database_server_is_safe_until_another_may_take_over(postgresql_url: str, steady: Steady) -> None:
    with Store(postgresql_url) as store:
        lease = Lease(store.database, steady=steady)
        assert is_certainly_held(lease) == [False]
        assert lease.claim()
        steady.seconds += EXPIRES_AFTER_S
        assert is_certainly_held(lease) == [True]
        steady.seconds += 0.1
        assert is_certainly_held(lease) == [False]


def test_a_holder_of_a_file_is_safe_while_it_can_not_write_for_nobody_can(database: Path, steady: Steady) -> None:
    with Store(f"sqlite:///{database}") as store:
        lease = Lease(store.database, steady=steady)
        assert lease.claim()
        steady.seconds += HOUR_S
        assert is_certainly_held(lease) == [True]
        lease.release()
        assert is_certainly_held(lease) == [False]


def is_certainly_held(lease: Lease) -> list[bool]:
    """Return in a list whether a lease is safe, because a type checker assumes that a property doesn't change."""
    return [lease.is_certainly_held]


def test_a_beat_is_not_flushed_to_the_disk_and_what_is_stored_is(database: Path) -> None:
    with Store(f"sqlite:///{database}") as store:
        for transaction, synchronous in ((store.database.writing_lease_row, 1), (store.database.writing, 2)) * 2:
            with transaction() as connection:
                # https://www.sqlite.org/pragma.html#pragma_synchronous: 1 is NORMAL, 2 is FULL
                assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == synchronous

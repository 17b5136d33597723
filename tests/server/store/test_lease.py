"""Of several servers on one database only one runs the pipeline."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import delete, insert

from tunnihind.store.lease import EXPIRES_AFTER_S, Holder
from tunnihind.store.schema import leases
from tunnihind.store.store import Store

NOW = 1_765_792_800
HERE = socket.gethostname()


@contextmanager
def another_process() -> Iterator[int]:
    """Keep a process alive that does nothing, and yield its number."""
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


def hold(store: Store, pid: int, *, host: str = HERE, beat_ts: int = NOW) -> None:
    """Let another process have the lease."""
    with store.database.writing() as connection:
        connection.execute(delete(leases))
        theirs = {"name": "pipeline", "token": "theirs", "host": host, "pid": pid, "beat_ts": beat_ts}
        connection.execute(insert(leases).values(theirs))


def test_the_first_to_claim_has_it_and_keeps_it(store: Store) -> None:
    lease = store.lease()
    assert lease.claim(NOW)
    assert lease.claim(NOW + 60)
    assert lease.holder() == Holder(HERE, os.getpid(), NOW + 60)


def test_a_living_process_is_not_robbed(store: Store, living: int) -> None:
    hold(store, living)
    lease = store.lease()
    assert not lease.claim(NOW + EXPIRES_AFTER_S)
    assert lease.holder() == Holder(HERE, living, NOW)


def test_a_living_process_that_has_fallen_silent_is(store: Store, living: int) -> None:
    hold(store, living)
    assert store.lease().claim(NOW + EXPIRES_AFTER_S + 1)


def test_after_a_kill_the_next_server_need_not_wait(store: Store, dead: int) -> None:
    hold(store, dead)
    assert store.lease().claim(NOW)


def test_a_restarted_container_with_the_old_process_number_need_not_wait(store: Store) -> None:
    hold(store, os.getpid())
    assert store.lease().claim(NOW)


def test_of_another_machine_only_the_beat_counts(store: Store, dead: int) -> None:
    hold(store, dead, host="elsewhere")
    assert not store.lease().claim(NOW + EXPIRES_AFTER_S)
    assert store.lease().claim(NOW + EXPIRES_AFTER_S + 1)


@pytest.mark.parametrize("hours", [1, 24])
def test_a_beat_from_the_future_is_a_clock_set_back_and_holds_nobody_up(store: Store, living: int, hours: int) -> None:
    hold(store, living, beat_ts=NOW + hours * 3600)
    assert store.lease().claim(NOW)


def test_the_holder_keeps_it_when_its_clock_is_set_back(store: Store, living: int) -> None:
    lease = store.lease()
    assert lease.claim(NOW)
    assert lease.claim(NOW - 3600)
    hold(store, living, beat_ts=NOW - 3600)
    assert not lease.claim(NOW - 3600 + 20)


def test_what_was_taken_over_is_not_given_up_by_its_old_holder(store: Store, living: int) -> None:
    old = store.lease()
    assert old.claim(NOW)
    hold(store, living)
    assert not old.claim(NOW)
    old.release()
    assert not store.lease().claim(NOW)


def test_what_was_given_up_is_free_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
    lease = store.lease()
    monkeypatch.undo()
    assert lease.claim(NOW)
    assert not store.lease().claim(NOW)
    lease.release()
    assert store.lease().claim(NOW)


def test_of_many_that_claim_at_once_one_has_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = iter(f"host {n}" for n in range(8))
    monkeypatch.setattr(socket, "gethostname", lambda: next(hosts))
    together, won = threading.Barrier(8), list[bool]()

    def claim() -> None:
        lease = store.lease()
        together.wait(10)
        won.append(lease.claim(NOW))

    claimants = [threading.Thread(target=claim) for _ in range(8)]
    for claimant in claimants:
        claimant.start()
    for claimant in claimants:
        claimant.join(30)
    assert sorted(won) == [False] * 7 + [True]

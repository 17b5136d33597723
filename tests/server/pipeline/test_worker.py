"""A process that works for the server: killed while idle, killed at work, and with errors."""

import asyncio
import logging
import os
import platform
import select
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.support.clocks import StillClock
from tunnihind.errors import StoreError, WorkerError
from tunnihind.pipeline.worker import Worker

PATIENCE_S = 60


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    made = Worker()
    yield made
    made.close()


class Said(logging.Handler):
    """Passes log lines to a waiting test."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._records: asyncio.Queue[logging.LogRecord] = asyncio.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self._records.put_nowait(record)

    async def next(self) -> tuple[str, str]:
        """Wait for a line; return its level and message."""
        async with asyncio.timeout(PATIENCE_S):
            record = await self._records.get()
        return record.levelname, record.getMessage()


@pytest.fixture
def said() -> Iterator[Said]:
    handler = Said()
    logger = logging.getLogger("tunnihind.pipeline.worker")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.setLevel(level)
    logger.removeHandler(handler)


def signal_self(number: signal.Signals, mark: Path, times: int) -> int:
    """Send this process a signal, as often as a counter in a file allows. Then return the process's id."""
    sent = len(mark.read_bytes())
    if sent < times:
        mark.write_bytes(b"x" * (sent + 1))
        os.kill(os.getpid(), number)
    return os.getpid()


die = partial(signal_self, signal.SIGKILL)
stop = partial(signal_self, signal.SIGSTOP)


_KEPT: list[bytearray] = []


def use_and_free_64_mb() -> None:
    """Keep the last of many pieces, because the C library then keeps the freed memory of the other pieces."""
    pieces = [bytearray(64 * 1024) for _ in range(1024)]
    _KEPT.append(pieces[-1])


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class LimitClock(StillClock):
    """A clock whose time passes only after a process has stopped once more, by the counter in a file."""

    def __init__(self, mark: Path) -> None:
        super().__init__(0.0)
        self._mark = mark
        self._over = 0

    async def sleep(self, seconds: float) -> None:
        while (stops := len(self._mark.read_bytes())) == self._over:  # noqa: ASYNC110  another process makes it
            await asyncio.sleep(0.01)
        await super().sleep(seconds)
        if self.instant >= stops * 15 * 60:
            self._over = stops


def environment(name: str) -> tuple[str | None, bytes]:
    """Return a variable, and the whole environment with which this process was started."""
    return os.environ.get(name), Path("/proc/self/environ").read_bytes()


def refuse() -> None:
    raise StoreError("the database is gone")


def stumble() -> None:
    raise KeyError("p50")


def wait_for_good() -> None:
    signal.pause()


def refuse_loudly() -> None:
    logging.getLogger("tunnihind.pipeline.worker").warning("row %d is damaged", 8)


def chatter() -> int:
    os.write(1, b"hello\n")
    return 5


def imported() -> list[str]:
    return sorted(sys.modules)


def children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def warn() -> None:
    log = logging.getLogger("tunnihind.pipeline.worker")
    log.warning("row %d is damaged", 7)
    try:
        _ = 1 // 0
    except ZeroDivisionError:
        log.exception("it failed")


async def test_all_work_is_done_in_one_process_that_is_not_this_one(worker: Worker) -> None:
    pids = [await worker.do(os.getpid) for _ in range(3)]
    assert pids == [worker.pid] * 3
    assert pids[0] != os.getpid()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries can't be told to return memory")
async def test_memory_that_a_piece_of_work_has_freed_is_given_back_before_the_next(worker: Worker) -> None:
    before = await worker.do(resident_mb)
    await worker.do(use_and_free_64_mb)
    assert await worker.do(resident_mb) < before + 16


async def test_pieces_of_work_take_turns(worker: Worker) -> None:
    found = await asyncio.gather(*(worker.do(partial(pow, 2, n)) for n in range(5)))
    assert found == [1, 2, 4, 8, 16]


@pytest.mark.parametrize(
    ("number", "level"), [(signal.SIGKILL, "WARNING"), (signal.SIGTERM, "INFO")], ids=["killed", "asked to end"]
)
async def test_a_process_that_ends_idle_is_noticed_and_replaced_when_there_is_work(
    worker: Worker, said: Said, number: signal.Signals, level: str
) -> None:
    first = await worker.do(os.getpid)
    os.kill(first, number)
    assert await said.next() == (
        level,
        f"the process that makes forecasts has died (signal {number}); a new process starts when there is work",
    )
    assert worker.pid is None
    assert await worker.do(os.getpid) != first


async def test_work_that_comes_before_the_death_is_noticed_is_done_at_once(worker: Worker) -> None:
    first = await worker.do(os.getpid)
    os.kill(first, signal.SIGKILL)
    assert await worker.do(os.getpid) != first


async def test_work_at_which_the_process_is_killed_is_begun_again(worker: Worker, tmp_path: Path) -> None:
    mark = tmp_path / "deaths"
    mark.touch()
    assert await worker.do(partial(die, mark, 1)) == worker.pid


async def test_work_that_kills_every_process_is_given_up_and_the_next_is_done(worker: Worker, tmp_path: Path) -> None:
    mark = tmp_path / "deaths"
    mark.touch()
    with pytest.raises(WorkerError, match=r"signal 9.*twice"):
        await worker.do(partial(die, mark, 9))
    assert mark.read_bytes() == b"xx"
    assert await worker.do(os.getpid) == worker.pid


@pytest.mark.parametrize(("times", "is_given_up"), [(1, False), (2, True)])
async def test_a_process_that_hangs_at_work_is_killed_in_time_and_replaced(
    tmp_path: Path, said: Said, times: int, is_given_up: bool
) -> None:
    mark = tmp_path / "stops"
    mark.touch()
    worker = Worker(clock=LimitClock(mark))
    work = worker.do(partial(stop, mark, times))
    if is_given_up:
        with pytest.raises(WorkerError, match=r"signal 9.*twice"):
            await work
    else:
        assert await work == worker.pid
    assert await said.next() == (
        "WARNING",
        "the process that makes forecasts has taken longer than 15 minutes: it is ended",
    )
    assert await worker.do(partial(pow, 2, 3)) == 8
    worker.close()


async def test_no_secret_is_in_the_environment_that_others_see(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TUNNIHIND_ENTSOE_TOKEN", "TUNNIHIND_DATABASE_URL", "PGPASSWORD", "SUPERVISOR_TOKEN"):
        monkeypatch.setenv(name, "hush")
    token, seen = await worker.do(partial(environment, "TUNNIHIND_ENTSOE_TOKEN"))
    password, _ = await worker.do(partial(environment, "PGPASSWORD"))
    assert (token, password) == (None, "hush")
    assert b"hush" not in seen


async def test_what_goes_wrong_comes_out_and_the_process_lives_on(worker: Worker) -> None:
    first = await worker.do(os.getpid)
    with pytest.raises(StoreError, match="the database is gone"):
        await worker.do(refuse)
    with pytest.raises(RuntimeError, match="KeyError: 'p50'") as failure:
        await worker.do(stumble)
    assert "in stumble" in "".join(failure.value.__notes__)
    assert await worker.do(os.getpid) == first


async def test_what_the_process_logs_is_logged_by_the_server_in_its_format(worker: Worker, said: Said) -> None:
    await worker.do(warn)
    assert await said.next() == ("WARNING", "row 7 is damaged")
    assert "ZeroDivisionError" in (await said.next())[1]


async def test_what_a_process_has_logged_its_successor_does_not_log_again(worker: Worker, said: Said) -> None:
    for _ in range(2):
        await worker.do(warn)
        worker.close()
    await worker.do(refuse_loudly)
    found = [await said.next() for _ in range(3)]
    assert [level for level, _ in found] == ["WARNING", "ERROR", "WARNING"]
    assert found[-1][1] == "row 8 is damaged"


@pytest.mark.parametrize("is_stopped", [False, True])
async def test_without_work_for_a_while_the_process_ends(is_stopped: bool) -> None:
    worker = Worker(idle_s=0.0)
    first = await worker.do(os.getpid)
    if is_stopped:
        os.kill(first, signal.SIGSTOP)
    with suppress(ProcessLookupError):
        watch = os.pidfd_open(first)
        try:
            assert await asyncio.to_thread(select.select, [watch], [], [], PATIENCE_S) != ([], [], [])
        finally:
            os.close(watch)
    assert worker.pid is None
    assert await worker.do(os.getpid) != first
    worker.close()


async def test_what_is_printed_in_the_process_is_no_message(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    assert await worker.do(chatter) == 5
    assert capfd.readouterr() == ("", "hello\n")


async def test_nothing_but_the_process_itself_is_started(worker: Worker) -> None:
    others = children()  # for example a database system that all tests share
    pid = await worker.do(os.getpid)
    assert children() - others == {pid}
    assert "multiprocessing" not in await worker.do(imported)
    worker.close()
    assert children() - others == set()


async def test_cancelled_work_ends_its_process_and_is_no_answer_to_the_next(worker: Worker) -> None:
    first = await worker.do(os.getpid)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await worker.do(wait_for_good)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert await worker.do(partial(pow, 2, 3)) == 8


async def test_closed_at_work_it_ends_at_once_and_says_so_to_who_waits(worker: Worker) -> None:
    first = await worker.do(os.getpid)
    waiting = asyncio.ensure_future(worker.do(wait_for_good))
    await asyncio.sleep(0)
    worker.close()
    with pytest.raises(WorkerError, match="was ended"):
        await waiting
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)

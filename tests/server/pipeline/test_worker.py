"""A process that works for the server: killed idle, killed at work, and gone wrong."""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from tunnihind.errors import StoreError, WorkerError
from tunnihind.pipeline.worker import Worker

PATIENCE_S = 60


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    made = Worker()
    yield made
    made.close()


class Said(logging.Handler):
    """Passes log lines on to the test that waits for them."""

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


def die(mark: Path, times: int) -> int:
    """End this process as a kill does, so many times by the count that a file keeps; then return its id."""
    deaths = len(mark.read_bytes())
    if deaths < times:
        mark.write_bytes(b"x" * (deaths + 1))
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def refuse() -> None:
    raise StoreError("the database is gone")


def stumble() -> None:
    raise KeyError("p50")


def wait_for_good() -> None:
    signal.pause()


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


async def test_pieces_of_work_take_turns(worker: Worker) -> None:
    found = await asyncio.gather(*(worker.do(partial(pow, 2, n)) for n in range(5)))
    assert found == [1, 2, 4, 8, 16]


async def test_a_process_killed_idle_is_noticed_and_replaced_before_there_is_work(worker: Worker, said: Said) -> None:
    first = await worker.do(os.getpid)
    os.kill(first, signal.SIGKILL)
    assert await said.next() == (
        "WARNING",
        "the process that makes forecasts has died (signal 9); another one is started",
    )
    second = worker.pid
    assert second not in {None, first}
    assert await worker.do(os.getpid) == second


async def test_work_that_comes_before_the_death_is_noticed_is_done_at_once(worker: Worker) -> None:
    first = await worker.do(os.getpid)
    os.kill(first, signal.SIGKILL)
    assert await worker.do(os.getpid) != first


async def test_one_that_dies_before_it_has_done_anything_is_replaced_only_for_work(worker: Worker, said: Said) -> None:
    first = await worker.do(os.getpid)
    os.kill(first, signal.SIGKILL)
    await said.next()
    second = worker.pid
    assert second is not None
    os.kill(second, signal.SIGKILL)
    await said.next()
    assert worker.pid is None
    assert await worker.do(os.getpid) not in {first, second}


async def test_one_that_is_asked_to_end_is_not_replaced_before_there_is_work(worker: Worker, said: Said) -> None:
    first = await worker.do(os.getpid)
    os.kill(first, signal.SIGTERM)
    assert await said.next() == ("INFO", "the process that makes forecasts has died (signal 15)")
    assert worker.pid is None
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

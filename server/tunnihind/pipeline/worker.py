"""A process that does one piece of work after another, and runs only while there is work.

The process is started as a separate program (see `work`), not by `multiprocessing` or an executor. These two would
import the server's main module into it. They would also start a permanent process, Python's resource tracker. An
executor would also notice a death only at the next piece of work.
"""

import asyncio
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final, cast

from tunnihind.clock import Clock, SystemClock
from tunnihind.errors import WorkerError
from tunnihind.pipeline.work import Outcome, receive, send
from tunnihind.settings import ENVIRONMENT_PREFIX

_LOG: Final = logging.getLogger(__name__)

_PROGRAM: Final = "tunnihind.pipeline.work"
_NICENESS: Final = 10
"""Forecasts have a lower priority than serving."""
_IDLE_S: Final = 5.0
"""The pipeline's next work comes within this many seconds, or only in an hour."""
_LIMIT_S: Final = 15 * 60.0
"""A piece of work takes seconds. At the first start on a small or busy computer it may take minutes."""
_PART_OF_LIMIT_S: Final = 10.0
"""The limit is counted in such parts. A container that was frozen for a long time then loses only one part."""
_MOST_LOGGED: Final = 1000
_KILL_S: Final = 5.0
"""A killed process is gone within milliseconds, unless a disk does not answer it."""
_NEEDED_TO_START: Final = ("DYLD_", "GLIBC_", "LANG", "LC_", "LD_", "MALLOC_", "PYTHON", "SYSTEMROOT")
_RETURNS_MEMORY: Final = {"MALLOC_MMAP_THRESHOLD_": str(128 * 1024)}
"""The GNU C library takes pieces of this size or more from the system one by one, and returns them once they are freed.
By default the library learns to keep such pieces. That is faster but leaves gaps. After many forecasts, gaps take a
third of all memory.
"""


class Worker:
    """Does work in a separate process. It starts with a piece of work and ends after some idle time.

    If the process dies during work, or takes too long, the work is begun again in another process.
    """

    def __init__(
        self,
        niceness: int = _NICENESS,
        idle_s: float = _IDLE_S,
        clock: Clock | None = None,
        *,
        is_thrifty: bool = False,
    ) -> None:
        """Do nothing yet. A process that `is_thrifty` takes less memory but more time."""
        self._niceness = niceness
        self._is_thrifty = is_thrifty
        self._idle_s = idle_s
        self._clock = clock or SystemClock()
        self._process: _Process | None = None
        self._turn = asyncio.Lock()
        self._idle_end: asyncio.TimerHandle | None = None
        self._logged: set[str] = set()

    @property
    def pid(self) -> int | None:
        """The id of the process. None if no process is running."""
        return None if self._process is None else self._process.pid

    async def do[Result](self, work: Callable[[], Result]) -> Result:
        """Return the result of `work` in the process. `work` must be picklable.

        Raises the TunnihindError that the work raises. Any other error becomes a RuntimeError, with the traceback in
        its notes. Raises WorkerError if the process can't be started, or dies or hangs twice during the work.
        Cancelling ends the process.
        """
        async with self._turn:
            self._cancel_idle_end()
            try:
                return await self._do(work)
            except _DiedError as error:
                _LOG.warning("%s; its work is begun again in another one", error)
            try:
                return await self._do(work)
            except _DiedError as error:
                raise WorkerError(f"{error}, twice at the same work") from None

    def close(self) -> None:
        """End the process at once."""
        self._cancel_idle_end()
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def _schedule_idle_end(self) -> None:
        """End the process once it has been idle for long enough."""
        self._idle_end = asyncio.get_running_loop().call_later(self._idle_s, self.close)

    def _cancel_idle_end(self) -> None:
        if self._idle_end is not None:
            self._idle_end.cancel()

    async def _do[Result](self, work: Callable[[], Result]) -> Result:
        if self._process is None:
            self._process = self._started()
        limit = asyncio.create_task(self._end_after_limit(self._process))
        try:
            result, error = await self._process.do(work)
        except _DiedError:
            self._process = None
            raise
        except asyncio.CancelledError:
            # The answer of this process would be mistaken for the answer to the next piece of work.
            self.close()
            raise
        finally:
            limit.cancel()
        self._schedule_idle_end()
        if error is not None:
            raise error
        done: Result = result
        return done

    async def _end_after_limit(self, process: _Process) -> None:
        """End a process that exceeds the time limit. It then counts as dead, so its work is begun again."""
        for _ in range(round(_LIMIT_S / _PART_OF_LIMIT_S)):
            await self._clock.sleep(_PART_OF_LIMIT_S)
        _LOG.warning("the process that makes forecasts has taken longer than %g minutes: it is ended", _LIMIT_S / 60)
        process.end()

    def _started(self) -> _Process:
        try:
            return _Process(self._niceness, self._ended_idle, self._log, is_thrifty=self._is_thrifty)
        except OSError as error:
            raise WorkerError(f"the process that makes forecasts can't be started: {error}") from error

    def _ended_idle(self, process: _Process, error: _DiedError) -> None:
        if process is not self._process:
            return
        self._process = None
        # If the process got SIGTERM, the server most likely got it too.
        level = logging.INFO if error.was_asked_to_end else logging.WARNING
        _LOG.log(level, "%s; another one is started when there is work", error)

    def _log(self, record: logging.LogRecord) -> None:
        """Log a process's record in the server, in its format and at its level.

        A message that an earlier process has logged is dropped, because each new process repeats it.
        """
        key = f"{record.name} {record.levelno} {record.msg}"
        logger = logging.getLogger(record.name)
        if key not in self._logged and logger.isEnabledFor(record.levelno):
            logger.handle(record)
        if len(self._logged) < _MOST_LOGGED:
            self._logged.add(key)


class _DiedError(Exception):
    """The process has ended by itself."""

    def __init__(self, exit_code: int) -> None:
        how = f"signal {-exit_code}" if exit_code < 0 else f"exit status {exit_code}"
        super().__init__(f"the process that makes forecasts has died ({how})")
        self.was_asked_to_end = exit_code == -signal.SIGTERM


class _Process:
    """One running process. A thread waits for its answers, its log records and its end."""

    def __init__(
        self,
        niceness: int,
        on_idle_death: Callable[[_Process, _DiedError], None],
        log: Callable[[logging.LogRecord], None],
        *,
        is_thrifty: bool,
    ) -> None:
        self._on_idle_death = on_idle_death
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._outcome: asyncio.Future[Outcome] | None = None
        # With -P, the program finds its modules where the server does, not in the folder where the server was started.
        command = [sys.executable, "-P", "-m", _PROGRAM, str(niceness)]
        self._process = subprocess.Popen(  # noqa: S603  our own program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment() | (_RETURNS_MEMORY if is_thrifty else {}),
        )
        self._stdin, self._stdout = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        rest = {name: value for name, value in os.environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}
        self._send(rest)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def do(self, work: Callable[[], object]) -> Outcome:
        """Return the outcome of a piece of work.

        Raises _DiedError if the process dies during it, or was already dead.
        """
        self._outcome = self._loop.create_future()
        try:
            self._send(work)
            return await self._outcome
        finally:
            self._outcome = None

    def kill(self) -> None:
        """End the process and wait for its end."""
        self._on_idle_death = _ignore
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_exception(WorkerError("the process that makes forecasts was ended"))
        self.end()
        self._listener.join(_KILL_S)

    def end(self) -> None:
        """End the process, even if it is stopped or hangs."""
        self._process.kill()

    def _send(self, message: object) -> None:
        """Write a message.

        If the process is dead, the write fails silently, because the listener is about to report the death.
        """
        with suppress(OSError, ValueError):
            send(self._stdin, message)

    def _listen(self) -> None:
        """Pass on the process's answers until it ends."""
        with suppress(EOFError, OSError):
            while True:
                match pickle.loads(receive(self._stdout)):  # noqa: S301  from the process that the server has started
                    case logging.LogRecord() as record:
                        self._log(record)
                    case outcome:
                        self._post(self._answered, outcome)
        exit_code = self._process.wait()
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):
                stream.close()
        self._post(self._ended, _DiedError(exit_code))

    def _post[Message](self, take: Callable[[Message], None], message: Message) -> None:
        """Give the event loop a message, unless the loop is closed and nobody waits for a message."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(take, message)

    def _answered(self, outcome: Outcome) -> None:
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(outcome)

    def _ended(self, error: _DiedError) -> None:
        if self._outcome is None:
            self._on_idle_death(self, error)
        elif not self._outcome.done():
            self._outcome.set_exception(error)


def _environment() -> dict[str, str]:
    """Return the environment that the program needs to start. The rest may hold secrets, so it comes in a message.

    Other users of the machine may see a process's first environment (`/proc/PID/environ`).
    """
    needed = {name: value for name, value in os.environ.items() if name.startswith(_NEEDED_TO_START)}
    return needed | {"PYTHONPATH": os.pathsep.join(sys.path)}


def _ignore(_process: _Process, _error: _DiedError) -> None:
    """Do nothing."""

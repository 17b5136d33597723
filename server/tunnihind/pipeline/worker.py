"""Calls functions in a separate process, which ends soon after its work.

The process runs the module `worker_process`. `multiprocessing` and `concurrent.futures` are not used, because they
would start another process, Python's resource tracker, which would run until the server ends.
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
from tunnihind.pipeline.worker_process import Outcome, receive_message, return_free_memory, send_message
from tunnihind.settings import ENVIRONMENT_PREFIX

_LOG: Final = logging.getLogger(__name__)

_WORKER_MODULE: Final = "tunnihind.pipeline.worker_process"
_NICENESS: Final = 10
"""The default niceness of the process. The server, which answers requests, has a higher priority."""
_IDLE_S: Final = 5.0
"""The process ends after this many seconds without work, because the next call usually comes only an hour later."""
_CALL_LIMIT_S: Final = 15 * 60.0
"""The time limit of a call in seconds. Most calls take seconds, but on a slow computer the first call may take
minutes."""
_LIMIT_SLEEP_S: Final = 10.0
"""The time limit is divided into sleeps of this many seconds, so that the time in which a container was frozen counts
as one sleep at most."""
_MAX_LOGGED: Final = 1000
_KILL_WAIT_S: Final = 5.0
"""The longest wait in seconds for the end of a killed process. Unless the process is waiting for a disk, it ends within
milliseconds."""
_NEEDED_VARIABLE_PREFIXES: Final = ("DYLD_", "GLIBC_", "LANG", "LC_", "LD_", "MALLOC_", "PYTHON", "SYSTEMROOT")
_MALLOC_ENVIRONMENT: Final = {"MALLOC_MMAP_THRESHOLD_": str(128 * 1024)}
"""With this setting, the GNU C library returns each freed block of at least 128 KiB to the system. By default, this
limit rises over time, and after many forecasts, free gaps between used blocks take a third of the process's memory."""


class Worker:
    """Calls functions in a separate process.

    A call of `do` starts the process if none is running. The process ends after `idle_s` seconds without work. If the
    process dies during a call, or if the call takes too long, the function is called once more in a new process.
    """

    def __init__(
        self,
        niceness: int = _NICENESS,
        idle_s: float = _IDLE_S,
        clock: Clock | None = None,
        *,
        is_thrifty: bool = False,
    ) -> None:
        """Prepare a worker. If `is_thrifty` is true, the worker's process takes less memory but more time."""
        self._niceness = niceness
        self._is_thrifty = is_thrifty
        self._idle_s = idle_s
        self._clock = clock or SystemClock()
        self._process: _Process | None = None
        self._lock = asyncio.Lock()
        self._idle_end: asyncio.TimerHandle | None = None
        self._logged: set[str] = set()

    @property
    def pid(self) -> int | None:
        """The id of the running process, or None if no process is running."""
        return None if self._process is None else self._process.pid

    async def do[Result](self, work: Callable[[], Result]) -> Result:
        """Call `work` in the worker's process, and return the result. `work` must be picklable.

        If `work` raises a TunnihindError, this call raises the same error. If `work` raises another error, this call
        raises a RuntimeError with the traceback as a note. If the process dies, or if `work` exceeds the time limit,
        `work` is called once more. Raises WorkerError if the second attempt also ends in one of these two ways, if the
        process can't be started, or if `close` ends the process. If this call is cancelled during `work`, the process
        ends.
        """
        async with self._lock:
            self._cancel_idle_end()
            try:
                return await self._do(work)
            except _ProcessDiedError as error:
                _LOG.warning("%s; its work begins again in a new process", error)
            try:
                return await self._do(work)
            except _ProcessDiedError as error:
                raise WorkerError(f"{error}, twice at the same work") from None

    def close(self) -> None:
        """End the process at once, even during a call."""
        self._cancel_idle_end()
        process, self._process = self._process, None
        if process is not None:
            process.kill_and_wait()

    def _cancel_idle_end(self) -> None:
        if self._idle_end is not None:
            self._idle_end.cancel()

    async def _do[Result](self, work: Callable[[], Result]) -> Result:
        if self._process is None:
            self._process = self._start_process()
        limit = asyncio.create_task(self._end_after_limit(self._process))
        try:
            result, error = await self._process.do(work)
        except _ProcessDiedError:
            self._process = None
            raise
        except asyncio.CancelledError:
            # If the process continued, its late result would be taken for the result of the next call.
            self.close()
            raise
        finally:
            limit.cancel()
        self._idle_end = asyncio.get_running_loop().call_later(self._idle_s, self.close)
        if error is not None:
            raise error
        done: Result = result
        return done

    async def _end_after_limit(self, process: _Process) -> None:
        for _ in range(round(_CALL_LIMIT_S / _LIMIT_SLEEP_S)):
            await self._clock.sleep(_LIMIT_SLEEP_S)
        _LOG.warning(
            "the process that makes forecasts has taken longer than %g minutes: it is ended", _CALL_LIMIT_S / 60
        )
        process.kill()

    def _start_process(self) -> _Process:
        # The server's and the process's memory add up, and the server's own work leaves much of it free.
        return_free_memory()
        try:
            return _Process(self._niceness, self._handle_idle_death, self._log, is_thrifty=self._is_thrifty)
        except OSError as error:
            raise WorkerError(f"the process that makes forecasts can't be started: {error}") from error

    def _handle_idle_death(self, process: _Process, error: _ProcessDiedError) -> None:
        if process is not self._process:
            return
        self._process = None
        # If SIGTERM has ended the process, no warning is needed, because the server has most likely received SIGTERM
        # too.
        level = logging.INFO if error.was_terminated else logging.WARNING
        _LOG.log(level, "%s; a new process starts when there is work", error)

    def _log(self, record: logging.LogRecord) -> None:
        """Log a record, unless an equal message came before, because each new process repeats messages.

        Only the first `_MAX_LOGGED` different messages are remembered.
        """
        key = f"{record.name} {record.levelno} {record.msg}"
        logger = logging.getLogger(record.name)
        if key not in self._logged and logger.isEnabledFor(record.levelno):
            logger.handle(record)
        if len(self._logged) < _MAX_LOGGED:
            self._logged.add(key)


class _ProcessDiedError(Exception):
    """Raised if the process has ended without a call of `_Process.kill_and_wait`."""

    def __init__(self, exit_code: int) -> None:
        how = f"signal {-exit_code}" if exit_code < 0 else f"exit status {exit_code}"
        super().__init__(f"the process that makes forecasts has died ({how})")
        self.was_terminated = exit_code == -signal.SIGTERM


class _Process:
    """One running process. A thread receives the process's results and log records, and waits for the process's end."""

    def __init__(
        self,
        niceness: int,
        on_idle_death: Callable[[_Process, _ProcessDiedError], None],
        log: Callable[[logging.LogRecord], None],
        *,
        is_thrifty: bool,
    ) -> None:
        self._on_idle_death = on_idle_death
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._outcome: asyncio.Future[Outcome] | None = None
        # With -P, Python does not add the current folder to the folders from which it imports modules.
        command = [sys.executable, "-P", "-m", _WORKER_MODULE, str(niceness)]
        self._process = subprocess.Popen(  # noqa: S603  our own program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_needed_environment() | (_MALLOC_ENVIRONMENT if is_thrifty else {}),
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
        """Call `work` in the process, and return the result or the error.

        Raises _ProcessDiedError if the process dies or is already dead, and WorkerError if `kill_and_wait` ends the
        process.
        """
        self._outcome = self._loop.create_future()
        try:
            self._send(work)
            return await self._outcome
        finally:
            self._outcome = None

    def kill_and_wait(self) -> None:
        """End the process, and wait at most `_KILL_WAIT_S` seconds for its end."""
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_exception(WorkerError("the process that makes forecasts was ended"))
        self.kill()
        self._listener.join(_KILL_WAIT_S)

    def kill(self) -> None:
        """End the process, even if it is suspended or hangs."""
        self._process.kill()

    def _send(self, message: object) -> None:
        """Send a message to the process. If the process is dead, do nothing, because `_listen` reports the death."""
        with suppress(OSError, ValueError):
            send_message(self._stdin, message)

    def _listen(self) -> None:
        """Handle the process's messages until the process ends, and then report its end."""
        with suppress(EOFError, OSError):
            while True:
                match pickle.loads(receive_message(self._stdout)):  # noqa: S301  from our own process
                    case logging.LogRecord() as record:
                        self._log(record)
                    case outcome:
                        self._call_in_loop(self._set_outcome, outcome)
        exit_code = self._process.wait()
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):
                stream.close()
        self._call_in_loop(self._handle_end, _ProcessDiedError(exit_code))

    def _call_in_loop[Message](self, take: Callable[[Message], None], message: Message) -> None:
        """Call `take` with `message` in the event loop. If the event loop is closed, do nothing."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(take, message)

    def _set_outcome(self, outcome: Outcome) -> None:
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(outcome)

    def _handle_end(self, error: _ProcessDiedError) -> None:
        if self._outcome is None:
            self._on_idle_death(self, error)
        elif not self._outcome.done():
            self._outcome.set_exception(error)


def _needed_environment() -> dict[str, str]:
    """Return the environment variables that the worker's process needs to start.

    `PYTHONPATH` lists the folders of the server's `sys.path`. Variables that the process does not need to start may
    contain secrets, and other programs may be able to read the environment with which a process started
    (`/proc/PID/environ`). So `_Process` sends all variables except the server's settings in a message.
    """
    needed = {name: value for name, value in os.environ.items() if name.startswith(_NEEDED_VARIABLE_PREFIXES)}
    return needed | {"PYTHONPATH": os.pathsep.join(sys.path)}

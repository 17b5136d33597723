"""A process that does one piece of work after another, and is replaced when it dies.

This is a process of `multiprocessing` with a pipe. It is not an executor, because an executor notices a death only at
the next piece of work, and because its queues hold semaphores: when the server is killed, Python's resource tracker
writes about these to stderr.
"""

import asyncio
import logging
import os
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, Final, override

from tunnihind.errors import TunnihindError, WorkerError

_LOG: Final = logging.getLogger(__name__)

_NICENESS: Final = 10
"""Forecasts give way to the serving."""

type _Outcome = tuple[Any, Exception | None]
"""What a piece of work returned, or raised."""

type _Sent = _Outcome | logging.LogRecord


class Worker:
    """Does work in a process of its own, which starts with the first piece of work.

    A process that dies without work is replaced at once. Work during which it dies is begun again in another process.
    """

    def __init__(self, niceness: int = _NICENESS) -> None:
        self._niceness = niceness
        self._process: _Process | None = None
        self._turn = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The id of the process, None where there is none."""
        return None if self._process is None else self._process.pid

    async def do[Result](self, work: Callable[[], Result]) -> Result:
        """Return what `work` returns in the process. `work` has to be picklable.

        Raises the TunnihindError that the work raises, and RuntimeError with the traceback in its notes for any other
        error. Raises WorkerError where the process can't be started or dies twice at the work. Cancelling ends the
        process.
        """
        async with self._turn:
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
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    async def _do[Result](self, work: Callable[[], Result]) -> Result:
        if self._process is None:
            self._process = self._started()
        try:
            result, error = await self._process.do(work)
        except _DiedError:
            self._process = None
            raise
        except asyncio.CancelledError:
            # Its answer would be taken for that of the next piece of work.
            self.close()
            raise
        if error is not None:
            raise error
        done: Result = result
        return done

    def _started(self) -> _Process:
        try:
            return _Process(self._niceness, self._died_idle)
        except OSError as error:
            raise WorkerError(f"the process that makes forecasts can't be started: {error}") from error

    def _died_idle(self, process: _Process, error: _DiedError) -> None:
        if process is not self._process:
            return
        self._process = None
        # A process that got SIGTERM got it together with the server, most likely. One that has never done any work
        # might die again and again. Both are replaced when there is work.
        if error.was_asked_to_end or not process.has_worked:
            _LOG.info("%s", error)
            return
        _LOG.warning("%s; another one is started", error)
        try:
            self._process = self._started()
        except WorkerError as failure:
            _LOG.warning("%s; it is tried again with the next work", failure)


class _DiedError(Exception):
    """The process has ended without being told to."""

    def __init__(self, exit_code: int | None) -> None:
        how = f"signal {-exit_code}" if exit_code is not None and exit_code < 0 else f"exit status {exit_code}"
        super().__init__(f"the process that makes forecasts has died ({how})")
        self.was_asked_to_end = exit_code == -signal.SIGTERM


class _Process:
    """One running process. A thread waits for its answers, for what it logs, and for its end."""

    def __init__(self, niceness: int, on_idle_death: Callable[[_Process, _DiedError], None]) -> None:
        self.has_worked = False
        self._on_idle_death = on_idle_death
        self._loop = asyncio.get_running_loop()
        self._outcome: asyncio.Future[_Outcome] | None = None
        # Spawned, because a forked child would share the database's connections and the server's sockets.
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        with theirs:
            self._process = context.Process(target=_work_through, args=(theirs, niceness), daemon=True)
            self._process.start()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    async def do(self, work: Callable[[], object]) -> _Outcome:
        """Return the outcome of a piece of work. Raises _DiedError where the process dies at it, or has died before."""
        self._outcome = self._loop.create_future()
        try:
            # A process that can't be written to is dead, and the listener is about to say how it died.
            with suppress(OSError):
                self._connection.send(work)
            return await self._outcome
        finally:
            self._outcome = None

    def kill(self) -> None:
        """End the process and wait for its end."""
        self._on_idle_death = _ignore
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_exception(WorkerError("the process that makes forecasts was ended"))
        self._process.kill()
        self._listener.join()

    def _listen(self) -> None:
        """Pass on the process's answers until it ends."""
        with self._connection, suppress(EOFError, OSError):
            while True:
                match self._connection.recv():
                    case logging.LogRecord() as record:
                        _log(record)
                    case outcome:
                        self._tell(self._answered, outcome)
        self._process.join()
        self._tell(self._ended, _DiedError(self._process.exitcode))

    def _tell[Message](self, take: Callable[[Message], None], message: Message) -> None:
        """Give the event loop a message, unless the loop is closed: then nobody waits for one."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(take, message)

    def _answered(self, outcome: _Outcome) -> None:
        self.has_worked = True
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(outcome)

    def _ended(self, error: _DiedError) -> None:
        if self._outcome is None:
            self._on_idle_death(self, error)
        elif not self._outcome.done():
            self._outcome.set_exception(error)


def _ignore(_process: _Process, _error: _DiedError) -> None:
    """Do nothing."""


def _log(record: logging.LogRecord) -> None:
    """Log in the server, in its format and at its level, what the process has logged."""
    logger = logging.getLogger(record.name)
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)


class _ToServer(logging.Handler):
    """Sends what the process logs to the server, which knows how to write it."""

    def __init__(self, connection: Connection[_Sent, Callable[[], object]]) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(message)s"))
        self._connection = connection

    @override
    def emit(self, record: logging.LogRecord) -> None:
        # As text, because arguments and tracebacks may not be picklable.
        record.msg, record.args, record.exc_info, record.exc_text = self.format(record), None, None, None
        with suppress(OSError):
            self._connection.send(record)


def _work_through(connection: Connection[_Sent, Callable[[], object]], niceness: int) -> None:
    """Do the work that comes through the connection until the server ends. Runs in the process itself."""
    _settle_in(niceness)
    logging.basicConfig(level=logging.WARNING, handlers=[_ToServer(connection)])
    with suppress(EOFError):
        while True:
            connection.send(_done(connection.recv()))


def _done(work: Callable[[], object]) -> _Outcome:
    try:
        return work(), None
    except TunnihindError as error:
        return None, error
    except Exception as error:  # noqa: BLE001  a bug in the work is the server's to log, and ends no process
        failure = RuntimeError(f"{type(error).__name__}: {error}")
        failure.add_note(traceback.format_exc())
        return None, failure


def _settle_in(niceness: int) -> None:
    """Lower the priority, leave Ctrl-C to the server, and end with the server, also when that is killed."""
    if hasattr(os, "nice"):
        os.nice(niceness)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)

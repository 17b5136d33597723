"""The process in which a `Worker` calls functions: `python -m tunnihind.pipeline.worker_process <niceness>`.

The first message on stdin contains the server's environment variables, except the server's settings. Each later message
contains a function that this process calls. The results and log records are written to stdout. A message consists of a
length and a pickle of that length.

The pickles can be trusted, because only the server can write to this process's stdin. If the server ends, this process
ends too.
"""

import ctypes
import gc
import logging
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, Final, override

from tunnihind.errors import TunnihindError

_LENGTH_BYTES: Final = 8

type Outcome = tuple[Any, Exception | None]
"""(result, None), or (None, error)."""


def send_message(stream: BinaryIO, message: object) -> None:
    """Write a message to the other process. Raises OSError if the other process has ended."""
    content = pickle.dumps(message)
    stream.write(len(content).to_bytes(_LENGTH_BYTES) + content)
    stream.flush()


def receive_message(stream: BinaryIO) -> bytes:
    """Read the next message, and return the pickle that it contains. Raises EOFError at the end of the stream."""
    length = int.from_bytes(_read_exactly(stream, _LENGTH_BYTES))
    return _read_exactly(stream, length)


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


class _ServerLogHandler(logging.Handler):
    """Sends log records to the server, because only the server has the operator's log settings."""

    def __init__(self, server: BinaryIO) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(message)s"))
        self._server = server

    @override
    def emit(self, record: logging.LogRecord) -> None:
        # Text replaces the record's arguments and traceback before sending, because they may not be picklable.
        record.msg, record.args, record.exc_info, record.exc_text = self.format(record), None, None, None
        with suppress(OSError):
            send_message(self._server, record)


def main() -> None:
    """Until the server ends, call the functions that it sends."""
    server = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # print() writes to stderr, because stdout is for messages
    _prepare_process(int(sys.argv[1]))
    logging.basicConfig(level=logging.WARNING, handlers=[_ServerLogHandler(server)])
    with suppress(EOFError):
        os.environ.update(pickle.loads(receive_message(sys.stdin.buffer)))  # noqa: S301  from the server
    work: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(work,), daemon=True).start()
    while True:
        send_message(server, _outcome_of(work.get()))
        gc.collect()
        return_free_memory()


def _listen(work: queue.SimpleQueue[bytes]) -> None:
    """Put the server's messages into a queue. When the server ends, end this process, even during a call."""
    with suppress(EOFError, OSError):
        while True:
            work.put(receive_message(sys.stdin.buffer))
    os._exit(0)


def _outcome_of(pickled: bytes) -> Outcome:
    try:
        work: Callable[[], object] = pickle.loads(pickled)  # noqa: S301  from the server that has started this process
        return work(), None
    except TunnihindError as error:
        return None, error
    except Exception as error:  # noqa: BLE001  the server logs a bug in the work, and this process goes on
        failure = RuntimeError(f"{type(error).__name__}: {error}")
        failure.add_note(traceback.format_exc())
        return None, failure


def return_free_memory() -> None:
    """Return free memory to the system, if the C library is GNU's.

    By itself, it keeps free memory between used blocks. After forecasts of 90 past days, this can be a third of the
    process's memory.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _prepare_process(niceness: int) -> None:
    """Lower this process's priority, ignore Ctrl-C, and switch the garbage collector off.

    The garbage collector would free little during a call, but would slow down the reading of stored rows, so garbage
    is collected only after each call.
    """
    gc.disable()
    if hasattr(os, "nice"):
        os.nice(niceness)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()

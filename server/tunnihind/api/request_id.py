"""The id of a request, by which its lines are found in the logs of the edge and of the server."""

import logging
import re
from collections.abc import Sequence
from contextvars import ContextVar
from secrets import token_hex
from typing import Final

FIELD: Final = "X-Request-Id"

_SANE: Final = re.compile(r"[0-9A-Za-z._:/+=@-]{1,128}", re.ASCII)
"""The characters in ids of proxies and tracers. None of them ends a line, or a field of one."""
_MADE_BYTES: Final = 8

_AT_WORK: Final = ContextVar("request_id", default="")


def begin(given: Sequence[str]) -> str:
    """Return the id of a request whose head has these, and keep it for the log lines that its handling causes.

    It is the one that was given, where there is exactly one and it is sane. Otherwise it is made.
    """
    name = given[0] if len(given) == 1 and _SANE.fullmatch(given[0]) else token_hex(_MADE_BYTES)
    _AT_WORK.set(name)
    return name


def at_work() -> str:
    """Return the id of the request at work; one is made for a request whose head could not be read."""
    return _AT_WORK.get() or begin(())


def note(record: logging.LogRecord) -> bool:
    """Give a log record the id of the request at work, empty outside of any; for `logging.Handler.addFilter`."""
    record.request_id = _AT_WORK.get()
    return True

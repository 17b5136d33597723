"""The id of a request, which marks its lines in the logs of the proxy and of the server."""

import logging
import re
from collections.abc import Sequence
from contextvars import ContextVar
from secrets import token_hex
from typing import Final

FIELD: Final = "X-Request-Id"

_VALID: Final = re.compile(r"[0-9A-Za-z._:/+=@-]{1,128}", re.ASCII)
"""The characters in ids of proxies and tracers. None of them ends a line, or a field of a line."""
_MADE_BYTES: Final = 8

_CURRENT: Final = ContextVar("request_id", default="")


def begin(given: Sequence[str]) -> str:
    """Return the id of a request, and keep it for the log lines of its handling.

    If exactly one id is given and it is valid, return that id. Otherwise make a new one.
    """
    name = given[0] if len(given) == 1 and _VALID.fullmatch(given[0]) else token_hex(_MADE_BYTES)
    _CURRENT.set(name)
    return name


def current() -> str:
    """Return the id of the current request. A request whose head could not be read gets a new id."""
    return _CURRENT.get() or begin(())


def add_to(record: logging.LogRecord) -> bool:
    """Add the current request's id, empty without a request, to a log record: for `logging.Handler.addFilter`."""
    record.request_id = _CURRENT.get()
    return True

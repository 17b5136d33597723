"""Gives each request an id.

If a proxy sends the id, an operator can find the request in the logs of both the proxy and the server.
"""

import logging
import re
from collections.abc import Sequence
from contextvars import ContextVar
from secrets import token_hex
from typing import Final

HEADER_FIELD: Final = "X-Request-Id"

_VALID_ID: Final = re.compile(r"[0-9A-Za-z._:/+=@-]{1,128}", re.ASCII)
"""The accepted ids. They have no character that could end a log line or a field of a log line."""
_NEW_ID_BYTES: Final = 8

_CURRENT: Final = ContextVar("request_id", default="")


def set_current_id(given: Sequence[str]) -> str:
    """Return the id of a request, and keep it for the request's log lines.

    `given` lists the request's X-Request-Id values. If `given` is not exactly one valid id, make a new id.
    """
    name = given[0] if len(given) == 1 and _VALID_ID.fullmatch(given[0]) else token_hex(_NEW_ID_BYTES)
    _CURRENT.set(name)
    return name


def current_id() -> str:
    """Return the id of the current request. If the request has no id yet, because its head is malformed, make one."""
    return _CURRENT.get() or set_current_id(())


def add_id_to_record(record: logging.LogRecord) -> bool:
    """Add the request's id to a log record, for `logging.Handler.addFilter`. Outside a request, the id is empty."""
    record.request_id = _CURRENT.get()
    return True

"""Sets up logging as text or as JSON."""

import json
import logging
from typing import Any, Final, override

from rich.console import Console
from rich.logging import RichHandler

from tunnihind.api import request_id
from tunnihind.core.market import iso_utc

STDERR: Final = Console(stderr=True)

LONGEST_LINE: Final = 2_000
"""`TextFormatter` and `JsonFormatter` cut lines to this many characters. Without a limit, clients could cause very long
lines."""

_ACCESS_FIELDS: Final = {
    "remote_address": "client",
    "first_request_line": "request",
    "response_status": "status",
    "response_size": "bytes",
    "request_time_frac": "seconds",
}
"""Maps aiohttp's names for the fields of the access log to our names."""


def set_up_logging(level: str, style: str) -> None:
    """Log to standard error. `level` is `debug`, `info`, `warning` or `error`, and `style` is `text` or `json`."""
    handler = _log_handler(style)
    handler.addFilter(request_id.add_id_to_record)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for noisy in ("aiohttp.access", "alembic", "asyncio", "stamina"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # Our own messages already report a lost network or a refused write, so zeroconf and psycopg need not warn.
    for worried in ("zeroconf", "psycopg"):
        logging.getLogger(worried).setLevel(logging.ERROR)


def _log_handler(style: str) -> logging.Handler:
    if style == "text" and STDERR.is_terminal:
        rich = RichHandler(console=STDERR, show_path=False, log_time_format="%H:%M:%S")
        rich.setFormatter(TextFormatter("%(message)s"))
        return rich
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter("%(asctime)s %(levelname)s %(message)s"))
    return handler


class TextFormatter(logging.Formatter):
    """Writes a log record and its traceback as lines of at most `LONGEST_LINE` characters."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(_shortened_text(line, LONGEST_LINE) for line in super().format(record).splitlines())

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        """Append the id of the current request, if any. Messages of the access log already contain this id."""
        line = super().formatMessage(record)
        name = getattr(record, "request_id", "")
        return f"{line} (request {name})" if name and not hasattr(record, "first_request_line") else line


class JsonFormatter(logging.Formatter):
    """Writes a log record as one line of JSON. A line of the access log also has the fields in `_ACCESS_FIELDS`."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": iso_utc(int(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if name := getattr(record, "request_id", ""):
            line["request_id"] = name
        line.update(
            (ours, getattr(record, theirs)) for theirs, ours in _ACCESS_FIELDS.items() if hasattr(record, theirs)
        )
        if "seconds" in line:
            line["seconds"] = float(line["seconds"])
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        text = json.dumps(line, ensure_ascii=False)
        while len(text) > LONGEST_LINE:
            longest = max(line, key=lambda name: len(json.dumps(line[name], ensure_ascii=False)))
            kept = len(line[longest]) - (len(text) - LONGEST_LINE) - 1
            # JSON writes some characters as six characters, so cutting the excess may leave too little or nothing.
            kept = kept if kept > LONGEST_LINE // 20 else len(line[longest]) // 2
            # A traceback is cut at its start, because its last lines are the most useful ones.
            line[longest] = (
                "…" + line[longest][-kept:] if longest == "traceback" else _shortened_text(line[longest], kept)
            )
            text = json.dumps(line, ensure_ascii=False)
        return text


def _shortened_text(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"

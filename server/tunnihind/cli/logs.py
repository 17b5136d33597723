"""Logging for people at a terminal, for a journal, and for machines."""

import json
import logging
from typing import Final, override

from rich.console import Console
from rich.logging import RichHandler

from tunnihind.market import iso_utc

STDERR: Final = Console(stderr=True)


def set_up_logging(level: str, style: str) -> None:
    """Log to standard error as `text` or `json`."""
    handler = _handler(style)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for noisy in ("aiohttp.access", "alembic", "asyncio", "stamina"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # It warns, with tracebacks, of each network that goes away; what that means is said in our own words.
    logging.getLogger("zeroconf").setLevel(logging.ERROR)


def _handler(style: str) -> logging.Handler:
    if style == "text" and STDERR.is_terminal:
        return RichHandler(console=STDERR, show_path=False, log_time_format="%H:%M:%S")
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLine() if style == "json" else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    return handler


class JsonLine(logging.Formatter):
    """Writes a record as one JSON object a line."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": iso_utc(int(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)

"""The text of log records."""

import json
import logging

import pytest

from tunnihind.cli.logs import LONGEST_LINE, JsonFormatter, TextFormatter

TEXT = TextFormatter("%(levelname)s %(message)s")


def record(message: str, *, failed: bool = False) -> logging.LogRecord:
    error = ValueError("x" * 5_000 + "\nthe end")
    exc_info = (ValueError, error, None) if failed else None
    return logging.LogRecord("tunnihind.test", logging.ERROR, __file__, 1, "%s", (message,), exc_info)


def test_a_short_record_is_written_as_it_is() -> None:
    assert TEXT.format(record("all is well")) == "ERROR all is well"
    assert json.loads(JsonFormatter().format(record("all is well")))["message"] == "all is well"


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize("message", ["short", "a" * 10_000, "\x00" * 10_000, '"' * 10_000, "ä" * 10_000])
@pytest.mark.parametrize("formatter", [TEXT, JsonFormatter()], ids=["text", "json"])
def test_no_line_is_longer_than_the_longest(formatter: logging.Formatter, message: str, failed: bool) -> None:
    written = formatter.format(record(message, failed=failed))
    assert max(map(len, written.splitlines())) <= LONGEST_LINE
    assert message[:40] in (json.loads(written)["message"] if isinstance(formatter, JsonFormatter) else written)


def test_the_end_of_a_traceback_is_kept() -> None:
    assert json.loads(JsonFormatter().format(record("a" * 10_000, failed=True)))["traceback"].endswith("the end")
    assert TEXT.format(record("failed", failed=True)).endswith("the end")


def test_a_line_of_the_access_log_is_cut_although_every_field_is_too_long() -> None:
    noisy = record("\x00" * 10_000)
    noisy.request_id = noisy.remote_address = noisy.first_request_line = "\x00" * 10_000
    written = JsonFormatter().format(noisy)
    assert len(written) <= LONGEST_LINE
    assert all(json.loads(written)[name] for name in ("message", "request_id", "client", "request"))

"""The id of a request: accepted or made, sent back, logged, and without effect on the answer."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.api.api_server import RunningServer, Serve
from tests.support.clocks import StillClock
from tunnihind.api import request_id
from tunnihind.cli.logs import JsonFormatter, TextFormatter

type Logged = Callable[[str], list[tuple[str, dict[str, Any]]]]

FIELD = "X-Request-Id"
RESOURCES = ["/api/v1/forecast", "/api/about", "/", "/healthz", "/metrics", "/nope", "/api/v1/forecast?x"]


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[Logged]:
    """Return a function that returns a logger's records, each as text and in parts."""
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(request_id.add_id_to_record)
    yield lambda name: [
        (TextFormatter("%(message)s").format(record), json.loads(JsonFormatter().format(record)))
        for record in caplog.records
        if record.name == name
    ]
    caplog.handler.removeFilter(request_id.add_id_to_record)


@pytest.mark.parametrize("path", RESOURCES)
@pytest.mark.parametrize("close", [False, True])
async def test_a_request_keeps_its_sane_id(server: RunningServer, path: str, close: bool) -> None:
    for given in ("a", "6f1c0d5e-8a1b-4f6e-9d0e-3f2a1b4c5d6e", "Root=1-67891233-abc:/+@._", "x" * 128):
        answer = await server.ask(path, f"{FIELD}: {given}", close=close)
        assert answer.headers.getall(FIELD) == [given]


@pytest.mark.parametrize("path", RESOURCES)
@pytest.mark.parametrize(
    "lines",
    [
        (),
        (f"{FIELD}:",),
        (f"{FIELD}: two words",),
        (f'{FIELD}: "quoted"',),
        (f"{FIELD}: back\\slash",),
        (f"{FIELD}: õ",),
        (f"{FIELD}: {'x' * 129}",),
        (f"{FIELD}: one", f"{FIELD}: two"),
    ],
    ids=["none", "empty", "space", "quotes", "backslash", "not ASCII", "too long", "two"],
)
async def test_a_request_without_a_sane_id_gets_a_new_one(
    server: RunningServer, path: str, lines: tuple[str, ...]
) -> None:
    first, second = [(await server.ask(path, *lines)).headers.getall(FIELD) for _ in range(2)]
    assert len(first) == len(second) == 1
    assert first != second
    assert {len(*one) for one in (first, second)} == {16}


async def test_a_request_that_is_none_has_an_id_too(server: RunningServer) -> None:
    answer = await server.exchange(b"GARBAGE\r\n\r\n")
    assert b"\r\nX-Request-Id: " in answer


async def test_browsers_of_other_origins_may_read_the_id(server: RunningServer) -> None:
    assert FIELD in (await server.ask("/api/about")).headers["Access-Control-Expose-Headers"].split(", ")


@pytest.mark.parametrize("path", ["/api/v1/forecast", "/api/series", "/api/about"])
async def test_two_requests_differ_in_nothing_but_the_id(server: RunningServer, path: str) -> None:
    first, second = [await server.ask(path, f"{FIELD}: {name}") for name in ("one", "two")]
    assert first.body == second.body
    for answer in (first, second):
        del answer.headers[FIELD]
    assert first.headers == second.headers
    tag = first.headers["ETag"]
    again = await server.ask(path, f"If-None-Match: {tag}", f"{FIELD}: three")
    assert (again.status, again.headers[FIELD]) == (304, "three")


async def test_the_access_log_has_the_id_as_text_and_in_parts(serve: Serve, logged: Logged) -> None:
    server = await serve(access_log=logging.getLogger("tunnihind.access"))
    answer = await server.ask("/api/v1/forecast", f"{FIELD}: abc", "User-Agent: evcc")
    line, entry = logged("tunnihind.access")[0]
    assert '"GET /api/v1/forecast HTTP/1.1" 200 ' in line
    assert ' "-" "evcc" abc 0.' in line
    assert (
        entry.items()
        >= {
            "client": "127.0.0.1",
            "request": "GET /api/v1/forecast HTTP/1.1",
            "status": 200,
            "request_id": "abc",
        }.items()
    )
    assert entry["bytes"] > len(answer.body)
    assert 0 <= entry["seconds"] < 60


async def test_an_error_is_logged_with_the_id_of_the_request_that_met_it(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    server = await serve()

    def broken(_clock: StillClock) -> float:
        raise RuntimeError("a bug")

    monkeypatch.setattr(StillClock, "now", broken)
    assert (await server.ask("/readyz", f"{FIELD}: abc")).status == 500
    logging.getLogger("tunnihind.api.server").warning("of no request")
    (error, its_parts), (other, parts) = logged("tunnihind.api.server")
    assert error.splitlines()[0] == "GET /readyz failed (request abc)"
    assert its_parts["request_id"] == "abc"
    assert other == "of no request"
    assert "request_id" not in parts

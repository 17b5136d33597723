"""The shipped configurations of nginx, in a real nginx on a clock of its own, in front of a real server."""

import gzip
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from compression import zstd
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientConnectionError, ClientSession, ClientTimeout

from tests.support.api.api_server import HOUR, RunningServer, Serve, make_view
from tests.support.machine.nginx import Nginx, for_one_server, for_replicas, program
from tests.support.machine.processes import PATIENCE_S, Reply, free_port, until
from tests.support.machine.shifted_clock import ShiftedClock
from tunnihind.api import request_id
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S
from tunnihind.web.options import LANGUAGES, preferred_language

FORECAST: Final = "/api/v1/forecast"
QUARTERS: Final = "/api/v1/quarters"

# Each answer of periods, with the ends of some of them.
at_its_edges = pytest.mark.parametrize(
    ("path", "step_s", "edge_ts"),
    [
        pytest.param(FORECAST, HOUR_S, HOUR + HOUR_S, id="hours"),
        *(
            pytest.param(QUARTERS, QUARTER_S, HOUR + HOUR_S + minute * 60, id=f"quarters :{minute:02}")
            for minute in (0, 15, 30, 45)
        ),
    ],
)

DECODED: Final[dict[str | None, Callable[[bytes], bytes]]] = {
    "gzip": gzip.decompress,
    "zstd": zstd.decompress,
    None: bytes,
}


@dataclass
class Edge:
    """An nginx, the server behind it, and the time on both."""

    url: str
    clock: ShiftedClock
    origin: RunningServer
    access_log: Path

    async def get(self, path: str = FORECAST, **headers: str) -> Reply:
        """Ask the edge, like a client that accepts no coding unless one is given."""
        named = {"Accept-Encoding": "identity"} | {key.replace("_", "-"): value for key, value in headers.items()}
        async with (
            ClientSession(timeout=ClientTimeout(total=PATIENCE_S), auto_decompress=False) as session,
            session.get(self.url + path, headers=named) as response,
        ):
            return Reply(response.status, response.headers, await response.read())

    def at(self, ts: float, *, origin: float | None = None) -> None:
        """Set the time of both, or another time for the server. The edge's time is right to half a second."""
        self.clock.set(datetime.fromtimestamp(ts).astimezone().isoformat())
        self.origin.clock.instant = ts if origin is None else origin

    async def lose_origin(self) -> None:
        await self.origin.runner.cleanup()


@pytest.fixture(params=[for_one_server, for_replicas], ids=["one server", "replicas"])
async def edge(
    request: pytest.FixtureRequest, serve: Serve, clock: ShiftedClock, tmp_path: Path
) -> AsyncIterator[Edge]:
    """Return each of the shipped edges, some seconds after half past the hour."""
    if program() is None:
        pytest.skip("needs nginx: Debian's package nginx-light")
    origin = await serve(make_view({HOUR + n * HOUR_S: float(n) for n in range(4)}), now=HOUR + 1820)
    port, folder = free_port(), tmp_path / "nginx"
    folder.mkdir()
    configuration = request.param(folder, port, origin.port if request.param is for_one_server else [origin.port] * 3)
    nginx = Nginx(folder, configuration, environment=clock.environment)
    edge = Edge(f"http://127.0.0.1:{port}", clock, origin, folder / "access.log")
    edge.at(HOUR + 1820)

    async def answers() -> bool:
        assert nginx.is_running(), nginx.log
        try:
            return (await edge.get("/nowhere")).status == 404
        except ClientConnectionError:
            return False

    try:
        assert await until(answers), nginx.log
        yield edge
        assert "emerg" not in nginx.log
    finally:
        nginx.clear_away()


def hit(reply: Reply) -> bool:
    return bool(reply.headers["X-Cache-Status"] == "HIT")


def current(reply: Reply) -> int:
    """Return the start of an answer's current period."""
    first: int = reply.json()["dayAhead"][0]["ts"]
    return first


async def test_an_answer_is_kept_for_as_long_as_the_server_says(edge: Edge) -> None:
    first = await edge.get()
    assert first.headers["Cache-Control"].startswith("public, max-age=60, ")
    edge.at(HOUR + 1830)
    again = await edge.get()
    assert hit(again)
    assert again.body == first.body


async def test_an_older_answer_is_given_while_a_new_one_is_fetched_behind_it(edge: Edge) -> None:
    first = await edge.get()
    edge.at(HOUR + 1900)
    stale = await edge.get()
    assert stale.body == first.body

    async def look() -> bool:
        return bool((await edge.get()).json()["now"] == HOUR + 1900)

    assert await until(look)


async def test_whoever_is_behind_the_edge_can_tell_how_old_an_answer_is(edge: Edge) -> None:
    made = (await edge.get()).headers["Date"]
    edge.at(HOUR + 1850)
    reply = await edge.get()
    assert hit(reply)
    assert reply.headers["Date"] == made


@at_its_edges
async def test_an_answer_made_before_its_period_ends_is_not_given_out_after_it(
    edge: Edge, path: str, step_s: int, edge_ts: int
) -> None:
    # It was ten seconds on its way: by nginx's own count it would live ten seconds into the next period.
    edge.at(edge_ts - 1, origin=edge_ts - 10)
    before = await edge.get(path)
    assert (current(before), "max-age=10," in before.headers["Cache-Control"]) == (edge_ts - step_s, True)
    edge.at(edge_ts + 1)
    assert current(await edge.get(path)) == edge_ts
    edge.at(edge_ts + 2)
    assert hit(await edge.get(path))


@at_its_edges
async def test_an_answer_to_be_refreshed_behind_is_not_given_out_after_its_period(
    edge: Edge, path: str, step_s: int, edge_ts: int
) -> None:
    edge.at(edge_ts - step_s // 2)
    assert current(await edge.get(path)) == edge_ts - step_s
    for later in (1, 30):
        edge.at(edge_ts + later)
        assert current(await edge.get(path)) == edge_ts


@pytest.mark.parametrize("path", [FORECAST, QUARTERS])
@pytest.mark.parametrize("later", [1, 4, 30, QUARTER_S, HOUR_S, DAY_S - HOUR_S], ids=str)
async def test_the_last_answer_outlives_the_server_for_a_day(edge: Edge, later: int, path: str) -> None:
    last = await edge.get(path)
    await edge.lose_origin()
    edge.at(HOUR + HOUR_S + later)
    reply = await edge.get(path)
    assert (reply.status, reply.body) == (200, last.body)


async def test_after_a_day_the_edge_says_in_the_form_of_the_api_that_the_server_is_down(edge: Edge) -> None:
    await edge.get()
    await edge.lose_origin()
    edge.at(HOUR + 2 * DAY_S)
    reply = await edge.get()
    assert (reply.status, reply.json()["status"]) == (503, 503)
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert reply.headers["Access-Control-Allow-Origin"] == "*"
    assert reply.headers["Cache-Control"] == "no-store"


async def test_with_the_server_down_what_is_not_cached_is_a_problem_answer(edge: Edge) -> None:
    await edge.lose_origin()
    for minute in (0, 30):
        edge.at(HOUR + minute * 60)
        reply = await edge.get()
        assert (reply.status, reply.json()["status"]) == (503, 503)


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0", "gzip"),
        ("identity", None),
        ("br", None),
    ],
)
async def test_each_client_gets_a_coding_it_accepts(edge: Edge, accepted: str, coding: str | None) -> None:
    for other in ("gzip", "zstd", "identity"):
        await edge.get(Accept_Encoding=other)
    reply = await edge.get(Accept_Encoding=accepted)
    assert hit(reply)
    assert reply.headers.get("Content-Encoding") == coding
    assert reply.headers["Vary"] == "Accept-Encoding"
    assert json.loads(DECODED[coding](reply.body))["zone"] == "EE"


async def test_clients_that_word_what_they_accept_otherwise_share_an_answer(edge: Edge) -> None:
    await edge.get(Accept_Encoding="gzip, deflate")
    assert hit(await edge.get(Accept_Encoding="br;q=1.0, gzip;q=0.8, *;q=0.1"))


async def test_a_client_with_the_answer_gets_304_from_the_edge(edge: Edge) -> None:
    etag = (await edge.get()).headers["ETag"]
    reply = await edge.get(If_None_Match=etag)
    assert (reply.status, reply.body) == (304, b"")
    assert hit(reply)
    assert reply.headers["ETag"] == etag


@pytest.mark.parametrize("path", [FORECAST, "/api/series?days=7", f"{FORECAST}?zone=EE", "/nowhere"])
async def test_browsers_of_other_origins_may_read_answers_errors_and_304s(edge: Edge, path: str) -> None:
    first = await edge.get(path, Origin="https://elsewhere.example")
    again = await edge.get(path, If_None_Match=first.headers.get("ETag", "none"))
    assert {reply.headers["Access-Control-Allow-Origin"] for reply in (first, again)} == {"*"}


async def test_browsers_may_ask_first_whether_they_may_ask(edge: Edge) -> None:
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Headers": "If-None-Match"}
    async with ClientSession() as session, session.options(edge.url + FORECAST, headers=asked) as response:
        assert (response.status, response.headers["Access-Control-Allow-Origin"]) == (204, "*")
        assert response.headers["Access-Control-Allow-Headers"] == "*"


async def test_errors_are_never_kept(edge: Edge) -> None:
    for _ in range(2):
        reply = await edge.get(f"{FORECAST}?zone=EE")
        assert (reply.status, hit(reply)) == (400, False)


async def test_each_series_is_kept_by_itself(edge: Edge) -> None:
    two, fourteen = await edge.get("/api/series?days=2"), await edge.get("/api/series")
    assert len(two.json()["actuals"]) <= len(fourteen.json()["actuals"])
    assert hit(await edge.get("/api/series?days=2"))


async def test_a_page_is_kept_once_for_each_language_however_browsers_ask(edge: Edge) -> None:
    pages = {language: (await edge.get("/", Accept_Language=language)).body for language in LANGUAGES}
    for accepted in (
        "et-EE,et;q=0.9,en;q=0.8",
        "et-EE, et; q=0.9, ru; q=0.8, en-US; q=0.7",
        "ru-RU,ru;q=0.9,et-EE;q=0.8,et;q=0.7,en-US;q=0.6,en;q=0.5",
        "ET",
        "en-US,en;q=0.5",
        "en-GB,en;q=0.9,et;q=0.8",
        "et;q=0, en",
        "et;q=0",
        "am-ET,am;q=0.9",
        "fi-FI,fi;q=0.9",
        "*",
        "",
    ):
        language = preferred_language(accepted)
        assert f'<html lang="{language}"'.encode() in pages[language]
        reply = await edge.get("/", Accept_Language=accepted)
        assert (hit(reply), reply.body) == (True, pages[language]), accepted


async def test_the_servers_health_is_never_kept(edge: Edge) -> None:
    for _ in range(2):
        reply = await edge.get("/readyz")
        assert reply.headers.get("X-Cache-Status") != "HIT"
        assert reply.headers["Cache-Control"] == "no-store"


async def test_the_servers_metrics_are_not_for_the_public(edge: Edge) -> None:
    assert (await edge.get("/metrics")).status == 404


async def logged(edge: Edge, request_id: str) -> bool:
    return request_id in edge.access_log.read_text()


async def test_a_request_keeps_its_id_on_its_way_through_the_edge(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    at_the_server: list[str] = []
    begin = request_id.set_current_id

    def recorded(given: Sequence[str]) -> str:
        at_the_server.append(begin(given))
        return at_the_server[-1]

    monkeypatch.setattr(request_id, "set_current_id", recorded)
    for name, expected in (("trace:1/a=b", re.escape("trace:1/a=b")), ("not sane", "[0-9a-f]{32}")):
        reply = await edge.get(X_Request_Id=name)
        assert re.fullmatch(expected, reply.headers["X-Request-Id"])
        assert at_the_server.pop() == reply.headers["X-Request-Id"]
        assert await until(partial(logged, edge, reply.headers["X-Request-Id"]))
        # The next one reaches the server too: by the edge's clock, right to half a second, the hour is over.
        edge.at(HOUR + HOUR_S + 2)


async def test_an_answer_from_the_cache_has_the_id_of_its_own_request(edge: Edge) -> None:
    first, second, third = [await edge.get(X_Request_Id=name) for name in ("one", "two", "insane id")]
    assert (hit(first), hit(second)) == (False, True)
    assert [reply.headers.getall("X-Request-Id") for reply in (first, second)] == [["one"], ["two"]]
    assert len(third.headers["X-Request-Id"]) == 32
    assert first.body == second.body == third.body
    await edge.lose_origin()
    assert (await edge.get("/api/about", X_Request_Id="four")).headers.getall("X-Request-Id") == ["four"]

"""The additions of packaging/scale's edge to a single server's edge: replicas, limits per client, a CDN."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientConnectionError, ClientSession, ClientTimeout, TCPConnector, web
from aiohttp.test_utils import BaseTestServer, TestServer

from tests.support.machine.nginx import Nginx, for_replicas, program
from tests.support.machine.processes import PATIENCE_S, Reply, free_port, until

FORECAST: Final = "/api/v1/forecast"
BEHIND_A_CDN: Final = "set_real_ip_from 127.0.0.9;"


@dataclass
class Replica:
    """A replica that gives set answers, and notes its requests."""

    asked: list[web.BaseRequest] = field(default_factory=list)
    status: int = 200
    slow_s: float = 0.0

    @property
    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.Response:
        self.asked.append(request)
        await asyncio.sleep(self.slow_s)
        fields = {"Cache-Control": "public, max-age=60", "X-Request-Id": request.headers.get("X-Request-Id", "")}
        return web.json_response({"status": self.status}, status=self.status, headers=fields)


@dataclass
class Edge:
    """The edge, its replicas, and clients at any of this machine's own addresses."""

    url: str
    replicas: list[Replica]
    servers: list[BaseTestServer]

    async def get(self, path: str = FORECAST, *, client: str = "127.0.0.1", **headers: str) -> Reply:
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        async with (
            ClientSession(
                connector=TCPConnector(local_addr=(client, 0)), timeout=ClientTimeout(total=PATIENCE_S)
            ) as session,
            session.get(self.url + path, headers=named) as response,
        ):
            return Reply(response.status, response.headers, await response.read())

    @property
    def asked(self) -> list[web.BaseRequest]:
        return [request for replica in self.replicas for request in replica.asked]


type Open = Callable[..., Awaitable[Edge]]


@asynccontextmanager
async def opened(folder: Path, *, more: str = "") -> AsyncIterator[Edge]:
    replicas = [Replica() for _ in range(3)]
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(TestServer(replica.app)) for replica in replicas]
        port = free_port()
        (folder / "more").mkdir()
        (folder / "more/cdn.conf").write_text(more)
        nginx = Nginx(folder, for_replicas(folder, port, [server.port or 0 for server in servers]))
        stack.callback(nginx.clear_away)
        edge = Edge(f"http://127.0.0.1:{port}", replicas, servers)

        async def answers() -> bool:
            assert nginx.is_running(), nginx.log
            try:
                # The request has its own address, so it doesn't count for any client's limit.
                return (await edge.get("/healthz", client="127.0.0.99")).status == 404
            except ClientConnectionError:
                return False

        assert await until(answers), nginx.log
        yield edge


@pytest.fixture
async def open_edge(tmp_path: Path) -> AsyncIterator[Open]:
    """Return a function that opens an edge."""
    if program() is None:
        pytest.skip("needs nginx: Debian's package nginx-light")
    async with AsyncExitStack() as stack:

        async def opener(*, more: str = "") -> Edge:
            return await stack.enter_async_context(opened(tmp_path, more=more))

        yield opener


@pytest.fixture
async def edge(open_edge: Open) -> Edge:
    return await open_edge()


async def test_a_lost_replica_costs_no_request(edge: Edge) -> None:
    await edge.servers[0].close()
    for n in range(9):
        assert (await edge.get(f"/api/series?n={n}")).status == 200
    assert not edge.replicas[0].asked
    assert all(replica.asked for replica in edge.replicas[1:])


async def test_a_frozen_replica_costs_a_wait_and_no_request(edge: Edge) -> None:
    edge.replicas[2].slow_s = 60
    replies = await asyncio.gather(*(edge.get(f"/api/series?n={n}") for n in range(9)))
    assert {reply.status for reply in replies} == {200}
    # The replica was asked once, and not again.
    asked = len(edge.replicas[2].asked)
    assert asked > 0
    assert {(await edge.get(f"/api/series?n={n}")).status for n in range(10, 16)} == {200}
    assert len(edge.replicas[2].asked) == asked


async def test_where_one_replica_has_no_data_yet_another_is_asked(edge: Edge) -> None:
    edge.replicas[1].status = 503
    assert {(await edge.get(f"/api/series?n={n}")).status for n in range(9)} == {200}


async def test_an_error_of_the_client_is_not_tried_elsewhere(edge: Edge) -> None:
    for replica in edge.replicas:
        replica.status = 400
    assert (await edge.get()).status == 400
    assert len(edge.asked) == 1


async def test_however_many_ask_at_once_one_request_reaches_a_replica(edge: Edge) -> None:
    for replica in edge.replicas:
        replica.slow_s = 0.2
    replies = await asyncio.gather(*(edge.get(client=f"127.0.1.{n}") for n in range(1, 100)))
    assert {reply.status for reply in replies} == {200}
    assert len(edge.asked) == 1


async def test_a_client_is_limited_whether_its_answers_are_cached_or_not(edge: Edge) -> None:
    for path in (FORECAST, "/api/series?n={}"):
        client = "127.0.0.2" if path == FORECAST else "127.0.0.3"
        replies = await asyncio.gather(*(edge.get(path.format(n), client=client) for n in range(60)))
        statuses = [reply.status for reply in replies]
        assert set(statuses) == {200, 429}
        # Twenty requests pass at once, and then ten each second.
        assert statuses.count(200) >= 20
        assert (await edge.get(client="127.0.0.4")).status == 200, "others are not"


async def test_a_refused_client_is_told_in_the_form_of_the_api(edge: Edge) -> None:
    replies = await asyncio.gather(*(edge.get() for _ in range(60)))
    refused = next(reply for reply in replies if reply.status == 429)
    assert refused.json()["status"] == 429
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.headers["Access-Control-Allow-Origin"] == "*"
    assert refused.headers["Cache-Control"] == "no-store"
    assert int(refused.headers["Retry-After"]) > 0


async def test_the_files_of_a_page_do_not_count(edge: Edge) -> None:
    replies = await asyncio.gather(*(edge.get(f"/static/abc/{n}.js") for n in range(60)))
    assert {reply.status for reply in replies} == {200}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/lv/healthz", "/lv/readyz"])
async def test_what_is_for_the_operator_is_not_there_for_the_public(edge: Edge, path: str) -> None:
    reply = await edge.get(path)
    assert (reply.status, reply.json()["status"]) == (404, 404)
    assert not edge.asked


async def test_a_replica_is_told_the_client_and_the_id_of_its_request(edge: Edge) -> None:
    await edge.get(client="127.0.0.7", X_Request_Id="a-request-of-mine", X_Forwarded_For="192.0.2.1")
    [asked] = edge.asked
    assert asked.headers["X-Forwarded-For"] == "127.0.0.7", "a client can't say that it is another one"
    assert asked.headers["X-Request-Id"] == "a-request-of-mine"


async def test_a_cdn_is_never_given_an_answer_that_has_waited_here(open_edge: Open) -> None:
    edge = await open_edge(more=BEHIND_A_CDN)
    await edge.get()
    for n in (1, 2):
        reply = await edge.get(client="127.0.0.9", X_Forwarded_For=f"192.0.2.{n}")
        assert reply.headers["X-Cache-Status"] == "BYPASS"
    assert [asked.headers["X-Forwarded-For"] for asked in edge.asked] == ["127.0.0.1", "192.0.2.1", "192.0.2.2"]


async def test_behind_a_cdn_each_client_has_a_limit_of_its_own(open_edge: Open) -> None:
    edge = await open_edge(more=BEHIND_A_CDN)

    async def ask(forwarded_for: str) -> int:
        return (await edge.get(client="127.0.0.9", X_Forwarded_For=forwarded_for)).status

    assert 429 in await asyncio.gather(*(ask("192.0.2.1") for _ in range(60)))
    assert await ask("192.0.2.2") == 200
    # One provider's customer has a /64, however many of its addresses are used.
    home = ipaddress.ip_network("2001:db8:1:2::/64")
    assert 429 in await asyncio.gather(*(ask(str(home[n])) for n in range(1, 61)))
    assert await ask("2001:db8:1:3::1") == 200

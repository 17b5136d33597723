"""Several servers on one PostgreSQL: one runs the pipeline, also after failures, and all give the same answers."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from aiohttp import ClientSession

from tests.support.machine.processes import Launch, Server, at_any_moment, until
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.store.database_link import database_link
from tests.support.store.postgresql import PostgresqlServer
from tests.support.upstreams import FakeElering
from tunnihind.core.market import delivery_day

TAKEN_OVER = "running the pipeline from now on"


@pytest.fixture
async def elering() -> AsyncIterator[FakeElering]:
    today = delivery_day(time.time())
    async with FakeElering(made_up_quotes(today - timedelta(days=20), today + timedelta(days=1))) as upstream:
        yield upstream


# Where a test names a database before `launch`, its servers end before the database goes.


def arguments(elering: FakeElering, url: str) -> tuple[str, ...]:
    return "--elering-url", elering.url, "--history-start", "2100", "--database-url", url


async def test_another_takes_over_from_a_frozen_holder_which_stands_by_when_it_is_back(
    postgresql_url: str, launch: Launch, elering: FakeElering
) -> None:
    public = "--public-url", "https://prices.example"
    first = launch(*arguments(elering, postgresql_url), *public)
    replica = launch("--no-pipeline", "--database-url", postgresql_url, *public)
    await first.until_ready()
    second = launch(*arguments(elering, postgresql_url), *public)
    await second.until_logged(f"process {first.pid} on ")
    await replica.until_ready()
    before = (await first.get("/api/v1/forecast")).json()["lastRefresh"]
    await first.freeze()
    try:
        await second.until_logged(TAKEN_OVER)
        # The new holder has asked, and a replica has been told of it.
        await replica.until("/api/v1/forecast", lambda reply: reply.json()["lastRefresh"] > before)
    finally:
        first.thaw()
    await first.until_logged(f"process {second.pid} on ")
    assert "has taken over the pipeline; this server still serves, and stands by" in first.log
    await until_all_say_the_same(first, second, replica, refreshed_after=before)
    # The new holder is killed: the old one takes over again.
    await second.kill()
    await first.until_logged(TAKEN_OVER)


async def until_all_say_the_same(*servers: Server, refreshed_after: int) -> None:
    """Wait until all servers have data from after an instant, and give the same answers."""

    async def look() -> bool:
        answers = [at_any_moment((await server.get("/api/v1/forecast")).json()) for server in servers]
        return answers[0]["lastRefresh"] > refreshed_after and answers.count(answers[0]) == len(answers)

    assert await until(look), [server.log for server in servers]


async def test_another_takes_over_from_a_holder_that_is_cut_off_from_the_database(
    postgresql: PostgresqlServer, postgresql_url: str, launch: Launch, elering: FakeElering
) -> None:
    async with database_link(postgresql.socket) as link:
        first = launch(*arguments(elering, postgresql_url.replace(str(postgresql.folder), str(link.folder))))
        await first.until_ready()
        second = launch(*arguments(elering, postgresql_url))
        await second.until_logged(f"process {first.pid} on ")
        link.cut()
        await second.until_logged(TAKEN_OVER)
        # A claim may still wait for its answer, or have been given up.
        silent, lost = "the database does not answer", "the database server can't be reached"
        reasons = await first.until("/readyz", lambda reply: reply.status == 503)
        assert {silent, lost} & {*reasons.json()["reasons"]}
        assert (await first.get("/api/v1/forecast")).json()["forecast"], "it answers from memory"
        link.heal()
        await first.until_logged("has taken over the pipeline")
        await first.until("/readyz", lambda reply: reply.status == 200)
        assert await first.terminate() == 0


async def test_a_server_behind_a_balancer_ends_without_a_failed_request(launch: Launch) -> None:
    server = launch("--no-pipeline", "--drain-seconds", "30")
    await server.until("/api/v1/forecast", lambda reply: reply.status == 200)
    async with ClientSession(server.url) as session:
        turned_away = asyncio.Event()
        clients = [asyncio.create_task(keep_asking(session, turned_away)) for _ in range(4)]
        await asyncio.sleep(0)
        server.ask_to_end()
        # The work of a balancer: it checks whether the server is ready, and stops asking it if not.
        await server.until("/readyz", lambda reply: "the server is stopping" in reply.json()["reasons"])
        asked_while_stopping = await last_answer(session)
        turned_away.set()
        answered = sum(await asyncio.gather(*clients))
    assert answered >= 4
    assert asked_while_stopping == "close"
    assert server.is_running(), "it would answer on"
    assert await server.terminate() == 0, "until it is asked once more"


async def keep_asking(session: ClientSession, turned_away: asyncio.Event) -> int:
    """Send requests until another server is there, and return their number. Each has to be answered."""
    asked = 0
    while not turned_away.is_set() or not asked:
        async with session.get("/api/v1/forecast") as response:
            assert response.status == 200
            await response.read()
        asked += 1
    return asked


async def last_answer(session: ClientSession) -> str | None:
    async with session.get("/api/about") as response:
        await response.read()
        return response.headers.get("Connection")

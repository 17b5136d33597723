"""What everybody may know of the data sources, from what the sources really answer."""

import pytest
from aiohttp import ClientSession, web

from tests.support.upstreams.server import FakeUpstream
from tunnihind.api.source_states import Fault, SourceState, source_states
from tunnihind.errors import BadAnswer, SourceError
from tunnihind.market import DAY_S, HOUR_S
from tunnihind.sources.upstream import Answer, RequestPolicy, Upstream
from tunnihind.store.health import SourceHealth

ASKED = 1_765_792_800


class Garbage(FakeUpstream):
    def answer(self, *_: object) -> web.Response:
        return web.Response(text="prices of 10.9.8.7")


def refuse(answer: Answer) -> None:
    raise BadAnswer("elering", f"it is no JSON: {answer.body.decode()}")


async def state_after(session: ClientSession, url: str, source: str = "elering") -> SourceState:
    """Ask a source as the pipeline does, and read the state that it leaves."""
    upstream = Upstream(session, source, policy=RequestPolicy(timeout_s=0.2, attempts=1))
    with pytest.raises(SourceError) as failed:
        await upstream.get(url, {}, refuse)
    health = SourceHealth(source, ASKED, ASKED - HOUR_S, 3, str(failed.value))
    return SourceState.of(health)


@pytest.mark.parametrize(
    ("status", "source", "fault"),
    [
        (401, "entsoe", "token"),
        (403, "entsoe-forecasts", "token"),
        (403, "elering", "refused"),
        (429, "open-meteo", "busy"),
        (503, "elering", "error"),
        (404, "elering", "error"),
    ],
)
async def test_a_refusal_is_told_by_its_status(session: ClientSession, status: int, source: str, fault: Fault) -> None:
    async with Garbage() as server:
        server.fail(status=status)
        assert await state_after(session, server.url, source) == SourceState(source, ASKED - HOUR_S, fault, status)


async def test_a_source_that_cannot_be_reached_is_told_from_one_that_makes_no_sense(session: ClientSession) -> None:
    async with Garbage() as server:
        assert (await state_after(session, server.url)).fault == "answer"
        server.hang()
        assert (await state_after(session, server.url)).fault == "unreachable"
        closed = server.url
    assert (await state_after(session, closed)).fault == "unreachable"


def test_nothing_that_a_source_or_a_network_wrote_is_told_on() -> None:
    error = "elering: the connection failed: Cannot connect to host proxy.house.example:3128 user:password"
    [state] = source_states([SourceHealth("elering", ASKED, None, 1, error)])
    assert state == SourceState("elering", None, "unreachable", None)


def test_a_source_that_answers_has_no_fault() -> None:
    [state] = source_states([SourceHealth("elering", ASKED, ASKED, 0, "")])
    assert state == SourceState("elering", ASKED, None, None)


def test_a_source_that_is_no_longer_asked_is_left_out() -> None:
    gone = SourceHealth("entsoe", ASKED - DAY_S, None, 7, "entsoe: HTTP 401")
    seldom = SourceHealth("open-meteo", ASKED - DAY_S + 1, ASKED - DAY_S + 1, 0, "")
    states = source_states([gone, seldom, SourceHealth("elering", ASKED, ASKED, 0, "")])
    assert [state.name for state in states] == ["open-meteo", "elering"]

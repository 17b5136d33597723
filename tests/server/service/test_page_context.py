"""The public data about the sources, after real answers of the sources."""

import pytest
from aiohttp import ClientSession, web

from tests.support.upstreams.server import FakeUpstream
from tunnihind.core.market import HOUR_S
from tunnihind.errors import BadAnswer, SourceError, SourceUnreachable
from tunnihind.service.page_context import read_source_states, source_state
from tunnihind.sources.upstream import Answer, RequestPolicy, Upstream
from tunnihind.store.health import SourceHealth
from tunnihind.store.store import Store
from tunnihind.web.notices import ShownFault, SourceState

ASKED = 1_765_792_800


class Garbage(FakeUpstream):
    def answer(self, *_: object) -> web.Response:
        return web.Response(text="prices of 10.9.8.7")


def refuse(answer: Answer) -> None:
    raise BadAnswer("elering", f"it is no JSON: {answer.body.decode()}")


async def failure(session: ClientSession, url: str, secret: str = "") -> SourceError:
    """Send a source the pipeline's request, and return the error."""
    upstream = Upstream(session, "elering", policy=RequestPolicy(timeout_s=0.2, attempts=1), secret=secret)
    with pytest.raises(SourceError) as failed:
        await upstream.get(url, {}, refuse)
    return failed.value


def state_after(store: Store, error: SourceError) -> SourceState:
    """Store a failure an hour after a good answer, and return the source's state."""
    store.health.record_success("elering", ASKED - HOUR_S)
    store.health.record_failure("elering", ASKED, error)
    [state] = read_source_states(store)
    return state


@pytest.mark.parametrize(
    ("status", "secret", "fault"),
    [
        (401, "our-token", "token"),
        (403, "our-token", "token"),
        (403, "", "refused"),
        (429, "", "busy"),
        (429, "our-token", "busy"),
        (503, "", "error"),
        (404, "our-token", "error"),
        (999, "", "error"),
    ],
)
async def test_a_refusal_is_reported_with_its_status(
    session: ClientSession, store: Store, status: int, secret: str, fault: ShownFault
) -> None:
    async with Garbage() as server:
        server.fail(status=status)
        error = await failure(session, server.url, secret)
    assert state_after(store, error) == SourceState("elering", ASKED - HOUR_S, fault, status)


async def test_a_source_that_cannot_be_reached_is_told_from_one_that_makes_no_sense(
    session: ClientSession, store: Store
) -> None:
    async with Garbage() as server:
        assert state_after(store, await failure(session, server.url)).fault == "answer"
        server.hang()
        assert state_after(store, await failure(session, server.url)).fault == "unreachable"
        closed = server.url
    assert state_after(store, await failure(session, closed)).fault == "unreachable"


def test_nothing_that_a_source_or_a_network_wrote_is_told_on(store: Store) -> None:
    problem = "the connection failed: Cannot connect to host proxy.house.example:3128 user:password"
    state = state_after(store, SourceUnreachable("elering", problem))
    assert state == SourceState("elering", ASKED - HOUR_S, "unreachable", None)


def test_a_source_that_answers_again_has_no_fault(store: Store) -> None:
    store.health.record_failure("elering", ASKED - 60, SourceUnreachable("elering", "no answer within 60 s"))
    store.health.record_success("elering", ASKED)
    assert read_source_states(store) == (SourceState("elering", ASKED, None, None),)


@pytest.mark.parametrize("fault", [None, "a kind of next year"])
def test_a_failure_of_another_version_is_told_without_its_kind(fault: str | None) -> None:
    state = source_state(SourceHealth("elering", ASKED, None, 1, "elering: HTTP 503", fault))
    assert state == SourceState("elering", None, "unknown", None)

import asyncio
import gzip
import logging
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession, web
from yarl import URL

from tests.support.clocks import StillClock
from tests.support.upstreams.server import FakeUpstream
from tunnihind import __version__
from tunnihind.errors import BadAnswer, RateLimited, SourceRefused, SourceUnreachable
from tunnihind.sources.upstream import Answer, RequestPolicy, Upstream, user_agent

NOW = 1_765_792_800  # Mon, 15 Dec 2025 10:00:00 GMT
SECRET = "0d4c2f4e-secret"  # noqa: S105


class Echo(FakeUpstream):
    def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
        return web.Response(text=f"{path} {query.get('q')}")


@pytest.fixture
async def server() -> AsyncIterator[Echo]:
    async with Echo() as echo:
        yield echo


@pytest.fixture
def upstream(session: ClientSession) -> Upstream:
    return Upstream(session, "source", policy=RequestPolicy(timeout_s=5.0), secret=SECRET, clock=StillClock(NOW))


def whole(answer: Answer) -> Answer:
    """Return an answer unchanged."""
    return answer


@asynccontextmanager
async def raw_server(answer: bytes) -> AsyncIterator[str]:
    """Serve bytes, which may be invalid HTTP, and close the connection."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_returns_status_and_body(server: Echo, upstream: Upstream) -> None:
    assert await upstream.get(f"{server.url}/path", {"q": "a b&c"}, whole) == (200, b"/path a b&c")


async def test_says_who_asks_and_whom_to_contact(server: Echo, upstream: Upstream) -> None:
    await upstream.get(server.url, {}, whole)
    assert server.headers[0]["User-Agent"] == f"Tunnihind/{__version__} (+operator@example.org)"
    assert user_agent("") == f"Tunnihind/{__version__}"


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
async def test_tries_again_when_the_source_is_overloaded(server: Echo, upstream: Upstream, status: int) -> None:
    server.fail(times=3, status=status)
    assert (await upstream.get(server.url, {}, whole)).status == 200
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_never_repeats_what_was_refused(server: Echo, upstream: Upstream, status: int) -> None:
    server.fail(times=2, status=status)
    with pytest.raises(SourceRefused, match=f"^source: HTTP {status}: error$") as caught:
        await upstream.get(server.url, {}, whole)
    assert caught.value.status == status
    assert not isinstance(caught.value, RateLimited)
    assert len(server.requests) == 1


async def test_a_retry_is_logged_in_plain_words(
    server: Echo, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.fail(status=502)
    await upstream.get(server.url, {}, whole)
    assert "source: HTTP 502: error; trying again in 0.0 s" in caplog.messages


async def test_gives_up_after_four_attempts(server: Echo, upstream: Upstream) -> None:
    server.fail(times=10)
    with pytest.raises(SourceRefused) as caught:
        await upstream.get(server.url, {}, whole)
    assert caught.value.status == 503
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [429, 503])
async def test_waits_out_a_short_retry_after(server: Echo, upstream: Upstream, status: int) -> None:
    server.fail(status=status, headers={"Retry-After": "3"})
    assert (await upstream.get(server.url, {}, whole)).status == 200
    pause = upstream._pause_before_retry(RateLimited("source", "slow down", status=status, retry_after_s=3.0))
    assert pause == 3.0


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("header", ["600", "Mon, 15 Dec 2025 10:10:00 GMT"])
async def test_a_long_retry_after_is_left_to_the_caller(
    server: Echo, upstream: Upstream, status: int, header: str
) -> None:
    server.fail(status=status, headers={"Retry-After": header})
    with pytest.raises(RateLimited) as caught:
        await upstream.get(server.url, {}, whole)
    assert (caught.value.status, caught.value.retry_after_s) == (status, 600.0)
    assert len(server.requests) == 1


async def test_429_without_a_time_is_left_alone_for_the_default(server: Echo, upstream: Upstream) -> None:
    server.fail(status=429)
    with pytest.raises(RateLimited) as caught:
        await upstream.get(server.url, {}, whole)
    assert caught.value.retry_after_s == 60.0


@pytest.mark.parametrize("header", ["soon", "-5", "", "1e9", "٥", "1_0", "Mon, 99 Foo 2025 10:10:00 GMT"])
async def test_a_senseless_retry_after_counts_as_none(server: Echo, upstream: Upstream, header: str) -> None:
    server.fail(status=503, headers={"Retry-After": header})
    assert (await upstream.get(server.url, {}, whole)).status == 200


async def test_a_retry_after_in_the_past_means_now(server: Echo, upstream: Upstream) -> None:
    server.fail(status=429, headers={"Retry-After": "Mon, 15 Dec 2025 09:00:00 GMT"})
    assert (await upstream.get(server.url, {}, whole)).status == 200


async def test_an_accepted_error_status_comes_back_as_an_answer(server: Echo, upstream: Upstream) -> None:
    server.say(b"<Acknowledgement/>", status=400)
    assert await upstream.get(server.url, {}, whole, accepted_statuses=(200, 400)) == (400, b"<Acknowledgement/>")


async def test_a_source_that_hangs_is_unreachable(server: Echo, session: ClientSession) -> None:
    server.hang()
    hasty = Upstream(session, "source", policy=RequestPolicy(timeout_s=0.05, attempts=1))
    with pytest.raises(SourceUnreachable, match=r"^source: no answer within 0\.05 s$"):
        await hasty.get(server.url, {}, whole)


async def test_a_refused_connection_is_unreachable(upstream: Upstream) -> None:
    with pytest.raises(SourceUnreachable, match=r"^source: the connection failed: "):
        await upstream.get("http://127.0.0.1:1", {}, whole)


async def test_an_answer_cut_in_the_middle_is_unreachable(upstream: Upstream) -> None:
    async with raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf") as url:
        with pytest.raises(SourceUnreachable):
            await upstream.get(url, {}, whole)


async def test_what_is_not_http_is_a_bad_answer(upstream: Upstream) -> None:
    async with raw_server(b"SSH-2.0-OpenSSH_9.9\r\n\r\n") as url:
        with pytest.raises(BadAnswer, match="HTTP"):
            await upstream.get(url, {}, whole)


async def test_a_broken_compression_is_unreachable(server: Echo, upstream: Upstream) -> None:
    server.say(b"not gzip", times=4, headers={"Content-Encoding": "gzip"})
    with pytest.raises(SourceUnreachable):
        await upstream.get(server.url, {}, whole)


async def test_an_endless_redirect_is_a_bad_answer(server: Echo, upstream: Upstream) -> None:
    server.fail(times=20, status=302, headers={"Location": "/again"})
    with pytest.raises(BadAnswer, match=r"^source: it redirects more than 3 times$"):
        await upstream.get(server.url, {"securityToken": SECRET}, whole)


async def test_a_redirect_within_the_host_is_followed(server: Echo, upstream: Upstream) -> None:
    server.fail(times=3, status=308, headers={"Location": "/moved?q=there"})
    assert (await upstream.get(server.url, {"q": "here"}, whole)).body == b"/moved there"


@pytest.mark.parametrize(
    "target", ["http://localhost:{port}/x", "//other.example/x", "https://other.example/x", "ftp://127.0.0.1/x"]
)
async def test_a_redirect_to_another_host_or_protocol_is_told_and_not_followed(
    server: Echo, upstream: Upstream, target: str
) -> None:
    target = target.format(port=server.url.rpartition(":")[2])
    server.fail(times=2, status=302, headers={"Location": f"{target}?securityToken={SECRET}"})
    with pytest.raises(BadAnswer, match=r"^source: it redirects to \w+://[\w.]+/x; redirects to another host"):
        await upstream.get(server.url, {}, whole)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("configured", "target", "is_followed"),
    [
        ("https://host.example/api", "https://host.example/new", True),
        ("https://host.example/api", "/new", True),
        ("https://host.example/api", "http://host.example/new", False),
        ("http://host.example/api", "http://host.example/new", True),
        ("http://host.example/api", "https://host.example/new", True),
        ("http://host.example/api", "https://host.example.org/new", False),
        ("https://host.example/api", "https://[/new", False),
    ],
)
def test_a_redirect_never_leaves_the_host_nor_encryption(
    upstream: Upstream, configured: str, target: str, is_followed: bool
) -> None:
    if is_followed:
        assert upstream.redirect_target(URL(configured), URL(configured), target).path == "/new"
    else:
        with pytest.raises(BadAnswer, match="redirects to"):
            upstream.redirect_target(URL(configured), URL(configured), target)


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_an_answer_over_the_size_limit_is_refused(server: Echo, session: ClientSession, encoding: str) -> None:
    body = b"0" * 1_000_001
    server.say(gzip.compress(body) if encoding == "gzip" else body, headers={"Content-Encoding": encoding})
    strict = Upstream(session, "source", policy=RequestPolicy(max_bytes=1_000_000))
    with pytest.raises(BadAnswer, match="larger than 1000000 bytes"):
        await strict.get(server.url, {}, whole)


@pytest.mark.parametrize("status", [302, 401, 503])
async def test_the_secret_is_in_no_text_and_no_log(
    server: Echo, upstream: Upstream, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.say(
        f"invalid securityToken={SECRET}".encode(),
        times=20,
        status=status,
        headers={"Location": f"/?securityToken={SECRET}"},
    )
    with pytest.raises((SourceRefused, BadAnswer)) as caught:
        await upstream.get(server.url, {"securityToken": SECRET}, whole)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert not [record for record in caplog.records if SECRET in repr(vars(record))]
    assert server.requests[0]["securityToken"] == SECRET


async def test_an_error_holds_neither_the_answer_nor_the_secret(server: Echo, upstream: Upstream) -> None:
    def refuse(answer: Answer) -> None:
        raise BadAnswer("source", f"can't be read: {answer.body.decode()}") from ValueError(answer.body)

    server.say(f"token\n{SECRET}".encode())
    with pytest.raises(BadAnswer, match=r"^source: can't be read: token \*\*\*$") as caught:
        await upstream.get(server.url, {}, refuse)
    assert caught.value.__cause__ is caught.value.__context__ is None
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    assert frames[-1] == "get"

import json

import pytest
from aiohttp.test_utils import make_mocked_request

from tests.support.api.api_server import NOW, Serve
from tests.support.clocks import StillClock
from tunnihind.api.rate_limit import TokenBuckets, client_key
from tunnihind.settings import Settings


def test_a_client_may_burst_two_seconds_worth_and_then_waits_for_a_token() -> None:
    clock = StillClock(NOW)
    buckets = TokenBuckets(5.0, clock)
    assert [buckets.take_token_or_wait_s("a") for _ in range(10)] == [0.0] * 10
    assert buckets.take_token_or_wait_s("a") == pytest.approx(0.2)
    clock.instant += 0.2001
    assert buckets.take_token_or_wait_s("a") == 0.0
    assert buckets.take_token_or_wait_s("a") > 0


def test_clients_do_not_share_a_bucket() -> None:
    buckets = TokenBuckets(1.0, StillClock(NOW))
    assert [buckets.take_token_or_wait_s("a") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert buckets.take_token_or_wait_s("b") == 0.0


def test_waiting_does_not_lengthen_the_wait() -> None:
    clock = StillClock(NOW)
    buckets = TokenBuckets(1.0, clock)
    for _ in range(50):
        buckets.take_token_or_wait_s("a")
    clock.instant += 1.001
    assert buckets.take_token_or_wait_s("a") == 0.0


def test_a_rate_below_one_still_lets_the_first_request_through() -> None:
    buckets = TokenBuckets(0.1, StillClock(NOW))
    assert buckets.take_token_or_wait_s("a") == 0.0
    assert buckets.take_token_or_wait_s("a") == pytest.approx(10)


def test_a_clock_that_jumps_back_neither_fills_nor_drains_a_bucket() -> None:
    clock = StillClock(NOW)
    buckets = TokenBuckets(1.0, clock)
    buckets.take_token_or_wait_s("a")
    clock.instant -= 86_400
    assert [buckets.take_token_or_wait_s("a"), buckets.take_token_or_wait_s("a")] == [0.0, 1.0]


def test_memory_is_bounded_and_the_longest_unseen_client_is_forgotten() -> None:
    buckets = TokenBuckets(1.0, StillClock(NOW), max_clients=2)
    for client in ("a", "a", "b", "b", "a", "c"):
        buckets.take_token_or_wait_s(client)
    assert list(buckets._buckets) == ["a", "c"]


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        (["203.0.113.7"], "203.0.113.7"),
        (["1.1.1.1, 203.0.113.7"], "203.0.113.7"),
        (["1.1.1.1", "203.0.113.7"], "203.0.113.7"),
        (["2001:db8::1"], "2001:db8::/64"),
        (["nonsense"], "peer"),
        ([], "peer"),
    ],
)
def test_behind_a_trusted_proxy_the_client_is_what_it_wrote_last(forwarded: list[str], client: str) -> None:
    headers = [("X-Forwarded-For", value) for value in forwarded]
    request = make_mocked_request("GET", "/", headers=headers).clone(remote="peer")
    assert client_key(request, trust_proxy=True) == client
    assert client_key(request, trust_proxy=False) == "peer"


@pytest.mark.parametrize(
    ("peers", "client"),
    [
        (["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"], "2001:db8:1:2::/64"),
        (["2001:db8:1:3::1"], "2001:db8:1:3::/64"),
        (["192.0.2.1", "::ffff:192.0.2.1"], "192.0.2.1"),
        (["192.0.2.2"], "192.0.2.2"),
        (["fe80::1%eth0", "fe80::2%eth0"], "fe80::/64"),
    ],
)
@pytest.mark.parametrize("trust_proxy", [False, True])
def test_an_ipv6_client_is_its_whole_network(peers: list[str], client: str, trust_proxy: bool) -> None:
    for peer in peers:
        request = make_mocked_request("GET", "/").clone(remote=peer)
        assert client_key(request, trust_proxy=trust_proxy) == client
        forwarded = make_mocked_request("GET", "/", headers={"X-Forwarded-For": peer}).clone(remote="192.0.2.9")
        assert client_key(forwarded, trust_proxy=True) == client


async def test_too_many_requests_are_a_429_problem_that_says_when_to_come_back(serve: Serve) -> None:
    server = await serve(settings=Settings(rate_limit=1.0))
    statuses = [(await server.ask("/api/v1/forecast")).status for _ in range(3)]
    assert statuses == [200, 200, 429]
    answer = await server.ask("/api/v1/forecast")
    assert answer.headers["Retry-After"] == "1"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert json.loads(answer.body)["status"] == 429
    server.clock.instant += 1.5
    assert (await server.ask("/api/v1/forecast")).status == 200


@pytest.mark.parametrize("path", ["/readyz", "/lv/readyz"])
async def test_health_is_never_limited(path: str, serve: Serve) -> None:
    server = await serve(settings=Settings(rate_limit=1.0, zones=("ee", "lv")))
    assert {(await server.ask(path)).status for _ in range(5)} == {200}


async def test_an_unknown_path_below_the_files_is_limited(serve: Serve) -> None:
    server = await serve(settings=Settings(rate_limit=1.0))
    assert [(await server.ask("/static/no/such/file")).status for _ in range(3)] == [404, 404, 429]


async def test_there_is_no_limit_by_default(serve: Serve) -> None:
    server = await serve()
    assert {(await server.ask("/api/v1/forecast")).status for _ in range(40)} == {200}

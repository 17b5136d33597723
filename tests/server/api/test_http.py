"""HTTP on the wire, where a client library would hide details."""

import asyncio
import gzip
import json
from compression import zstd
from datetime import date

import pytest

from tests.support.api.api_server import HOUR, Answer, RunningServer, Serve, make_view
from tunnihind.api.feeds import FEED_FORMATS
from tunnihind.api.models.service import Mode
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import DAY_S, ESTONIA, FINLAND, HOUR_S, QUARTER_S
from tunnihind.settings import Settings

EVERY_ANSWER = {
    "Access-Control-Allow-Origin": "*",
    "Server": "Tunnihind",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Link": '</docs>; rel="service-doc", </api/openapi.json>; rel="service-desc"',
}

OF_ONE_REQUEST = {"Date", "X-Request-Id"}

FEEDS = [f"/api/feeds/{reader}" for reader in FEED_FORMATS]
DATA = ["/api/v1/forecast", "/api/v1/quarters", "/api/v1/scenarios", "/api/series", *FEEDS]
ACCURACY = ["/api/v1/accuracy", "/api/v1/accuracy?format=csv"]
RESOURCES = [*DATA, *ACCURACY, "/api/v1/history?month=2025-11", "/api/openapi.json", "/api/about", "/", "/docs"]


def check_manners(answer: Answer) -> None:
    assert EVERY_ANSWER.items() <= dict(answer.headers).items()
    assert "ETag" in answer.headers["Access-Control-Expose-Headers"]
    assert len(answer.headers) == len(set(map(str.lower, answer.headers)))


def check_problem(answer: Answer, status: int) -> None:
    check_manners(answer)
    assert answer.status == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Cache-Control"] == "no-store"
    problem = json.loads(answer.body)
    assert problem["status"] == status
    assert problem["type"].endswith(f"/docs#problem-{status}")
    assert problem["title"]
    assert problem["detail"]


@pytest.mark.parametrize("path", RESOURCES)
async def test_a_resource_is_served_with_its_length_and_validators(server: RunningServer, path: str) -> None:
    answer = await server.ask(path)
    check_manners(answer)
    assert answer.status == 200
    assert int(answer.headers["Content-Length"]) == len(answer.body) > 0
    assert answer.headers["Vary"].split(", ")[0] == "Accept-Encoding"
    assert answer.headers["ETag"].startswith('W/"')
    assert "Date" in answer.headers


@pytest.mark.parametrize("path", RESOURCES)
@pytest.mark.parametrize("close", [False, True])
async def test_codings_are_sent_as_they_are_labelled(server: RunningServer, path: str, close: bool) -> None:
    plain = await server.ask(path, close=close)
    zipped = await server.ask(path, "Accept-Encoding: gzip", close=close)
    modern = await server.ask(path, "Accept-Encoding: gzip, br, zstd", close=close)
    assert "Content-Encoding" not in plain.headers
    assert (zipped.headers["Content-Encoding"], modern.headers["Content-Encoding"]) == ("gzip", "zstd")
    assert gzip.decompress(zipped.body) == zstd.decompress(modern.body) == plain.body


async def test_accept_encoding_in_several_lines_counts_as_one_list(server: RunningServer) -> None:
    answer = await server.ask("/api/v1/forecast", "Accept-Encoding: br", "Accept-Encoding: gzip")
    assert answer.headers["Content-Encoding"] == "gzip"


@pytest.mark.parametrize("path", [*RESOURCES, "/healthz", "/readyz"])
async def test_head_gives_the_fields_of_get_and_no_body(server: RunningServer, path: str) -> None:
    got, head = await server.ask(path), await server.ask(path, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == str(len(got.body))
    assert {name: value for name, value in head.headers.items() if name not in OF_ONE_REQUEST} == {
        name: value for name, value in got.headers.items() if name not in {"Date", "X-Request-Id"}
    }


@pytest.mark.parametrize("path", RESOURCES)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_known_tag_gets_304_with_the_same_cache_fields(server: RunningServer, path: str, method: str) -> None:
    got = await server.ask(path)
    opaque = got.headers["ETag"].removeprefix("W/")
    for known in (f"W/{opaque}", opaque, f'"no", W/{opaque}', "*"):
        answer = await server.ask(path, f"If-None-Match: {known}", method=method)
        check_manners(answer)
        assert (answer.status, answer.body) == (304, b"")
        assert "Content-Type" not in answer.headers
        assert "Content-Length" not in answer.headers
        for name in ("ETag", "Cache-Control", "Vary"):
            assert answer.headers[name] == got.headers[name]


@pytest.mark.parametrize("minute", [0, 15, 30, 45])
async def test_a_tag_from_before_the_full_quarter_gets_the_new_answer(server: RunningServer, minute: int) -> None:
    edge = HOUR + HOUR_S + minute * 60
    server.clock.instant = edge - 0.001
    before = await server.ask("/api/v1/quarters")
    assert "max-age=1, stale-while-revalidate=0," in before.headers["Cache-Control"]
    assert json.loads(before.body)["dayAhead"][0]["ts"] == edge - QUARTER_S
    server.clock.instant = edge
    answer = await server.ask("/api/v1/quarters", f"If-None-Match: {before.headers['ETag']}")
    assert answer.status == 200
    assert json.loads(answer.body)["dayAhead"][0]["ts"] == edge


async def test_http_1_0_and_closing_connections_are_answered_alike(server: RunningServer) -> None:
    old = Answer.parse(await server.exchange(b"GET /api/v1/forecast HTTP/1.0\r\n\r\n"))
    closing = await server.ask("/api/v1/forecast", close=True)
    assert old.body == closing.body == (await server.ask("/api/v1/forecast")).body
    assert closing.headers["Connection"] == "close"


async def test_a_bare_question_mark_is_no_query_string(server: RunningServer) -> None:
    assert (await server.ask("/api/v1/forecast?")).status == 200


@pytest.mark.parametrize("query", ["a", "=", "&", "days=7", "%20", "?"])
async def test_any_query_string_on_forecast_and_paths_is_refused(server: RunningServer, query: str) -> None:
    for path in ("/api/v1/forecast", "/api/v1/scenarios"):
        check_problem(await server.ask(f"{path}?{query}"), 400)


@pytest.mark.parametrize(
    ("path", "query", "days"),
    [
        ("/api/series", "", 14),
        ("/api/series", "?", 14),
        ("/api/series", "?days=0", 2),
        ("/api/series", "?days=1", 2),
        ("/api/series", "?days=02", 2),
        ("/api/series", "?days=3", 3),
        ("/api/series", "?days=%37", 7),
        ("/api/series", "?d%61ys=7", 7),
        ("/api/series", "?days=14", 14),
        ("/api/series", "?days=15", 14),
        ("/api/series", "?days=99", 14),
        ("/api/series", "?Days=x&other=1&days=5", 5),
        ("/api/series", "?day=x", 14),
        ("/api/v1/quarters", "", 0),
        ("/api/v1/quarters", "?", 0),
        ("/api/v1/quarters", "?days=0", 0),
        ("/api/v1/quarters", "?days=1", 1),
        ("/api/v1/quarters", "?days=07", 7),
        ("/api/v1/quarters", "?days=14", 14),
        ("/api/v1/quarters", "?days=99&day=x", 14),
    ],
)
async def test_as_many_days_of_history_as_asked_for_are_served_up_to_14(
    serve: Serve, path: str, query: str, days: int
) -> None:
    server = await serve(make_view({HOUR + n * HOUR_S: 1.0 for n in range(-15 * 24, 2)}))
    answer = json.loads((await server.ask(f"{path}{query}")).body)
    assert answer.get("actuals", answer.get("dayAhead"))[0]["ts"] == HOUR - days * DAY_S


@pytest.mark.parametrize(
    "query",
    [
        "days=",
        "days",
        "days=100",
        "days=007",
        "days=abc",
        "days=-1",
        "days=+7",
        "days=%2B7",
        "days=7.0",
        "days=7%0A",
        "days=%207",
        "days=%D9%A7",
        "days=%FF",
        "days=7&days=7",
        "days=7&d%61ys=8",
    ],
)
@pytest.mark.parametrize(("path", "range_"), [("/api/series", "2 to 14"), ("/api/v1/quarters", "0 to 14")])
async def test_days_that_are_not_one_or_two_digits_are_refused(
    server: RunningServer, query: str, path: str, range_: str
) -> None:
    answer = await server.ask(f"{path}?{query}")
    check_problem(answer, 400)
    detail = json.loads(answer.body)["detail"]
    assert "`days`" in detail
    assert f"give one or two digits, {range_}." in detail or "more than once: give it once" in detail


@pytest.mark.parametrize("path", FEEDS)
@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("resolution=30m", "`resolution` is '30m': give 15m or 60m"),
        ("resolution=", "`resolution` is ''"),
        ("resolution", "`resolution` is ''"),
        ("resolution=15M", "`resolution` is '15M'"),
        ("resolution=15m%0A", "`resolution` is"),
        ("price=vat", "`price` is 'vat': give consumer or market"),
        ("price=market&price=market", "`price` is given more than once"),
        ("resolution=15m&r%65solution=60m", "`resolution` is given more than once"),
        ("days=2", "`days` is not a parameter of this resource, which takes `resolution` and `price`"),
        ("Price=market", "`Price` is not a parameter"),
        ("=", "`` is not a parameter"),
    ],
)
async def test_a_feed_refuses_what_it_does_not_know(server: RunningServer, path: str, query: str, named: str) -> None:
    answer = await server.ask(f"{path}?{query}")
    check_problem(answer, 400)
    assert named in json.loads(answer.body)["detail"]


@pytest.mark.parametrize("path", FEEDS)
async def test_a_feed_is_by_quarters_and_with_vat_unless_asked_otherwise(server: RunningServer, path: str) -> None:
    by_query = {
        query: (await server.ask(f"{path}?{query}")).body
        for query in ("", "resolution=15m", "price=consumer&resolution=15m", "price=market", "resolution=60m")
    }
    assert by_query[""] == by_query["resolution=15m"] == by_query["price=consumer&resolution=15m"]
    assert len(set(by_query.values())) == 3


@pytest.mark.parametrize("path", FEEDS)
@pytest.mark.parametrize(("resolution", "step_s"), [("15m", 900), ("60m", 3600)])
async def test_caching_of_a_feed_ends_at_its_full_period(
    server: RunningServer, path: str, resolution: str, step_s: int
) -> None:
    server.clock.instant = HOUR + step_s - 100
    early = await server.ask(f"{path}?resolution={resolution}")
    assert early.headers["Cache-Control"].startswith("public, max-age=60, stale-while-revalidate=40,")
    server.clock.instant = HOUR + step_s - 0.001
    last = await server.ask(f"{path}?resolution={resolution}", f"If-None-Match: {early.headers['ETag']}")
    assert (last.status, last.headers["Cache-Control"][:16]) == (304, "public, max-age=")
    assert "max-age=1, stale-while-revalidate=0" in last.headers["Cache-Control"]
    server.clock.instant = HOUR + step_s
    following = await server.ask(f"{path}?resolution={resolution}", f"If-None-Match: {early.headers['ETag']}")
    assert following.status == 200


@pytest.mark.parametrize("path", FEEDS)
async def test_a_feed_without_a_price_is_a_503_problem_so_that_readers_keep_theirs(serve: Serve, path: str) -> None:
    server = await serve(ServedData("empty", ESTONIA))
    answer = await server.ask(path)
    check_problem(answer, 503)
    assert json.loads(answer.body)["detail"].startswith("No current or future price is known")
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize("path", ["/nope", "/api/v1/forecast/", "/api/v2/forecast", "/api"])
async def test_an_unknown_path_is_a_404_problem(server: RunningServer, path: str) -> None:
    check_problem(await server.ask(path), 404)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE"])
async def test_a_method_that_writes_is_a_405_problem_with_allow(server: RunningServer, method: str) -> None:
    answer = await server.ask("/api/v1/forecast", method=method)
    check_problem(answer, 405)
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("path", [*RESOURCES, "/healthz", "/readyz", "/metrics"])
async def test_a_preflight_is_answered_for_every_path(server: RunningServer, path: str) -> None:
    answer = await server.ask(
        path,
        "Origin: https://example.com",
        "Access-Control-Request-Method: GET",
        "Access-Control-Request-Headers: if-none-match",
        method="OPTIONS",
    )
    check_manners(answer)
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["Access-Control-Allow-Methods"] == answer.headers["Allow"] == "GET, HEAD, OPTIONS"
    assert answer.headers["Access-Control-Allow-Headers"] == "*"
    assert answer.headers["Access-Control-Max-Age"] == "86400"


async def test_a_preflight_of_an_unknown_path_is_a_404_problem(server: RunningServer) -> None:
    check_problem(await server.ask("/nope", method="OPTIONS"), 404)


@pytest.mark.parametrize(
    "message",
    [
        b"garbage\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /api/v1/forecast HTTP/1.1\r\nHost test\r\n\r\n",
        b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\nHost: test\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: test\r\nX: " + b"a" * 10_000 + b"\r\n\r\n",
    ],
    ids=["words", "TLS", "no colon", "long address", "long field"],
)
async def test_what_is_not_http_gets_a_problem_and_a_closed_connection(
    server: RunningServer, message: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    check_problem(Answer.parse(await server.exchange(message)), 400)
    assert not [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]


async def test_an_expectation_nobody_can_meet_is_a_417_problem(server: RunningServer) -> None:
    check_problem(await server.ask("/api/v1/forecast", "Expect: miracles", close=True), 417)


async def test_a_mistake_of_ours_is_a_500_problem_without_its_traceback(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("tunnihind.api.snapshot.forecast_response", fail)
    answer = await server.ask("/api/v1/forecast")
    check_problem(answer, 500)
    assert b"secret" not in answer.body
    assert b"Traceback" not in answer.body
    assert "secret detail" in caplog.text


@pytest.mark.parametrize("path", [*DATA, "/"])
async def test_before_the_store_has_been_read_data_is_a_503_problem(serve: Serve, path: str) -> None:
    server = await serve(blank=True)
    answer = await server.ask(path)
    check_problem(answer, 503)
    assert int(answer.headers["Retry-After"]) > 0
    check_problem(await server.ask("/readyz"), 503)
    assert (await server.ask("/healthz")).status == 200


async def test_with_nothing_known_the_forecast_is_empty_and_valid(serve: Serve) -> None:
    server = await serve(ServedData("empty", ESTONIA))
    assert json.loads((await server.ask("/api/v1/forecast")).body) == {
        "zone": "EE",
        "currency": "EUR",
        "now": HOUR + 612,
        "madeAt": None,
        "lastRefresh": None,
        "freeUntil": HOUR + 48 * 3600,
        "gated": False,
        "backtest": None,
        "docs": "http://localhost:8080/docs",
        "dayAhead": [],
        "forecast": [],
    }


async def test_with_nothing_known_quarters_answer_as_the_forecast_does(serve: Serve) -> None:
    server = await serve(ServedData("empty", ESTONIA))
    assert (await server.ask("/api/v1/quarters")).body == (await server.ask("/api/v1/forecast")).body


async def test_about_says_who_serves(server: RunningServer) -> None:
    about = json.loads((await server.ask("/api/about")).body)
    assert about["instanceId"] == "test"
    assert about["vatRate"] == 0.22
    assert about["attribution"] == "Tunnihind (localhost)"
    assert about["publicUrl"] == "http://localhost:8080"
    assert about["mode"] == "live"
    assert about["fullHorizon"] is False
    assert about["priceScale"] == [*server.snapshot.data.price_scale]
    # The value changes with the prices.
    server.snapshot.replace_data(make_view({HOUR + i * HOUR_S: float(i) for i in range(6)}))
    assert json.loads((await server.ask("/api/about")).body)["priceScale"] == [1.0, 2.0, 3.0, 4.0]


async def test_about_has_the_new_vat_rate_from_the_day_on_which_the_law_changes(serve: Serve) -> None:
    changes = FINLAND.midnight(date(2024, 9, 1))
    server = await serve(settings=Settings(zones=("fi",)), now=changes - 1)
    assert json.loads((await server.ask("/api/about")).body)["vatRate"] == 0.24
    server.clock.instant = changes
    assert json.loads((await server.ask("/api/about")).body)["vatRate"] == 0.255


@pytest.mark.parametrize("mode", ["demo", "rehearsal"])
async def test_about_says_that_the_market_is_made_up_or_of_a_past_day(serve: Serve, mode: Mode) -> None:
    server = await serve(mode=mode)
    assert json.loads((await server.ask("/api/about")).body)["mode"] == mode


async def test_a_client_that_reads_nothing_does_not_fill_the_memory(server: RunningServer) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    request = b"GET /api/series HTTP/1.1\r\nHost: test\r\n\r\n"
    writer.write(request * 20_000)
    for _ in range(200):
        await asyncio.sleep(0)
    connection = server.runner.server.connections[-1] if server.runner.server else None
    assert connection is not None
    assert connection.transport is not None
    assert connection.transport.get_write_buffer_size() < 1_000_000
    writer.transport.abort()

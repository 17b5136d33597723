"""The two answers that are read from the store: a month of prices, and the table of scores."""

import asyncio
import json
import threading
from functools import partial
from typing import NoReturn

import pytest

from tests.support.api.api_server import Serve
from tunnihind.api.routes import MAX_STORE_READERS, MAX_STORE_REQUESTS
from tunnihind.errors import StoreError
from tunnihind.known import PriceHistory

MONTH, TABLE = "/api/v1/history?month=2025-11", "/api/v1/accuracy?format=csv"


@pytest.mark.parametrize(
    ("path", "reader", "nothing", "other"),
    [(MONTH, "read_prices", PriceHistory(0, {}), TABLE), (TABLE, "read_scores", (), MONTH)],
    ids=["month", "table"],
)
async def test_two_are_read_at_a_time_while_others_wait_and_the_loop_goes_on(
    serve: Serve, path: str, reader: str, nothing: object, other: str
) -> None:
    go_on, reading = threading.Event(), threading.Semaphore(0)

    def slow(_first: object, _last: object) -> object:
        reading.release()
        assert go_on.wait(30)
        return nothing

    server = await serve(**{reader: slow})
    asked = [asyncio.ensure_future(server.ask(path)) for _ in range(MAX_STORE_REQUESTS + 1)]
    try:
        for _ in range(MAX_STORE_READERS):
            assert await asyncio.to_thread(partial(reading.acquire, timeout=30))
        (refused,), waiting = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        answer = await refused
        assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
        assert not reading.acquire(blocking=False)
        # What needs no such reader is answered or refused at once.
        for path_meanwhile, status in {
            "/api/v1/forecast": 200,
            "/api/v1/accuracy": 200,
            other: 200,
            "/api/v1/history?month=2025-13": 400,
            "/api/v1/history?month=2026-01": 404,
        }.items():
            assert (await server.ask(path_meanwhile)).status == status
    finally:
        go_on.set()
    assert {answer.status for answer in await asyncio.gather(*waiting)} == {200}
    assert (await server.ask(path)).status == 200


@pytest.mark.parametrize(
    ("path", "reader", "contents"), [(MONTH, "read_prices", "prices"), (TABLE, "read_scores", "scores")]
)
async def test_what_cannot_be_read_is_a_503_that_says_why(serve: Serve, path: str, reader: str, contents: str) -> None:
    def lost(_first: object, _last: object) -> NoReturn:
        raise StoreError("/data/t.db: it is no database", reason="it is no database")

    answer = await (await serve(**{reader: lost})).ask(path)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
    assert json.loads(answer.body)["detail"] == f"No {contents} can be read: it is no database."

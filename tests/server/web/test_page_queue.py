"""Pages that are requested at the same time are made one after another, with other work between them."""

import asyncio
from functools import partial
from itertools import pairwise

import pytest

from tunnihind.web import pages
from tunnihind.web.pages import PageQueue


async def test_other_work_is_done_between_two_pages() -> None:
    queue, done = PageQueue(), list[str]()
    pages = [asyncio.create_task(queue.make(number, partial(done.append, "page"))) for number in range(5)]
    while not all(page.done() for page in pages):
        done.append("other")
        await asyncio.sleep(0)
    assert done.count("page") == len(pages)
    assert ("page", "page") not in pairwise(done)


async def test_pages_are_made_in_the_order_in_which_they_were_asked_for() -> None:
    queue, done = PageQueue(), list[int]()
    await asyncio.gather(*(queue.make(number, partial(done.append, number)) for number in range(9)))
    assert done == [*range(9)]


async def test_with_too_many_waiting_another_one_is_refused_until_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "MAX_QUEUED_PAGES", 3)
    queue = PageQueue()
    assert await asyncio.gather(*(queue.make(number, partial(str, number)) for number in range(5))) == [
        "0",
        "1",
        "2",
        None,
        None,
    ]
    assert await queue.make(9, lambda: "again") == "again"


async def test_however_many_wait_for_the_same_page_it_takes_the_room_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_QUEUED_PAGES", 2)
    queue = PageQueue()
    asked = ["same"] * 50 + ["other", "third"] + ["same"] * 50
    made = await asyncio.gather(*(queue.make(key, partial(str, key)) for key in asked))
    assert made == [*["same"] * 50, "other", None, *["same"] * 50]


async def test_clients_that_hang_up_while_they_wait_leave_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_QUEUED_PAGES", 3)
    queue = PageQueue()
    waiting = [asyncio.create_task(queue.make(number, lambda: "page")) for number in range(3)]
    await asyncio.sleep(0)
    assert await queue.make(4, lambda: "page") is None
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert await asyncio.gather(*(queue.make(number, lambda: "page") for number in range(3))) == ["page"] * 3


async def test_a_page_that_cannot_be_made_does_not_hold_up_the_next() -> None:
    queue = PageQueue()
    failed, made = await asyncio.gather(queue.make(1, lambda: 1 // 0), queue.make(2, lambda: 2), return_exceptions=True)
    assert isinstance(failed, ZeroDivisionError)
    assert made == 2

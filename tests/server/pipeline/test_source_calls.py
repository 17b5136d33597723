"""A source's health, the log's lines about it, and the pauses that it demands."""

import logging
from collections import deque

import pytest

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import RecordingObserver
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S
from tunnihind.errors import RateLimited, SourceUnreachable
from tunnihind.pipeline.source_calls import SourceCaller
from tunnihind.store.store import Store

NOW = 1_765_792_800
DOWN = SourceUnreachable("first", "no answer within 60 s")


class Source:
    """Gives the next answer of a script, and counts its requests."""

    def __init__(self, *script: str | Exception) -> None:
        self.script = deque(script)
        self.asked = 0

    async def answer(self) -> str:
        self.asked += 1
        said = self.script.popleft()
        if isinstance(said, Exception):
            raise said
        return said


def busy(retry_after_s: float) -> RateLimited:
    return RateLimited("first", "HTTP 429", status=429, retry_after_s=retry_after_s)


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock(NOW)


@pytest.fixture
def caller(store: Store, clock: JumpingClock) -> SourceCaller:
    return SourceCaller(store, ESTONIA, clock, RecordingObserver())


async def ask(caller: SourceCaller, source: Source, times: int = 1) -> str:
    said = ""
    for _ in range(times):
        try:
            said = await caller.send("first", source.answer, advice=", do this")
        except SourceUnreachable as error:
            said = str(error)
    return said


async def test_a_failure_is_logged_once_and_its_end_is_said(
    caller: SourceCaller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tunnihind")
    source = Source(DOWN, DOWN, DOWN, "fine", "fine", DOWN)
    assert await ask(caller, source, 6) == str(DOWN)
    told = "first: no answer within 60 s; the source will be asked again, do this"
    assert caplog.messages == [told, "first answers again", told]


async def test_a_failure_that_lasts_over_a_restart_is_in_the_new_log_too(
    store: Store, clock: JumpingClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tunnihind")
    for _ in range(2):
        await ask(SourceCaller(store, ESTONIA, clock, RecordingObserver()), Source(DOWN, DOWN), 2)
    await ask(SourceCaller(store, ESTONIA, clock, RecordingObserver()), Source("fine"))
    assert [line.partition(";")[0] for line in caplog.messages] == [str(DOWN), str(DOWN), "first answers again"]


async def test_health_counts_failures_in_a_row_and_remembers_the_last_good_answer(
    store: Store, caller: SourceCaller, clock: JumpingClock
) -> None:
    await ask(caller, Source("fine"))
    clock.instant += 60
    await ask(caller, Source(DOWN, DOWN), 2)
    health = store.health.by_source()["first"]
    assert (health.tried_ts, health.ok_ts, health.failures, health.error) == (NOW + 60, NOW, 2, str(DOWN))


async def test_a_source_that_asked_to_be_left_alone_is_left_alone_for_so_long(
    store: Store, caller: SourceCaller, clock: JumpingClock
) -> None:
    source = Source(busy(600), "fine")
    with pytest.raises(RateLimited):
        await caller.send("first", source.answer)
    clock.instant += 599
    with pytest.raises(RateLimited, match="429") as refusal:
        await caller.send("first", source.answer)
    assert refusal.value.retry_after_s == 1
    assert (source.asked, store.health.by_source()["first"].failures) == (1, 1)
    clock.instant += 1
    assert await caller.send("first", source.answer) == "fine"


@pytest.mark.parametrize(("now", "longest_s"), [("2025-12-15 16:00", 2 * HOUR_S), ("2025-12-15 14:00", 15 * 60)])
async def test_an_asked_pause_of_a_day_ends_in_two_hours_or_with_publication(
    caller: SourceCaller, clock: JumpingClock, now: str, longest_s: int
) -> None:
    clock.instant = local(now)
    source = Source(busy(DAY_S), "fine")
    with pytest.raises(RateLimited):
        await caller.send("first", source.answer)
    clock.instant += longest_s - 1
    with pytest.raises(RateLimited):
        await caller.send("first", source.answer)
    clock.instant += 1
    assert await caller.send("first", source.answer) == "fine"


async def test_one_sources_pause_is_no_others(caller: SourceCaller) -> None:
    with pytest.raises(RateLimited):
        await caller.send("first", Source(busy(600)).answer)
    assert await caller.send("second", Source("fine").answer) == "fine"


@pytest.mark.parametrize("jump_s", [60, DAY_S])
async def test_a_pause_from_before_the_clock_was_set_back_is_forgotten(
    caller: SourceCaller, clock: JumpingClock, jump_s: int
) -> None:
    source = Source(busy(600), "fine")
    with pytest.raises(RateLimited):
        await caller.send("first", source.answer)
    clock.instant -= jump_s
    assert await caller.send("first", source.answer) == "fine"

"""A clock that jumps while the server runs."""

from datetime import date

from tests.support.machine.processes import Launch, Reply, Server
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.upstreams import FakeElering
from tunnihind.core.market import DAY_S, HOUR_S, day_end, delivery_day, floor_hour


async def test_hours_and_forecasts_are_right_again_after_every_jump_of_the_clock(
    launch: Launch, clock: ShiftedClock
) -> None:
    clock.set("2025-12-15T09:20:00Z")
    async with FakeElering(made_up_quotes(date(2025, 12, 1), date(2025, 12, 18)), now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2026", clock=clock)
        await assert_right(server, clock)
        for seconds in (HOUR_S, DAY_S, -DAY_S, -HOUR_S):
            clock.jump(seconds)
            await assert_right(server, clock)


async def assert_right(server: Server, clock: ShiftedClock) -> None:
    """In the end the answers are for the clock's hour, with that day's prices and a forecast of the last hour."""

    def is_right(reply: Reply) -> bool:
        body, now = reply.json(), clock.now()
        hour = floor_hour(now)
        settled = {item["ts"] for item in body["dayAhead"]}
        return (
            abs(body["now"] - now) < 10
            and settled >= set(range(hour, day_end(delivery_day(now)), HOUR_S))
            and min(settled) == hour
            and body["madeAt"] is not None
            and hour <= body["madeAt"] <= now
            and body["lastRefresh"] <= now
            and body["forecast"][0]["ts"] == hour + HOUR_S
        )

    await server.until("/api/v1/forecast", is_right, say="what is right")
    await server.until_ready()

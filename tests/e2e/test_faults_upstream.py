"""Upstreams that are down: at the first start, and later."""

from datetime import date

from tests.support.machine.processes import Launch
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.upstreams import FakeElering
from tunnihind.core.market import HOUR_S, floor_hour

MORNING = "2025-12-15T07:30:00Z"
TRIES = 4
"""How often a question is asked before it counts as failed."""


async def test_without_upstreams_a_first_start_answers_with_nothing_and_says_what_to_do(launch: Launch) -> None:
    server = launch()
    forecast = (await server.until("/api/v1/forecast", lambda reply: reply.status == 200)).json()
    nothing = {"madeAt": None, "lastRefresh": None, "backtest": None, "gated": False}
    free_until = floor_hour(forecast["now"]) + 48 * HOUR_S
    assert forecast | nothing | {"dayAhead": [], "forecast": [], "freeUntil": free_until} == forecast
    series = (await server.get("/api/series")).json()
    summary = dict.fromkeys(("current", "cheapest", "priciest", "cheapestForecast", "priciestForecast"))
    assert series | nothing | summary | {"actuals": [], "forecast": []} == series
    ready = await server.get("/readyz")
    assert ready.status == 503
    assert "there is no forecast" in ready.json()["reasons"]
    await server.until_logged("elering: ")
    complaints = [line for line in server.log.splitlines() if "INFO" not in line]
    assert len(complaints) == 1, "one line is enough"
    assert "elering" in complaints[0]
    assert "--demo" in complaints[0]


async def test_an_upstream_that_comes_up_late_is_asked_again_and_served(launch: Launch, clock: ShiftedClock) -> None:
    clock.set(MORNING)
    async with FakeElering(made_up_quotes(date(2025, 12, 1), date(2025, 12, 16)), now=clock.now) as elering:
        elering.fail(times=TRIES)
        server = launch("--elering-url", elering.url, "--history-start", "2026", clock=clock)
        await server.until_logged("elering: HTTP 503")
        clock.jump(61)
        await server.until_ready()


async def test_answers_go_on_and_readiness_is_honest_while_the_upstream_stays_down(
    launch: Launch, clock: ShiftedClock
) -> None:
    clock.set(MORNING)
    async with FakeElering(made_up_quotes(date(2025, 11, 15), date(2025, 12, 16)), now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2026", clock=clock)
        await server.until_ready()
        elering.fail(times=1000)
        clock.jump(4 * HOUR_S)
        stale = await server.until("/readyz", lambda reply: reply.status == 503, say="503")
        assert [reason for reason in stale.json()["reasons"] if "refreshed" in reason] == [
            "the data was last refreshed 4 h ago"
        ]
        body = (await server.get("/api/v1/forecast")).json()
        hour = floor_hour(clock.now())
        assert body["dayAhead"][0]["ts"] == hour
        assert body["lastRefresh"] < hour - 3 * HOUR_S
        # The model needs no upstream: a run of this hour, on the prices there are.
        fresh = await server.until("/api/v1/forecast", lambda reply: reply.json()["madeAt"] >= hour, say="a new run")
        assert fresh.json()["forecast"][0]["ts"] == hour + HOUR_S

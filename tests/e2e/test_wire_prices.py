"""Prices over the wire: a server on a past day, and an upstream that repeats Elering's real faults."""

import json
from collections.abc import AsyncIterator
from copy import deepcopy
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED
from tests.support.machine.processes import Launch, Reply, Server, Tunnihind
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import hourly, made_up_quotes
from tests.support.upstreams import FakeElering, FakeEntsoe
from tests.support.upstreams.elering import Quotes, csv_quotes
from tests.support.upstreams.entsoe import TOKEN
from tunnihind.core.market import HOUR_S, ZONES, day_end, day_start, hours_of

TODAY = date(2025, 12, 15)
TOMORROW = date(2025, 12, 16)
BEFORE_PUBLICATION = "2025-12-15T11:50:00Z"
"""13:50 on an Estonian clock: prices are asked for every minute. They come out at 11:55 UTC."""


def market() -> Quotes:
    """Return the real quarters of late 2025 if the history is at hand, or similar ones."""
    real = SHARED / "data" / "prices_15min.csv"
    return csv_quotes(real) if real.exists() else made_up_quotes(date(2025, 10, 1), date(2025, 12, 31))


@pytest.fixture
async def elering(clock: ShiftedClock) -> AsyncIterator[FakeElering]:
    async with FakeElering(market(), now=clock.now) as upstream:
        yield upstream


def settled_through(last: int) -> Any:  # noqa: ANN401
    """Return a function that checks whether an answer's settled prices end with an hour."""

    def holds(reply: Reply) -> bool:
        hours = reply.json()["dayAhead"]
        return bool(hours) and hours[-1]["ts"] == last

    return holds


async def assert_served(server: Server, quotes: Quotes, first: date, last: date) -> None:
    """The settled hours of some delivery days are all there, and are the means of their quarters."""
    actuals = {hour["ts"]: hour["eurMwh"] for hour in (await server.get("/api/series")).json()["actuals"]}
    expected = {ts: price for ts, price in hourly(quotes).items() if day_start(first) <= ts < day_end(last)}
    assert len(expected) == (day_end(last) - day_start(first)) // HOUR_S
    served = {ts: price for ts, price in actuals.items() if day_start(first) <= ts < day_end(last)}
    assert served == {ts: pytest.approx(price, abs=0.0051) for ts, price in expected.items()}


async def test_an_afternoon_of_zeros_half_a_day_and_errors_ends_with_tomorrows_prices(
    launch: Launch, clock: ShiftedClock, elering: FakeElering
) -> None:
    clock.set(BEFORE_PUBLICATION)
    true_quotes = deepcopy(elering.quotes)
    today_s_last, tomorrow_s_last = day_end(TODAY) - HOUR_S, day_end(TOMORROW) - HOUR_S
    server = launch("--elering-url", elering.url, "--history-start", "2025", clock=clock)
    await server.until_ready()
    await server.until("/api/v1/forecast", settled_through(today_s_last))

    elering.zero(TOMORROW)
    clock.jump(6 * 60)
    await server.until_logged(
        f"elering's prices of EE, LV, LT, FI for {TOMORROW} are held back: 24 hours are exactly 0.00"
    )
    elering.quotes = deepcopy(true_quotes)
    elering.cut(TOMORROW, 80)
    clock.jump(60)
    await server.until_logged(f"elering's prices of EE, LV, LT, FI for {TOMORROW} are held back: 80 of 96 quarters")
    body = (await server.get("/api/v1/forecast")).json()
    assert body["dayAhead"][-1]["ts"] == today_s_last, "what is held back must not be served"
    assert [hour["ts"] for hour in body["forecast"] if hour["ts"] > today_s_last], "the forecast covers it meanwhile"

    elering.quotes = deepcopy(true_quotes)
    elering.fail(times=6, status=503)  # more than one question's tries
    clock.jump(60)
    await server.until_logged("elering: HTTP 503")
    clock.jump(60)
    await server.until("/api/v1/forecast", settled_through(tomorrow_s_last))
    await server.until_logged("elering answers again")
    assert server.log.count("elering: HTTP 503") == 1, "a failure is news once"
    await assert_served(server, true_quotes, TODAY - timedelta(days=13), TOMORROW)
    await server.until("/api/v1/forecast", lambda reply: reply.json()["madeAt"] >= clock.now() - 60, say="a new run")


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2025, 10, 26), 25), (date(2026, 3, 29), 23)], ids=["100 quarters", "92 quarters"]
)
async def test_the_days_of_the_clock_changes_are_whole(
    day: date, hours: int, launch: Launch, clock: ShiftedClock
) -> None:
    quotes = made_up_quotes(day - timedelta(days=30), day + timedelta(days=1))
    clock.set(f"{day}T10:00:00Z")
    async with FakeElering(quotes, now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2026", clock=clock)
        await server.until_ready()
        await server.until("/api/v1/forecast", lambda reply: reply.json()["forecast"], say="a forecast")
        assert len(hours_of(day)) == hours
        await assert_served(server, quotes, day - timedelta(days=1), day)
        forecast = (await server.get("/api/v1/forecast")).json()["forecast"]
        starts = [hour["ts"] for hour in forecast]
        assert starts == list(range(starts[0], starts[-1] + 1, HOUR_S))
        assert starts[-1] > day_end(day)


def recorded(shared: Path, *names: str) -> Quotes:
    quotes: Quotes = {zone: {} for zone in ZONES}
    for name in names:
        data = json.loads((shared / "fixtures" / "elering" / name).read_text())["data"]
        for zone in ZONES:
            quotes[zone] |= {row["timestamp"]: row["price"] for row in data[zone]}
    return quotes


async def test_recorded_answers_are_served_where_they_make_a_whole_day(
    launch: Launch, clock: ShiftedClock, shared: Path, tunnihind: Tunnihind
) -> None:
    quotes = recorded(shared, "nps_price_15min_2025-12-04_full96.json", "nps_price_15min_2025-12-05_partial92.json")
    clock.set("2025-12-05T09:00:00Z")
    async with FakeElering(quotes, now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2025", clock=clock)
        await server.until_ready()
        # Two days of UTC hold one delivery day and 23 hours of the one before.
        await assert_served(server, quotes, date(2025, 12, 5), date(2025, 12, 5))
        actuals = (await server.get("/api/series")).json()["actuals"]
        assert len(actuals) == 24
        held = (await tunnihind("status", "--json")).json()["held"]
        assert {(case["zone"], case["day"], case["detail"]) for case in held} == {
            (zone, "2025-12-04", "92 of 96 quarters") for zone in ZONES
        }


async def test_prices_shifted_by_an_hour_overwrite_nothing_and_the_right_source_counts(
    launch: Launch, clock: ShiftedClock, elering: FakeElering, tunnihind: Tunnihind
) -> None:
    true_quotes = deepcopy(elering.quotes)
    entsoe_quotes = {
        zone: {ts: price for ts, price in prices.items() if ts < day_end(TODAY)} for zone, prices in true_quotes.items()
    }
    clock.set(BEFORE_PUBLICATION)
    async with FakeEntsoe(entsoe_quotes) as entsoe:
        server = launch(
            *("--elering-url", elering.url, "--entsoe-url", f"{entsoe.url}/api", "--entsoe-token", TOKEN),
            *("--history-start", "2026"),
            clock=clock,
        )
        await server.until_ready()
        # At publication, Elering gives all prices an hour late; ENTSO-E is right.
        for prices in elering.quotes.values():
            prices |= {ts: prices[ts - HOUR_S] for ts in sorted(prices, reverse=True) if ts - HOUR_S in prices}
        entsoe.quotes = true_quotes
        clock.jump(6 * 60)
        await server.until("/api/v1/forecast", settled_through(day_end(TOMORROW) - HOUR_S), say="tomorrow's prices")
        await server.until_logged("its whole answer contradicts the settled prices")
        await assert_served(server, true_quotes, TODAY - timedelta(days=13), TOMORROW)
        status = (await tunnihind("status", clock=clock)).output
        assert "(an hour too late)" in status
        assert status.count("\nheld back ") == 1, "one line for all zones and days of an answer"
        warnings = (await server.get("/readyz")).json()["warnings"]
        assert any(line.startswith("elering's prices of EE, LV, LT, FI for ") for line in warnings)


async def test_a_source_that_hangs_at_the_first_start_delays_prices_half_a_minute(
    launch: Launch, clock: ShiftedClock, elering: FakeElering, tunnihind: Tunnihind
) -> None:
    clock.set(BEFORE_PUBLICATION)
    async with FakeEntsoe(elering.quotes) as entsoe:
        entsoe.hang(times=1000)
        server = launch(
            *("--elering-url", elering.url, "--entsoe-url", f"{entsoe.url}/api", "--entsoe-token", TOKEN),
            *("--history-start", "2026"),
            clock=clock,
        )
        await server.until("/api/v1/forecast", settled_through(day_end(TODAY) - HOUR_S), within=60, say="prices")
        warnings = (await server.get("/readyz")).json()["warnings"]
        assert any("unconfirmed" in warning for warning in warnings)
        assert "unconfirmed" in (await tunnihind("status", clock=clock)).output


@pytest.mark.parametrize("second", [False, True], ids=["the only source", "unconfirmed"])
async def test_a_month_is_kept_for_good_only_while_no_second_source_can_contradict_it(
    launch: Launch, clock: ShiftedClock, *, second: bool
) -> None:
    clock.set("2025-12-15T09:20:00Z")
    quotes = made_up_quotes(date(2025, 10, 31), date(2025, 12, 15))
    async with FakeElering(quotes, now=clock.now) as elering, FakeEntsoe({}) as entsoe:
        # A refusal is not asked again within a call, so nobody waits for it.
        entsoe.fail(times=1000, status=403)
        token = ("--entsoe-url", f"{entsoe.url}/api", "--entsoe-token", TOKEN) if second else ()
        server = launch("--elering-url", elering.url, *token, "--history-start", "2025", clock=clock)
        await server.until_ready()
        path = "/api/v1/history?month=2025-11"
        month = await server.until(path, lambda reply: len(reply.json()["prices"]) == 30 * 96, say="all of the month")
        assert ("immutable" in month.headers["Cache-Control"]) is not second


async def test_the_second_source_steps_in_for_the_first_and_its_token_stays_secret(
    launch: Launch, clock: ShiftedClock, elering: FakeElering
) -> None:
    clock.set(BEFORE_PUBLICATION)
    elering.fail(times=1000)
    quotes = made_up_quotes(TODAY - timedelta(days=15), TODAY)
    async with FakeEntsoe(quotes) as entsoe:
        server = launch(
            *("--elering-url", elering.url, "--entsoe-url", f"{entsoe.url}/api", "--entsoe-token", TOKEN),
            *("--history-start", "2026", "--log-level", "debug"),
            clock=clock,
        )
        await server.until_ready()
        await assert_served(server, quotes, TODAY - timedelta(days=13), TODAY)
        assert entsoe.requests
    assert "elering: HTTP 503" in server.log
    assert TOKEN not in server.log

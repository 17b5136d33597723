"""Quarters of an hour from real processes: at each boundary, on days of any length, with and without data."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.machine.processes import Launch, Reply, Tunnihind
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import made_up_quotes, write_prices
from tests.support.upstreams import FakeElering
from tests.support.upstreams.elering import Quotes
from tunnihind.core.market import (
    DAY_S,
    HOUR_S,
    QUARTER_S,
    day_end,
    day_start,
    floor_hour,
    iso_utc,
)

FORECAST: Final = "/api/v1/forecast"
QUARTERS: Final = "/api/v1/quarters"
TODAY: Final = date(2025, 12, 15)


def by_start(items: list[dict[str, Any]], field: str) -> dict[int, float]:
    return {item["ts"]: item[field] for item in items}


def hourly_means(quarters: dict[int, float]) -> dict[int, float]:
    """Return the mean of each hour that has four quarters."""
    hours = {floor_hour(ts) for ts in quarters}
    found = {hour: [quarters[ts] for ts in range(hour, hour + HOUR_S, QUARTER_S) if ts in quarters] for hour in hours}
    return {hour: sum(four) / 4 for hour, four in found.items() if len(four) == 4}


def check_agreement(hours: dict[str, Any], quarters: dict[str, Any]) -> None:
    """Check that both resources agree on each whole hour ahead."""
    for name in ("zone", "currency", "madeAt", "gated", "docs"):
        assert quarters[name] == hours[name]
    # Both may move with their instants of answering.
    assert quarters["freeUntil"] - quarters["now"] == pytest.approx(hours["freeUntil"] - hours["now"], abs=HOUR_S)
    for items, field in (("dayAhead", "eurMwh"), ("forecast", "p50")):
        ahead = {ts: price for ts, price in by_start(hours[items], field).items() if ts > hours["now"]}
        means = hourly_means(by_start(quarters[items], field))
        assert {ts: price for ts, price in means.items() if ts > hours["now"]} == pytest.approx(ahead, abs=0.0101)


def served_quarter(edge: int) -> Callable[[Reply], bool]:
    return lambda reply: reply.status == 200 and (reply.json()["dayAhead"] or [{"ts": 0}])[0]["ts"] == edge


async def test_each_quarter_begins_on_time_however_the_clock_jumps(launch: Launch, clock: ShiftedClock) -> None:
    clock.set("2025-12-15T09:20:00Z")
    quotes = made_up_quotes(TODAY - timedelta(days=14), TODAY + timedelta(days=3))
    async with FakeElering(quotes, now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2026", clock=clock)
        await server.until_ready()
        noon = floor_hour(clock.now()) + 3 * HOUR_S
        for edge in (*(noon + n * QUARTER_S for n in (0, 1, 2, 3, 4)), noon + DAY_S + QUARTER_S, noon - QUARTER_S):
            clock.set(iso_utc(edge - 60))
            before = await server.until(QUARTERS, served_quarter(edge - QUARTER_S), say="the quarter before")
            clock.set(iso_utc(edge + 1))
            after = await server.get(QUARTERS, If_None_Match=before.headers["ETag"])
            assert after.status == 200
            body = after.json()
            assert body["dayAhead"][0] | {"startsAt": "", "eurKwh": 0} == {
                "ts": edge,
                "startsAt": "",
                "eurMwh": quotes["ee"][edge],
                "eurKwh": 0,
                "hourly": False,
            }
            assert all(item["ts"] > body["now"] for item in body["forecast"])
            fresh, stale = (int(part.rpartition("=")[2]) for part in after.headers["Cache-Control"].split(", ")[1:3])
            assert (body["now"] + fresh + stale) % QUARTER_S == 0


async def test_tomorrows_quarters_come_however_late_and_stay_after_a_restart(
    launch: Launch, clock: ShiftedClock
) -> None:
    clock.set("2025-12-15T09:20:00Z")
    everything = made_up_quotes(TODAY - timedelta(days=14), TODAY + timedelta(days=1))
    tomorrow = day_end(TODAY)
    known: Quotes = {zone: {ts: p for ts, p in prices.items() if ts < tomorrow} for zone, prices in everything.items()}
    async with FakeElering(known) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2026", clock=clock)
        await server.until_ready()
        hours, quarters = await server.get_at_once(FORECAST, QUARTERS)
        check_agreement(hours, quarters)
        assert [quarters["dayAhead"][-1]["ts"], hours["dayAhead"][-1]["ts"]] == [
            tomorrow - QUARTER_S,
            tomorrow - HOUR_S,
        ]
        # Hours late, and with a price below zero.
        clock.set("2025-12-15T17:03:00Z")
        everything["ee"][tomorrow + 5 * QUARTER_S] = -12.34
        elering.quotes = everything
        end = day_end(TODAY + timedelta(days=1)) - QUARTER_S
        # A new forecast follows the new prices. It must not come between the answer kept below and the server's end.
        before = hours["madeAt"]
        reply = await server.until(
            QUARTERS,
            lambda reply: reply.json()["dayAhead"][-1]["ts"] == end and reply.json()["madeAt"] > before,
            say="tomorrow",
        )
        served = by_start(reply.json()["dayAhead"], "eurMwh")
        assert served == {ts: price for ts, price in everything["ee"].items() if ts >= min(served)}
        assert by_start(reply.json()["dayAhead"], "eurKwh")[tomorrow + 5 * QUARTER_S] == round(-0.01234 * 1.22, 4)
        hours, quarters = await server.get_at_once(FORECAST, QUARTERS)
        check_agreement(hours, quarters)
        first = await server.get(f"{QUARTERS}?days=2")
        assert await server.terminate() == 0
    server = launch("--no-pipeline", clock=clock)
    again = await server.until(f"{QUARTERS}?days=2", lambda reply: reply.status == 200)
    moving = {"now", "freeUntil", "docs", "lastRefresh"}
    bodies = [{name: value for name, value in reply.json().items() if name not in moving} for reply in (first, again)]
    assert bodies[0] == bodies[1]
    assert bodies[0]["forecast"]


async def test_the_quarters_of_an_imported_day_of_25_hours_are_served(
    launch: Launch, tunnihind: Tunnihind, clock: ShiftedClock, tmp_path: Path
) -> None:
    day = date(2025, 10, 26)
    clock.set(iso_utc(day_end(day) + 9 * HOUR_S + 1200))
    quotes = made_up_quotes(day - timedelta(days=3), day + timedelta(days=1))
    imported = await tunnihind("import", "prices", str(write_prices(tmp_path / "prices.csv", quotes)), clock=clock)
    assert imported.status == 0, imported.errors
    server = launch("--no-pipeline", clock=clock)
    reply = await server.until(f"{QUARTERS}?days=3", lambda reply: reply.status == 200)
    body = reply.json()
    since = body["now"] - body["now"] % QUARTER_S - 3 * DAY_S
    served = by_start(body["dayAhead"], "eurMwh")
    assert list(served) == list(range(since, day_end(day + timedelta(days=1)), QUARTER_S))
    assert len([ts for ts in served if day_start(day) <= ts < day_end(day)]) == 100
    assert served == {ts: quotes["ee"][ts] for ts in served}
    actuals = (await server.get("/api/series?days=3")).json()["actuals"]
    means = hourly_means(served)
    assert means == pytest.approx({ts: p for ts, p in by_start(actuals, "eurMwh").items() if ts in means}, abs=0.0101)


@pytest.mark.parametrize(
    ("public_url", "warnings"),
    [
        pytest.param("https://prices.example.org", 1, id="public"),
        pytest.param("http://homeassistant.local:8080", 0, id="private"),
    ],
)
async def test_the_full_horizon_is_told_and_warned_of_at_a_public_address(
    launch: Launch, tmp_path: Path, public_url: str, warnings: int
) -> None:
    server = launch("--no-pipeline", "--full-horizon", "--public-url", public_url)
    about = await server.until("/api/about", lambda reply: reply.status == 200)
    assert about.json()["fullHorizon"] is True
    assert server.log.count("--full-horizon is for a private server") == warnings

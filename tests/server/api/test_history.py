"""`GET /api/v1/history`: months of a real store, over a socket."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.api.api_server import Answer, RunningServer, Serve, no_prices
from tests.support.clocks import local
from tests.support.store.stores import day_range, whole_day
from tunnihind.api.history import FIRST_MONTH, Month, ReadMonthPrices
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, rounded_market_price
from tunnihind.store.prices import AGREED, Price
from tunnihind.store.store import Store

NOW = local("2025-12-15 12:10")
SEEN = local("2020-01-01 00:00")


def reader(store: Store) -> ReadMonthPrices:
    """Return a reader of months like a live server's."""
    return lambda start, end: store.prices.read_archive(start, end, zones=(ESTONIA.zone,)).newest_versions()


def fill(store: Store, first: str, days: int, step_s: int, *, source: str = "test") -> None:
    """Store some delivery days with different prices, the first one below zero."""
    prices: Iterable[Price] = (
        price._replace(eur_mwh=round(-40.5 + (price.ts - SEEN) / 900 % 5000 / 9.7, 2))
        for day in day_range(date.fromisoformat(first), days)
        for price in whole_day(day, step_s, zones=("ee",))
    )
    store.prices.add(prices, source=source, seen_ts=SEEN)


@pytest.fixture
async def server(serve: Serve, store: Store) -> RunningServer:
    """Return a server with the quarters from October to 16 December 2025."""
    fill(store, "2025-09-30", 78, QUARTER_S)
    return await serve(now=NOW, read_prices=reader(store))


def document(answer: Answer) -> dict[str, Any]:
    assert answer.status == 200, answer.body
    found: dict[str, Any] = json.loads(answer.body)
    return found


async def detail_of(server: RunningServer, query: str, status: int = 400) -> str:
    answer = await server.ask(f"/api/v1/history{query}")
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert answer.headers["Cache-Control"] == "no-store"
    return str(json.loads(answer.body)["detail"])


@pytest.mark.parametrize(
    ("month", "hours"), [("2025-10", 31 * 24 + 1), ("2025-11", 30 * 24)], ids=["clocks go back", "ordinary"]
)
async def test_a_month_runs_from_estonian_midnight_to_midnight(server: RunningServer, month: str, hours: int) -> None:
    body = document(await server.ask(f"/api/v1/history?month={month}"))
    assert {name: body[name] for name in ("zone", "currency", "month", "resolution")} == {
        "zone": "EE",
        "currency": "EUR",
        "month": month,
        "resolution": "15m",
    }
    start = local(f"{month}-01 00:00")
    assert [price["ts"] for price in body["prices"]] == [start + n * QUARTER_S for n in range(hours * 4)]
    assert {price["hourly"] for price in body["prices"]} == {False}


async def test_an_hour_is_the_mean_of_its_quarters_to_a_hundredth(server: RunningServer) -> None:
    quarters = document(await server.ask("/api/v1/history?month=2025-11"))["prices"]
    hours = document(await server.ask("/api/v1/history?month=2025-11&resolution=60m"))["prices"]
    assert len(hours) * 4 == len(quarters)
    for n, hour in enumerate(hours):
        four = quarters[4 * n : 4 * n + 4]
        mean = sum(quarter["eurMwh"] for quarter in four) / 4
        assert hour == {"ts": four[0]["ts"], "eurMwh": pytest.approx(mean, abs=0.01)}
    assert any(quarter["eurMwh"] < 0 for quarter in quarters)


async def test_before_quarters_were_traded_each_has_its_hours_price(serve: Serve, store: Store) -> None:
    fill(store, "2025-08-30", 32, HOUR_S)
    fill(store, "2025-10-01", 2, QUARTER_S)
    server = await serve(now=NOW, read_prices=reader(store))
    quarters = document(await server.ask("/api/v1/history?month=2025-09"))["prices"]
    hours = document(await server.ask("/api/v1/history?month=2025-09&resolution=60m"))["prices"]
    assert [(quarter["ts"], quarter["eurMwh"]) for quarter in quarters] == [
        (hour["ts"] + n * QUARTER_S, hour["eurMwh"]) for hour in hours for n in range(4)
    ]
    assert all(quarter["hourly"] for quarter in quarters)
    # The first Estonian hour of October still belongs to September's last delivery day.
    october = document(await server.ask("/api/v1/history?month=2025-10"))["prices"]
    assert [quarter["hourly"] for quarter in october[:5]] == [True] * 4 + [False]


async def test_a_month_that_is_over_for_a_week_may_be_cached_for_good(server: RunningServer) -> None:
    assert (await server.ask("/api/v1/history?month=2025-11")).headers["Cache-Control"] == (
        "public, max-age=31536000, immutable"
    )
    server.clock.instant = local("2025-12-01 00:00") + 7 * DAY_S - 1
    assert "immutable" not in (await server.ask("/api/v1/history?month=2025-11")).headers["Cache-Control"]


async def test_the_running_month_is_fresh_for_a_minute_at_most(server: RunningServer) -> None:
    answer = await server.ask("/api/v1/history?month=2025-12")
    assert answer.headers["Cache-Control"].startswith("public, max-age=60, stale-while-revalidate=")
    # The prices include tomorrow's, which are known.
    assert document(answer)["prices"][-1]["ts"] == local("2025-12-17 00:45")


GAP = local("2025-11-20 15:00")


@pytest.mark.parametrize(
    ("lost_s", "instead", "missing"),
    # Without one quarter, neither the hour nor its other quarters have a price.
    [(QUARTER_S, [], 4), (HOUR_S, [Price("ee", GAP, HOUR_S, 12.0)], 0)],
    ids=["a quarter", "the quarters of an hour that is known"],
)
async def test_a_month_that_lacks_a_price_is_served_and_not_for_good(
    serve: Serve, store: Store, lost_s: int, instead: list[Price], missing: int
) -> None:
    prices = (price for day in day_range(date(2025, 10, 31), 31) for price in whole_day(day, QUARTER_S, zones=("ee",)))
    kept = (price for price in prices if not GAP <= price.ts < GAP + lost_s)
    store.prices.add([*kept, *instead], source="test", seen_ts=SEEN)
    server = await serve(now=NOW, read_prices=reader(store))
    answer = await server.ask("/api/v1/history?month=2025-11")
    assert len(document(answer)["prices"]) == 30 * 96 - missing
    assert "immutable" not in answer.headers["Cache-Control"]


async def test_a_demos_months_are_never_cached_for_good(serve: Serve, store: Store) -> None:
    fill(store, "2025-10-31", 31, QUARTER_S)
    server = await serve(now=NOW, read_prices=reader(store), mode="demo")
    assert "immutable" not in (await server.ask("/api/v1/history?month=2025-11")).headers["Cache-Control"]


async def test_a_month_that_may_still_be_withdrawn_is_not_kept_for_good(serve: Serve, store: Store) -> None:
    fill(store, "2025-10-31", 31, QUARTER_S)
    server = await serve(
        now=NOW, read_prices=reader(store), are_confirmed=lambda start, end: not store.unconfirmed_days(start, end)
    )
    for sources in (["elering", "entsoe"], ["elering"]):
        store.state.record_price_source_names(sources)
        answer = await server.ask("/api/v1/history?month=2025-11")
        assert ("immutable" in answer.headers["Cache-Control"]) is (len(sources) == 1)
    store.state.record_price_source_names(["elering", "entsoe"])
    fill(store, "2025-10-31", 31, QUARTER_S, source=AGREED)
    assert "immutable" in (await server.ask("/api/v1/history?month=2025-11")).headers["Cache-Control"]


async def test_the_tag_stays_until_a_price_is_corrected(server: RunningServer, store: Store) -> None:
    first = await server.ask("/api/v1/history?month=2025-11")
    known = f"If-None-Match: {first.headers['ETag']}"
    server.clock.instant += 40 * DAY_S
    assert (await server.ask("/api/v1/history?month=2025-11", known, "Accept-Encoding: gzip")).status == 304
    corrected = Price("ee", local("2025-11-03 10:15"), QUARTER_S, 1234.5)
    store.prices.add([corrected], source="test", seen_ts=NOW)
    again = await server.ask("/api/v1/history?month=2025-11", known)
    assert rounded_market_price(1234.5) in {price["eurMwh"] for price in document(again)["prices"]}
    assert again.headers["ETag"] != first.headers["ETag"]


async def test_nothing_known_is_an_empty_month_and_not_for_good(serve: Serve, store: Store) -> None:
    server = await serve(now=NOW, read_prices=reader(store))
    answer = await server.ask("/api/v1/history?month=2021-01")
    assert document(answer)["prices"] == []
    assert "immutable" not in answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    ("query", "named", "fix"),
    [
        ("", "`month` is missing", "YYYY-MM"),
        ("?resolution=60m", "`month` is missing", "YYYY-MM"),
        ("?month=", "`month` is ''", "YYYY-MM"),
        ("?month=2025-13", "`month` is '2025-13'", "YYYY-MM"),
        ("?month=2025-1", "`month` is '2025-1'", "YYYY-MM"),
        ("?month=2025-11-01", "`month` is '2025-11-01'", "YYYY-MM"),
        ("?month=%D9%A2025-11", "`month` is", "YYYY-MM"),
        ("?month=2025-11%0A", "`month` is", "YYYY-MM"),
        ("?month=2025-11&month=2025-11", "`month` is given more than once", "once"),
        ("?month=2025-11&resolution=30m", "`resolution` is '30m'", "15m or 60m"),
        ("?month=2025-11&resolution=", "`resolution` is ''", "15m or 60m"),
        ("?month=2025-11&resolution=15m&resolution=15m", "`resolution` is given more than once", "once"),
        ("?month=2025-11&days=2", "`days` is not a parameter", "`month` and `resolution`"),
    ],
)
async def test_what_makes_no_sense_is_refused_with_the_field_and_the_fix(
    server: RunningServer, query: str, named: str, fix: str
) -> None:
    detail = await detail_of(server, query)
    assert named in detail
    assert fix in detail


@pytest.mark.parametrize(
    ("month", "said"),
    [
        ("0000-01", "`month` is 0000-01: prices are served from 2021-01 on"),
        ("2020-12", "`month` is 2020-12: prices are served from 2021-01 on"),
        ("2026-01", "`month` is 2026-01, which hasn't begun: give 2025-12 or an earlier month"),
        ("9999-12", "`month` is 9999-12, which hasn't begun: give 2025-12 or an earlier month"),
    ],
)
async def test_a_month_that_is_not_served_is_not_found(server: RunningServer, month: str, said: str) -> None:
    assert said in await detail_of(server, f"?month={month}", status=404)


async def test_a_month_begins_at_estonian_midnight(serve: Serve) -> None:
    begins = local("2026-01-01 00:00")
    server = await serve(now=begins - 1, read_prices=no_prices)
    await detail_of(server, "?month=2026-01", status=404)
    server.clock.instant = begins
    assert (await server.ask("/api/v1/history?month=2026-01")).status == 200


def test_every_month_ends_where_the_next_one_begins() -> None:
    first = date.fromisoformat(f"{FIRST_MONTH}-01")
    end = local(f"{FIRST_MONTH}-01 00:00")
    while first.year < 2027:
        month = Month.parse(f"{first:%Y-%m}", ESTONIA, local("2027-01-01 00:00"))
        assert month.start_ts == end
        end = month.end_ts
        first = (first + timedelta(days=31)).replace(day=1)
    assert datetime.fromtimestamp(end, ESTONIA.time_zone).isoformat() == "2027-01-01T00:00:00+02:00"


async def test_a_month_is_read_while_another_process_writes(server: RunningServer, database: Path) -> None:
    # With a write-ahead log, a writer can't block readers.
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("DELETE FROM prices")
        assert len(document(await server.ask("/api/v1/history?month=2025-11"))["prices"]) == 30 * 96

"""Feeds and history of real servers, over days of 92, 96 and 100 quarters, a late publication and a lost database."""

import asyncio
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from tests.support.household.price_readers import EvccTariff, PredbatRates, emhass_steps, instant
from tests.support.machine.processes import Launch, Reply, Server, Tunnihind
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import hourly, made_up_quotes, write_prices
from tests.support.upstreams import FakeElering
from tests.support.upstreams.elering import csv_quotes
from tunnihind.core.market import (
    ESTONIA,
    HOUR_S,
    QUARTER_S,
    consumer_price,
    day_end,
    floor_hour,
    iso_utc,
    rounded_market_price,
)

CHANGE: Final = date(2025, 10, 26)
"""When clocks go back: the Estonian day has 100 quarters."""


async def served_as_of(launch: Launch, tunnihind: Tunnihind, files: list[Path], now: int) -> Server:
    for file in files:
        done = await tunnihind("import", "prices", str(file))
        assert done.status == 0, done.errors
    server = launch("--as-of", iso_utc(now))
    await server.until_ready()
    return server


async def best_known(server: Server) -> dict[int, float]:
    """Return each quarter's price from two days ago on, from the quarters' own resource, EUR/MWh."""
    body = (await server.get("/api/v1/quarters?days=2")).json()
    prices = {one["ts"]: one["p50"] for one in body["forecast"]}
    return prices | {one["ts"]: one["eurMwh"] for one in body["dayAhead"]}


@pytest.mark.parametrize(
    ("day", "quarters"), [(CHANGE, 100), (date(2026, 3, 29), 92)], ids=["100 quarters", "92 quarters"]
)
async def test_readers_have_every_quarter_of_a_day_on_which_clocks_change(
    day: date,
    quarters: int,
    launch: Launch,
    tunnihind: Tunnihind,
    tmp_path: Path,
) -> None:
    file = write_prices(tmp_path / "prices.csv", made_up_quotes(day - timedelta(days=60), day + timedelta(days=1)))
    quotes = csv_quotes(file)["ee"]
    midnight, next_midnight = ESTONIA.midnight(day), ESTONIA.midnight(day + timedelta(days=1))
    server = await served_as_of(launch, tunnihind, [file], midnight + 12 * HOUR_S)

    known = await best_known(server)
    evcc = EvccTariff.read((await server.get("/api/feeds/evcc?price=market")).body.decode())
    predbat = PredbatRates.read([(await server.get("/api/feeds/octopus")).body.decode()], midnight)
    today = range(midnight, next_midnight, QUARTER_S)
    assert len(today) == quarters
    assert {ts: evcc.at(ts) for ts in today} == {
        ts: pytest.approx(rounded_market_price(quotes[ts]) / 1000) for ts in today
    }
    assert min(evcc.rates) == midnight

    # The next day's prices come out later: a rehearsal doesn't know them yet.
    month = (await server.get(f"/api/v1/history?month={day:%Y-%m}")).json()["prices"]
    assert month[-1]["ts"] == day_end(day) - QUARTER_S

    end = max(evcc.rates) + QUARTER_S
    assert end == day_end(day) + 48 * HOUR_S
    for ts in range(midnight, end, QUARTER_S):
        assert evcc.at(ts) == pytest.approx(known[ts] / 1000)
        assert predbat.at(ts) == pytest.approx(100 * consumer_price(known[ts], 0.24))
    emhass = (await server.get("/api/feeds/emhass?price=market")).body.decode()
    steps = (end - midnight) // QUARTER_S
    assert emhass_steps(emhass, midnight, steps, QUARTER_S) == pytest.approx(
        [known[midnight + n * QUARTER_S] / 1000 for n in range(steps)]
    )


async def test_the_real_last_quarter_of_2025_is_its_history_by_quarters_and_by_hours(
    launch: Launch, tunnihind: Tunnihind, shared: Path
) -> None:
    files = [shared / "data" / "prices_hourly.csv", shared / "data" / "prices_15min.csv"]
    quarters, hours = csv_quotes(files[1])["ee"], csv_quotes(files[0])["ee"]
    server = await served_as_of(launch, tunnihind, files, ESTONIA.midnight(date(2025, 12, 31)))
    for month in (10, 11, 12):
        first, after = date(2025, month, 1), date(2025, month + 1, 1) if month < 12 else date(2026, 1, 1)
        by_quarter = (await server.get(f"/api/v1/history?month=2025-{month}")).json()["prices"]
        starts = range(ESTONIA.midnight(first), ESTONIA.midnight(after), QUARTER_S)
        assert [price["ts"] for price in by_quarter] == [*starts]
        # The first hour of October is of September's last delivery day, which was traded by the hour.
        by_hour_only = [price["ts"] for price in by_quarter if price["hourly"]]
        assert by_hour_only == ([*starts[:4]] if month == 10 else [])
        for price in by_quarter[4 if month == 10 else 0 :]:
            assert price["eurMwh"] == rounded_market_price(quarters[price["ts"]])
        by_hour = (await server.get(f"/api/v1/history?month=2025-{month}&resolution=60m")).json()["prices"]
        assert [price["ts"] for price in by_hour] == [*starts[::4]]
        for n, price in enumerate(by_hour):
            mean = sum(one["eurMwh"] for one in by_quarter[4 * n : 4 * n + 4]) / 4
            assert price["eurMwh"] == pytest.approx(mean, abs=0.0051)
            assert price["eurMwh"] == pytest.approx(hours[price["ts"]], abs=0.0051)
    older = (await server.get("/api/v1/history?month=2022-08")).json()["prices"]
    assert len(older) == 31 * 96
    assert {price["hourly"] for price in older} == {True}
    assert all(price["eurMwh"] == rounded_market_price(hours[price["ts"] // HOUR_S * HOUR_S]) for price in older)


BEFORE_PUBLICATION: Final = "2025-12-15T11:50:00Z"
TODAY: Final = date(2025, 12, 15)


def follows(reply: Reply, end: int) -> bool:
    """Return whether a feed has no gap, and a price after an instant."""
    rates = reply.json() if reply.status == 200 else []
    return bool(rates) and rates[-1]["end"] > iso_utc(end)


async def test_before_the_publication_the_forecast_follows_and_then_gives_way_to_what_is_settled(
    launch: Launch, clock: ShiftedClock
) -> None:
    quotes = made_up_quotes(date(2025, 10, 1), date(2025, 12, 17))
    clock.set(BEFORE_PUBLICATION)
    async with FakeElering(quotes, now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2025", clock=clock)
        await server.until_ready()
        tomorrow = day_end(TODAY)
        reply = await server.until("/api/feeds/evcc?price=market", lambda reply: follows(reply, tomorrow + HOUR_S))
        before = EvccTariff.read(reply.body.decode())
        assert min(before.rates) == ESTONIA.midnight(TODAY)
        assert max(before.rates) + QUARTER_S == tomorrow + 48 * HOUR_S
        assert all(rate["end"] == following["start"] for rate, following in pairwise(reply.json()))
        settled = quotes["ee"]
        assert before.at(tomorrow - QUARTER_S) == pytest.approx(
            rounded_market_price(settled[tomorrow - QUARTER_S]) / 1000
        )

        def is_settled(reply: Reply) -> bool:
            tariff = EvccTariff.read(reply.body.decode())
            ahead = range(tomorrow, tomorrow + 24 * HOUR_S, QUARTER_S)
            return all(abs((tariff.at(ts) or 9) - rounded_market_price(settled[ts]) / 1000) < 1e-9 for ts in ahead)

        clock.jump(10 * 60)
        after = await server.until("/api/feeds/evcc?price=market", is_settled, say="tomorrow's quarters")
        free_until = (await server.get("/api/v1/forecast")).json()["freeUntil"]
        assert instant(after.json()[-1]["end"]) == floor_hour(free_until) + HOUR_S > tomorrow + 24 * HOUR_S


async def test_a_lost_database_ends_the_history_and_nothing_else(
    launch: Launch, clock: ShiftedClock, database: Path
) -> None:
    quotes = made_up_quotes(date(2025, 11, 1), date(2025, 12, 16))
    clock.set(BEFORE_PUBLICATION)
    async with FakeElering(quotes, now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2025", clock=clock)
        await server.until_ready()
        path = "/api/v1/history?month=2025-11&resolution=60m"
        whole = await server.until(path, lambda reply: len(reply.json()["prices"]) == 30 * 24 - 1)
        expected = {ts: price for ts, price in hourly(quotes).items() if ts < ESTONIA.midnight(date(2025, 12, 1))}
        assert {one["ts"]: one["eurMwh"] for one in whole.json()["prices"]} == {
            ts: pytest.approx(price, abs=0.0051) for ts, price in expected.items()
        }
        await asyncio.to_thread(database.unlink)
        lost = await server.get(path)
        assert (lost.status, lost.headers["Retry-After"]) == (503, "5")
        # While another thread of the server still reads from the file, the sentence goes on.
        assert lost.json()["detail"].startswith("No prices can be read: the database file has been deleted")
        assert (await server.get("/api/feeds/evcc")).status == 200

"""History from files, and `serve --as-of` on a past day of it."""

import hashlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED
from tests.support.machine.processes import Launch, Server, Tunnihind
from tests.support.markets.sample_prices import hourly, made_up_quotes, write_prices
from tests.support.upstreams.elering import csv_quotes
from tunnihind.core.market import DAY_S, HOUR_S

AS_OF = "2025-12-15T10:00:00Z"
NOW = int(datetime.fromisoformat(AS_OF).timestamp())
NEWEST = NOW + 12 * HOUR_S
"""The last hour of that delivery day: the next one's prices came out at 11:55 UTC."""


@dataclass(frozen=True)
class History:
    """Files to import, and their hourly prices."""

    prices: tuple[Path, ...]
    covariates: Path
    hours: dict[int, float]


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Return real history where there is some, and made-up history elsewhere."""
    if (folder := SHARED / "data").is_dir():
        files = folder / "prices_hourly.csv", folder / "prices_15min.csv"
        hours = {ts: price for file in files for ts, price in hourly(csv_quotes(file)).items()}
        return History(files, folder / "fi_wind_forecast_asof.csv.gz", hours)
    quotes = made_up_quotes(date(2025, 9, 1), date(2025, 12, 17))
    covariates = tmp_path / "covariates.csv"
    rows = (f"{NOW - 3600},{NOW + hour * HOUR_S},{900 + hour}" for hour in range(48))
    covariates.write_text("\n".join(("issued_ts,target_ts,ee_load_da_mw", *rows)))
    return History((write_prices(tmp_path / "prices.csv", quotes),), covariates, hourly(quotes))


@pytest.fixture
async def imported(history: History, tunnihind: Tunnihind) -> History:
    for file in history.prices:
        done = await tunnihind("import", "prices", str(file))
        assert done.status == 0, done.errors
    done = await tunnihind("import", "covariates", str(history.covariates))
    assert done.status == 0, done.errors
    return history


def digest(database: Path) -> str:
    """Return a digest of the whole database, including its write-ahead log."""
    log = Path(f"{database}-wal")
    return hashlib.sha256(database.read_bytes() + (log.read_bytes() if log.exists() else b"")).hexdigest()


@pytest.fixture
async def server(imported: History, launch: Launch, database: Path) -> AsyncIterator[Server]:
    before = digest(database)
    server = launch("--as-of", AS_OF)
    await server.until_ready()
    yield server
    assert digest(database) == before, "a rehearsal has written to the database"


async def test_a_past_day_is_served_as_it_was_known(server: Server, imported: History, tunnihind: Tunnihind) -> None:
    reply = await server.get("/api/v1/forecast")
    body = reply.json()
    assert NOW <= body["now"] < NOW + 60
    assert body["madeAt"] == NOW
    assert (await server.get("/api/about")).json()["mode"] == "rehearsal"
    assert body["freeUntil"] == NEWEST + 48 * HOUR_S
    assert body["gated"] is True
    assert hours_of(body["dayAhead"]) == hours_between(NOW, NEWEST)
    assert_settled(body["dayAhead"], imported)
    assert hours_of(body["forecast"]) == hours_between(NOW + HOUR_S, body["freeUntil"])
    assert all(hour["p10"] <= hour["p50"] <= hour["p90"] for hour in body["forecast"])
    assert (await server.get("/api/v1/forecast", If_None_Match=reply.headers["ETag"])).status == 304
    await assert_series(server, imported)
    await assert_same_forecast(tunnihind, body["forecast"])
    await assert_exported(tunnihind, imported)


@pytest.mark.parametrize("history", ["made up"], indirect=True)
async def test_a_rehearsal_says_at_once_what_it_does_and_then_how_far_it_is(imported: History, launch: Launch) -> None:
    server = launch("--as-of", AS_OF)
    await server.until_ready()
    lines = server.log.splitlines()
    assert "rehearsing 2025-12-15T10:00:00Z without network; nothing is stored" in lines[0]
    steps = [int(done) for done in re.findall(r"making past forecasts for EE: (\d+) of 16 done", server.log)]
    assert steps == sorted(steps)
    assert steps[-1] == 16
    assert len(steps) > 8


async def assert_series(server: Server, imported: History) -> None:
    series = (await server.get("/api/series")).json()
    assert hours_of(series["actuals"]) == hours_between(NOW - 14 * DAY_S, NEWEST)
    assert_settled(series["actuals"], imported)
    assert hours_of(series["forecast"]) == hours_between(NOW - 14 * DAY_S, series["freeUntil"])


async def assert_same_forecast(tunnihind: Tunnihind, served: list[dict[str, Any]]) -> None:
    """The commands tell of that day what the server tells, and the same every time."""
    first, again = [(await tunnihind("forecast", "--json", "--as-of", AS_OF)) for _ in range(2)]
    assert first.output == again.output
    run = first.json()
    assert run["madeAt"] == NOW
    status = (await tunnihind("status", "--json", "--as-of", AS_OF)).json()
    assert (status["forecast_made_at"], status["forecast_until"]) == (NOW, run["hours"][-1]["ts"] + HOUR_S)
    assert [hour["ts"] for hour in run["hours"]][-1] > served[-1]["ts"], "the operator gets the gated hours too"
    medians = {hour["ts"]: hour["p50"] for hour in run["hours"]}
    assert [hour["p50"] for hour in served] == [pytest.approx(medians[hour["ts"]], abs=0.0051) for hour in served]


async def assert_exported(tunnihind: Tunnihind, imported: History) -> None:
    """The export of that day ends with the prices that were out."""
    rows = [row.split(",") for row in (await tunnihind("export", "prices", "--as-of", AS_OF)).output.splitlines()[1:]]
    exported = {int(ts): float(ee) for ts, ee, *_ in rows if ee}
    assert exported == {ts: pytest.approx(price) for ts, price in imported.hours.items() if ts <= NEWEST}


def hours_between(first: int, last: int) -> list[int]:
    return list(range(first, last + 1, HOUR_S))


def hours_of(items: list[dict[str, Any]]) -> list[int]:
    return [item["ts"] for item in items]


def assert_settled(items: list[dict[str, Any]], imported: History) -> None:
    """Settled prices are the files', in the 2 decimals that are served."""
    for item in items:
        assert item["eurMwh"] == round(item["eurMwh"], 2)
        assert item["eurMwh"] == pytest.approx(imported.hours[item["ts"]], abs=0.0051)

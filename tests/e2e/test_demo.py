"""`serve --demo`: complete at once, without a network, and never mixed with real data."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.machine.processes import Launch, Reply
from tests.support.machine.shifted_clock import AFTERNOON, ShiftedClock
from tunnihind.core.market import DAY_S, HOUR_S, floor_hour


@pytest.fixture
def real_data(database: Path) -> Iterator[None]:
    database.parent.mkdir()
    database.write_bytes(b"the real data")
    yield
    assert database.read_bytes() == b"the real data"


@pytest.fixture
def temporary_files(tmp_path: Path) -> Iterator[None]:
    yield
    assert list(tmp_path.glob("tunnihind-demo*")) == []


def is_whole(reply: Reply) -> bool:
    """Return whether prices and forecasts of 14 days and of the public window are there, hour for hour."""
    series = reply.json()
    first = floor_hour(series["now"]) - 14 * DAY_S
    settled, forecast = ([item["ts"] for item in series[name]] for name in ("actuals", "forecast"))
    return settled == list(range(first, settled[-1] + 1, HOUR_S)) and forecast == list(
        range(first, floor_hour(series["freeUntil"]) + 1, HOUR_S)
    )


@pytest.mark.usefixtures("real_data", "temporary_files")
async def test_the_demo_is_complete_in_seconds_and_touches_no_database(launch: Launch, clock: ShiftedClock) -> None:
    clock.set(AFTERNOON)
    server = launch("--demo", clock=clock)
    await server.until_ready()
    series = (await server.until("/api/series", is_whole, say="14 days without a hole")).json()
    assert series["actuals"][-1]["ts"] > series["now"]
    assert series["gated"] is True
    assert (await server.get("/api/about")).json()["mode"] == "demo"
    assert "WARNING" not in server.log

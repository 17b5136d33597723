"""The integration's time in Home Assistant's event loop, with 10 plans over 72 hours of forecast, by hour and quarter.

    uv run --no-sync python -m pytest -s -pno:logging -ptests.integration.conftest tests/benchmarks/bench_integration.py

A poll is timed against a server in a separate process, so that only the request and its effects count. A tick is timed
at every hour or quarter of two days, with two weeks of past windows and all writes to the state machine. Sizes are
measured of two things: the unrecorded attributes of the current price, and the data that is stored over a restart. An
open card is timed when it is opened and at each tick.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import click
import pytest
from homeassistant.auth.models import User
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.json import json_bytes
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.card.subscription import ENTRY_BROADCASTERS, async_subscribe_card
from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.coordinator import TunnihindCoordinator
from custom_components.tunnihind.plans.outcome import Window
from tests.support.household.home import DAY_S, Home, MakeHome, instant, plan
from tests.support.machine.processes import free_port
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.settings import Settings

pytestmark = pytest.mark.filterwarnings("ignore::aiohttp.web_exceptions.NotAppKeyWarning")

POLLS: Final = 200
BILLED_BY: Final = ("hour", "quarter")
_REACH: Final[dict[str, Any]] = {"days": 3, "deadline": "07:00:00", "horizon": "expected"}
PLANS: Final[dict[str, dict[str, Any]]] = {
    "boiler": {"duration": 180, "split": True, "min_piece": 30, "deadline": "07:00:00"},
    "dishwasher": {"duration": 150, "split": False, "days": 2, "deadline": "07:00:00", "horizon": "expected"},
    "car": {"energy": 40, "power": 7.4, "split": True, "min_piece": 30, "max_starts": 4, **_REACH},
    "car, cautious": {"energy": 60, "power": 3.7, "split": True, "min_piece": 60, **_REACH, "horizon": "cautious"},
    "washing machine": {"duration": 120, "split": False, "tolerance": 1, "prefer": "latest", **_REACH},
    "heat pump": {"duration": 480, "split": True, "min_piece": 60, "max_starts": 3, "tolerance": 0.5, **_REACH},
    "floor": {"kind": "dearest", "duration": 240, "split": True, "min_piece": 60},
    "battery": {"kind": "dearest", "duration": 180, "split": True, "min_piece": 30, "max_starts": 2, **_REACH},
    "pool": {"kind": "below", "price_cap": 5, **_REACH},
    "sauna": {"kind": "above", "price_cap": 8, **_REACH},
}
"""Ten plans of every kind, with settings that take long to solve."""
TWO_WEEKS: Final = range(14, 0, -1)


@pytest.fixture(autouse=True)
def _custom_integrations(enable_custom_integrations: None) -> None:
    """Let Home Assistant load the integration from this repository."""


@pytest.fixture
def demo_server(socket_enabled: None) -> Iterator[str]:
    """Run the demo market's server as a separate process."""
    tunnihind = str(Path(sys.executable).with_name("tunnihind"))
    port = free_port()
    command = [tunnihind, "serve", "--demo", "--no-announce", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    while process.poll() is None:
        try:
            urlopen(f"{url}/readyz").close()  # noqa: S310, our own server
        except HTTPError as not_ready:
            not_ready.close()
        except URLError:
            pass
        else:
            break
        time.sleep(0.2)
    yield url
    process.terminate()
    process.wait()


@pytest.mark.parametrize("billed_by", BILLED_BY)
async def test_poll(hass: HomeAssistant, demo_server: str, billed_by: str) -> None:
    coordinator = await _set_up(hass, demo_server, billed_by)

    def forget() -> None:
        coordinator.client._newest_answers.clear()

    written = _count_states(hass)
    _print(f"by the {billed_by}: poll, nothing new (304)", await _timed(coordinator.async_refresh, lambda: None))
    _print(f"by the {billed_by}: poll, whole answer (200)", await _timed(coordinator.async_refresh, forget))
    click.echo(f"states written by these polls (a change at the server writes each of them once): {len(written)}")


@pytest.mark.parametrize("billed_by", BILLED_BY)
@pytest.mark.parametrize("full_horizon", [False, True])
async def test_tick(make_home: MakeHome, billed_by: str, *, full_horizon: bool) -> None:
    home, what = await _home_with_plans(make_home, billed_by, full_horizon=full_horizon)
    coordinator = home.entry.runtime_data
    _let_two_weeks_have_run(coordinator)
    ticks = []
    step_s = QUARTER_S if billed_by == "quarter" else HOUR_S
    for begins in range(instant("2026-01-14T16:00:00+02:00"), instant("2026-01-16T00:00:00+02:00"), step_s):
        home.set_clock(begins)
        began = time.thread_time()
        coordinator.async_update_listeners()
        ticks.append(time.thread_time() - began)
        await home.settle()
    _print(f"{what}: tick", ticks)
    attributes = {
        name: len(json.dumps(value))
        for name, value in home.state("sensor", "current_price").attributes.items()
        if isinstance(value, list)
    }
    kept = len(json.dumps(asdict(coordinator._state_to_store())))
    click.echo(f"{what}: bytes of attributes {attributes}, of what is kept {kept}")


async def _home_with_plans(make_home: MakeHome, billed_by: str, *, full_horizon: bool) -> tuple[Home, str]:
    """Return a home with all plans at 15:00, and a name for its figures."""
    settings = Settings(full_horizon=full_horizon)
    home = await make_home("2026-01-14T15:00:00+02:00", "2026-01-16T01:00:00+02:00", settings=settings)
    home.serve_quarters()
    await home.add(plans=PLANS, options={"billed_by": billed_by})
    await home.poll()
    return home, f"by the {billed_by}{', whole horizon' if full_horizon else ''}"


def _let_two_weeks_have_run(coordinator: TunnihindCoordinator) -> None:
    """Give each plan a window on each of the last 14 days, at the times of its present plan."""
    for plan_id, outcome in coordinator.prices.outcomes.items():
        if isinstance(outcome, Window):
            coordinator.planner.begun_windows[plan_id] = [_days_earlier(outcome, days) for days in TWO_WEEKS]


def _days_earlier(window: Window, days: int) -> Window:
    pieces = tuple((start - days * DAY_S, end - days * DAY_S) for start, end in window.pieces)
    return replace(window, pieces=pieces, locked=True, last_run=None)


class _Browser:
    """A connection that counts its received bytes."""

    def __init__(self, user: User) -> None:
        self.user = user
        self.sent: list[int] = []

    def send_event(self, _: int, event: object) -> None:
        self.sent.append(len(json_bytes(event)))


@pytest.mark.parametrize("billed_by", BILLED_BY)
@pytest.mark.parametrize("full_horizon", [False, True])
async def test_card(make_home: MakeHome, hass_admin_user: User, billed_by: str, *, full_horizon: bool) -> None:
    home, what = await _home_with_plans(make_home, billed_by, full_horizon=full_horizon)
    browser = _Browser(hass_admin_user)
    openings = []
    for _ in range(POLLS):
        began = time.thread_time()
        close = async_subscribe_card(home.hass, home.entry, browser, 1)  # type: ignore[arg-type]
        openings.append(time.thread_time() - began)
        close()
    _print(f"{what}: card opened, {browser.sent[-1]} bytes", openings)
    async_subscribe_card(home.hass, home.entry, browser, 1)  # type: ignore[arg-type]
    browser.sent.clear()
    ticks = []
    step_s = QUARTER_S if billed_by == "quarter" else HOUR_S
    for begins in range(instant("2026-01-14T16:00:00+02:00"), instant("2026-01-15T00:00:00+02:00"), step_s):
        home.set_clock(begins)
        home.entry.runtime_data.async_update_listeners()
        [broadcaster] = home.hass.data[ENTRY_BROADCASTERS].values()
        began = time.thread_time()
        broadcaster.contents()
        ticks.append(time.thread_time() - began)
        await home.settle()
    _print(f"{what}: what a card shows, worked out at a tick", ticks)
    click.echo(f"{what}: bytes sent to a card by {len(ticks)} ticks: {browser.sent}")


async def _set_up(hass: HomeAssistant, url: str, billed_by: str) -> TunnihindCoordinator:
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="Tunnihind",
        data={"url": url, "instance_id": None},
        options={"billed_by": billed_by},
        subentries_data=[plan(name, data) for name, data in PLANS.items()],
    )
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED, entry.reason
    await hass.async_block_till_done(wait_background_tasks=True)
    coordinator: TunnihindCoordinator = entry.runtime_data
    return coordinator


async def _timed(poll: Callable[[], Awaitable[None]], before: Callable[[], None]) -> list[float]:
    times = []
    for _ in range(POLLS):
        before()
        began = time.thread_time()
        await poll()
        times.append(time.thread_time() - began)
        await asyncio.sleep(0)
    return times


def _count_states(hass: HomeAssistant) -> list[object]:
    written: list[object] = []

    @callback
    def count(event: object) -> None:
        written.append(event)

    hass.bus.async_listen("state_changed", count)
    hass.bus.async_listen("state_reported", count, event_filter=callback(lambda _: True))
    return written


def _print(what: str, seconds: Sequence[float]) -> None:
    milliseconds = [second * 1_000 for second in seconds]
    click.echo(f"{what}: median {statistics.median(milliseconds):.2f} ms, most {max(milliseconds):.2f} ms")

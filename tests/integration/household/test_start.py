"""The start of an entry while Home Assistant's own calendar is not ready yet."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from homeassistant.components import calendar
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.typing import ConfigType

from tests.support.household.home import PLAN_ID, Home, MakeHome

IMPORTS = """\
import sys
from custom_components import tunnihind
print([platform for platform in tunnihind.PLATFORMS if f"custom_components.tunnihind.{platform}" not in sys.modules])
"""


class SlowCalendar:
    """Home Assistant's calendar, whose set-up is held back until the test lets it go on."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.released = asyncio.Event()
        self._set_up = calendar.async_setup

    async def set_up(self, hass: HomeAssistant, config: ConfigType) -> bool:
        self.asked.set()
        await self.released.wait()
        return await self._set_up(hass, config)


@pytest.fixture
async def slow_calendar(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SlowCalendar]:
    """Hold the calendar back until the end of the test at the latest."""
    slow = SlowCalendar()
    monkeypatch.setattr(calendar, "async_setup", slow.set_up)
    yield slow
    slow.released.set()


@pytest.fixture
async def starting(make_home: MakeHome, slow_calendar: SlowCalendar) -> AsyncIterator[Home]:
    """Return a home whose entry has been set up as far as this is possible without a calendar."""
    home = await make_home()
    task = asyncio.create_task(home.add())
    await slow_calendar.asked.wait()
    yield home
    slow_calendar.released.set()
    await task


async def test_prices_and_plans_do_not_wait_for_the_calendar(starting: Home, slow_calendar: SlowCalendar) -> None:
    assert float(starting.value("current_price")) > 0
    assert not starting.is_on("data_problem")
    assert not starting.is_on("window", PLAN_ID)
    assert starting.state("switch", "enabled", PLAN_ID).state == "on"
    slow_calendar.released.set()
    await starting.settle()
    assert starting.state("calendar", "plans").state == "off"


async def test_a_reload_before_the_calendar_is_ready_leaves_one_calendar(
    hass: HomeAssistant, starting: Home, slow_calendar: SlowCalendar
) -> None:
    reload = asyncio.create_task(hass.config_entries.async_reload(starting.entry.entry_id))
    slow_calendar.released.set()
    assert await reload
    await starting.settle()
    assert starting.entry.state is ConfigEntryState.LOADED
    assert [state.state for state in hass.states.async_all("calendar")] == ["off"]
    assert float(starting.value("current_price")) > 0


async def test_a_removal_before_the_calendar_is_ready_leaves_no_entity(
    hass: HomeAssistant, starting: Home, slow_calendar: SlowCalendar
) -> None:
    removal = asyncio.create_task(hass.config_entries.async_remove(starting.entry.entry_id))
    slow_calendar.released.set()
    await removal
    await starting.settle()
    assert hass.states.async_all() == []
    assert not er.async_get(hass).entities


def test_the_platforms_are_imported_together_with_the_integration() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

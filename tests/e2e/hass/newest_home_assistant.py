"""The newest Home Assistant has nothing to say against the integration, with two entries, many plans and the card.

pytest does not collect this file by itself. `./run test-newest-home-assistant` runs it.
"""

import pytest
from playwright.async_api import Page

from tests.support.hass.api import Json
from tests.support.hass.pages import device_pages, opened, owner_s_browser
from tests.support.hass.real_home import RealHome

pytestmark = pytest.mark.timeout(900)

ZONES = "ee,lv"
PLANS = 25
_CARD = "tunnihind-card"


async def test_nothing_names_us_with_two_entries_many_plans_and_the_card(real_home: RealHome) -> None:
    for number in range(1, PLANS):
        await real_home.add_plan(f"Device {number}", 1 + number % 5, deadline=f"{number % 24:02}:30:00")
    await real_home.add_integration("lv")
    assert await complaints_of_pages(real_home) == []

    await real_home.restart_home_assistant(later=0)
    for entry in await entries(real_home):
        assert entry["state"] == "loaded", entry
    windows = [state for state in await real_home.hass.states() if state.entity_id.endswith("_window")]
    assert len(windows) >= PLANS + 1
    assert not [state.entity_id for state in windows if state.state == "unavailable"]
    assert await complaints_of_pages(real_home) == []
    await real_home.hass.process.stop()
    assert real_home.hass.process.complaints_about_us() == []


async def entries(real_home: RealHome) -> list[Json]:
    found: list[Json] = await real_home.hass.command("config_entries/get", domain="tunnihind")
    assert len(found) == 2
    return found


async def complaints_of_pages(real_home: RealHome) -> list[str]:
    """Open the card, the integration, an entry and a plan, and return what the browser says against us."""
    said: list[str] = []
    devices = await device_pages(real_home)
    paths = ["/of-a-file/prices", "/config/integrations/integration/tunnihind"]
    paths += [devices["Tunnihind demo"], devices["Device 1"]]
    async with owner_s_browser(real_home) as context:
        for path in paths:
            async with opened(context, real_home, path) as page:
                note_complaints(page, said)
                await page.reload()
                await page.locator(_CARD if path == paths[0] else "home-assistant-main").first.wait_for()
                await page.wait_for_load_state("networkidle")
    return [text for text in said if "tunnihind" in text.lower()]


def note_complaints(page: Page, said: list[str]) -> None:
    """Add the page's errors and its console's warnings to a list, with the script from which they come."""
    page.on("pageerror", lambda error: said.append(f"{error} {error.stack}"))
    page.on(
        "console",
        lambda message: (
            said.append(f"{message.text} {message.location}") if message.type in {"warning", "error"} else None
        ),
    )

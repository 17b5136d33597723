"""The integration's pages in a browser."""

import pytest

from tests.support.hass.pages import device_pages, opened, owner_s_browser
from tests.support.hass.real_home import RealHome
from tests.support.machine.processes import until

pytestmark = pytest.mark.timeout(300)


async def test_the_pages_of_the_devices_show_prices_and_the_window(real_home: RealHome) -> None:
    pages = await device_pages(real_home)
    price = (await real_home.shows("current_price")).state
    async with owner_s_browser(real_home) as context:
        async with opened(context, real_home, pages["Tunnihind demo"]) as page:
            await page.get_by_text(f"{price} EUR/kWh").first.wait_for()
            await page.get_by_text("Tomorrow's prices known").wait_for()
        async with opened(context, real_home, pages["Cheapest 3 hours"]) as page:
            await page.get_by_text("Window start").wait_for()


async def test_the_integration_has_its_own_mark(real_home: RealHome) -> None:
    async with (
        owner_s_browser(real_home) as context,
        opened(context, real_home, "/config/integrations/integration/tunnihind") as page,
    ):
        mark = page.get_by_role("img", name="Tunnihind").first
        await mark.wait_for()
        assert await mark.evaluate("async image => { await image.decode(); return image.naturalWidth }") >= 256


async def test_a_plan_that_was_just_changed_is_so_after_a_power_cut(real_home: RealHome) -> None:
    entry_id = (await real_home.entry())["entry_id"]
    registry = real_home.hass.process.folder / ".storage/core.entity_registry"

    async def are_entities_saved() -> bool:
        return registry.exists() and entry_id in registry.read_text()

    # Home Assistant saves its registries ten seconds late, and an earlier test may just have added the entry.
    assert await until(are_entities_saved)
    window, switch = [await real_home.entity(key) for key in ("window", "enabled")]
    await real_home.hass.call("tunnihind.update_plan", entity_id=window, enabled=False)
    await real_home.hass.process.kill()
    real_home.hass.process.start()
    await real_home.hass.until_running()
    await real_home.until_loaded()
    assert await real_home.hass.shows(switch) == "off"
    assert (await real_home.shows("status")).state == "switched_off"
    async with (
        owner_s_browser(real_home) as context,
        opened(context, real_home, (await device_pages(real_home))["Cheapest 3 hours"]) as page,
    ):
        await page.get_by_text("Switched off").wait_for()
    await real_home.hass.call("tunnihind.update_plan", entity_id=window, enabled=True)

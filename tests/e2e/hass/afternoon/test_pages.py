"""The integration's pages in a browser."""

from datetime import date
from typing import Final

import pytest

from tests.support.hass.pages import device_pages, opened, owner_s_browser
from tests.support.hass.real_home import RealHome
from tests.support.machine.processes import until
from tunnihind.core.market import ESTONIA, HOUR_S, iso_utc

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


NAME: Final = "Estfeed import"
METER: Final = {
    "statistic_id": "estfeed:import",
    "source": "estfeed",
    "name": NAME,
    "unit_of_measurement": "kWh",
    "unit_class": "energy",
    "has_sum": True,
    "mean_type": 0,
}


async def test_a_comparison_of_contracts_is_a_table_in_the_options(real_home: RealHome) -> None:
    """The demo has prices of the year before."""
    hours = range(ESTONIA.midnight(date(2025, 12, 1)), ESTONIA.midnight(date(2026, 1, 1)), HOUR_S)
    rows = [{"start": iso_utc(hour), "state": 0.5, "sum": place / 2} for place, hour in enumerate(hours, 1)]
    await real_home.hass.command("recorder/import_statistics", metadata=METER, stats=rows)

    async def is_imported() -> bool:
        return bool(await real_home.hass.command("recorder/list_statistic_ids", statistic_type="sum"))

    assert await until(is_imported)
    async with (
        owner_s_browser(real_home) as context,
        opened(context, real_home, "/config/integrations/integration/tunnihind") as page,
    ):
        await page.get_by_label("Configure").first.click()
        await page.get_by_text("Compare contracts").click()
        picker = page.locator("ha-statistic-picker").first
        await picker.click()
        await page.get_by_text(NAME).click()
        await picker.get_by_text(NAME).wait_for()
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("cell", name="372", exact=True).first.wait_for()
        await page.get_by_text("A year that was is not a year to come").wait_for()


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

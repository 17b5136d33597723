"""Take pictures of the integration's pages and of a dashboard, light and dark:

    python -m tests.support.hass.screenshots FOLDER

The guides use the pictures `home-assistant.png`, `home-assistant-week.png` and `home-assistant-quarters.png`.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import BrowserContext, ViewportSize

from tests.support.hass.api import Json
from tests.support.hass.pages import PHONE, Theme, device_pages, opened, owner_s_browser
from tests.support.hass.quarter_day import bill_by_quarter, live_quarters
from tests.support.hass.real_home import RealHome
from tunnihind.core.market import ESTONIA, HOUR_S

_THEMES: tuple[Theme, ...] = ("light", "dark")

# The height covers all tiles.
DOCS_SIZE: ViewportSize = {"width": 1280, "height": 850}
WEEK_SIZE: ViewportSize = {"width": 760, "height": 520}
# Home Assistant draws icons and lists one after the other, and no event marks the end.
_REST_MS = 5000
HISTORY_SIZE: ViewportSize = {"width": 1280, "height": 520}


async def pages_of(real_home: RealHome) -> dict[str, str]:
    """Return the paths of the pages by the names of their pictures."""
    devices = await device_pages(real_home)
    return {f"device-{name.lower().replace(' ', '-')}": path for name, path in devices.items()} | {
        "integration": "/config/integrations/integration/tunnihind",
        "dashboard": "/tunnihind-home/prices",
        "calendar": "/calendar",
    }


async def pay_fees(real_home: RealHome) -> None:
    """Fill in the household's fees, so that the card shows all parts of the price."""
    figures = {
        "supply": {"vat_percent": 24, "margin": 0.5, "fees_include_vat": False},
        "network": {
            "network_day": 3.69,
            "network_night": 2.1,
        },
        "levies": {"excise": 0.307, "renewable": 0.84},
    }
    entry_id = (await real_home.entry())["entry_id"]
    outcome = await real_home.hass.flow(entry_id, {"next_step_id": "prices"}, figures, kind="options/flow")
    assert outcome["type"] == "create_entry", outcome


async def make_dashboard(real_home: RealHome) -> None:
    """Make two dashboards: one with the card and Home Assistant's own cards, and one with the card alone."""
    await real_home.hass.command(
        "lovelace/dashboards/create", url_path="tunnihind-home", title="Electricity", mode="storage", icon="mdi:flash"
    )
    registry = await real_home.hass.command("config/entity_registry/list")
    ours = [each for each in registry if each["platform"] == "tunnihind" and each["disabled_by"] is None]
    by_key = {each["translation_key"]: each["entity_id"] for each in ours}
    config = dashboard(by_key)
    await real_home.hass.command("lovelace/config/save", url_path="tunnihind-home", config=config)


def dashboard(entities: dict[str, str]) -> Json:
    """Return a dashboard with the entities, which are given by their translation keys."""
    tiles = ("current_price", "next_price", "price_level", "cheap_hour", "tomorrow_known", "data_problem")
    plan = ("window", "window_start", "window_end", "window_average", "window_saving", "window_chance")
    sections = [
        {"type": "grid", "column_span": 2, "cards": [price_card(grid_options={"columns": "full", "rows": 6})]},
        {"type": "grid", "cards": [heading("Now"), *(tile(entities[key]) for key in tiles)]},
        {"type": "grid", "cards": [heading("Plan"), entity_list(entities[key] for key in plan)]},
    ]
    return {
        "views": [
            {"path": "prices", "title": "Prices", "type": "sections", "max_columns": 2, "sections": sections},
            {"path": "week", "title": "Week", "type": "panel", "cards": [price_card(range="week")]},
        ]
    }


def price_card(**options: Json) -> Json:
    return {"type": "custom:tunnihind-card", **options}


def tile(entity_id: str) -> Json:
    """Return a tile without the device in its name, because all tiles belong to the same device."""
    return {"type": "tile", "entity": entity_id, "name": {"type": "entity"}}


def heading(text: str) -> Json:
    return {"type": "heading", "heading": text}


def entity_list(entities: Iterable[str]) -> Json:
    return {"type": "entities", "entities": list(entities)}


async def take(real_home: RealHome, folder: Path) -> None:
    """Take all pictures."""
    pages = await pages_of(real_home)
    for theme in _THEMES:
        async with owner_s_browser(real_home, theme=theme) as context:
            for name, path in pages.items():
                await picture(context, real_home, path, folder / f"{name}-{theme}.png")
    async with owner_s_browser(real_home, size=DOCS_SIZE) as context:
        await picture(context, real_home, pages["dashboard"], folder / "home-assistant.png")
    async with owner_s_browser(real_home, size=WEEK_SIZE, theme="dark") as context:
        await picture(context, real_home, "/tunnihind-home/week", folder / "home-assistant-week.png")
    async with owner_s_browser(real_home, size=PHONE) as context:
        await picture(context, real_home, pages["dashboard"], folder / "dashboard-phone.png")


async def picture(context: BrowserContext, real_home: RealHome, path: str, file: Path) -> None:
    async with opened(context, real_home, path) as page:
        await page.wait_for_timeout(_REST_MS)
        await page.screenshot(path=file)


async def live_and_take(temporary: Path, folder: Path) -> None:
    """Run a home at the machine's own time, which the browser also uses, and take the pictures."""
    async with RealHome.inhabited(temporary) as real_home:
        await real_home.add_plan("Dishwasher", 2, deadline="07:00:00")
        await pay_fees(real_home)
        await make_dashboard(real_home)
        await take(real_home, folder)


async def live_by_quarters_and_take(temporary: Path, folder: Path) -> None:
    """Run a home, billed by the quarter, through yesterday, and take a picture of the price's history."""
    today = datetime.now(ESTONIA.time_zone).date()
    start_ts, end_ts = ESTONIA.midnight(today - timedelta(days=1)), ESTONIA.midnight(today)
    begins = datetime.fromtimestamp(start_ts - HOUR_S, UTC).isoformat()
    async with RealHome.inhabited(temporary, begins) as real_home:
        await bill_by_quarter(real_home)
        await live_quarters(real_home, start_ts, end_ts)
        start, end = (f"{datetime.fromtimestamp(ts, UTC):%Y-%m-%dT%H:%M:%SZ}" for ts in (start_ts, end_ts))
        path = f"/history?entity_id={await real_home.entity('current_price')}&start_date={start}&end_date={end}"
        async with owner_s_browser(real_home, size=HISTORY_SIZE) as context:
            await picture(context, real_home, path, folder / "home-assistant-quarters.png")


def main(folder: Path) -> None:
    """Take the pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(live_by_quarters_and_take(Path(temporary), folder))
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(live_and_take(Path(temporary), folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

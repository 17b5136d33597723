"""The pictures of Home Assistant in the guides: a dashboard, the card, the form of a plan, and two zones."""

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import BrowserContext, ViewportSize

from tests.support.hass.api import Json
from tests.support.hass.card_dashboard import browser_at_home
from tests.support.hass.pages import opened
from tests.support.hass.quarter_day import bill_by_quarter, live_quarters
from tests.support.hass.real_home import RealHome
from tests.support.pages.pictures import MORNING, Picture, take_picture
from tunnihind.core.market import ESTONIA, HOUR_S

HOME = (
    "home-assistant.png",
    "home-assistant-week.png",
    "home-assistant-plan.png",
    "home-assistant-plan-sections.png",
    "home-assistant-zones.png",
)
"""The pictures of one morning."""
QUARTERS = "home-assistant-quarters.png"

# The height covers all tiles.
_DASHBOARD_SIZE: ViewportSize = {"width": 1280, "height": 850}
_WEEK_SIZE: ViewportSize = {"width": 760, "height": 520}
_FORM_SIZE: ViewportSize = {"width": 640, "height": 4800}
_ZONES_SIZE: ViewportSize = {"width": 860, "height": 1275}
_HISTORY_SIZE: ViewportSize = {"width": 1280, "height": 520}
# Home Assistant draws icons and lists one after the other, and no event marks the end.
_REST_MS = 5000


async def home_pictures(folder: Path) -> AsyncIterator[Picture]:
    """Take the pictures `HOME` of a home in `folder`."""
    async with RealHome.inhabited(folder, MORNING, zones="ee,fi") as real_home:
        await real_home.add_plan("Dishwasher", 2, deadline="07:00:00")
        await _pay_fees(real_home)
        await _make_dashboard(real_home)
        dashboard, week, *forms, zones = HOME
        async with browser_at_home(real_home, size=_DASHBOARD_SIZE) as context:
            yield await _picture(context, real_home, "/tunnihind-home/prices", dashboard)
        async with browser_at_home(real_home, size=_WEEK_SIZE, theme="dark") as context:
            yield await _picture(context, real_home, "/tunnihind-home/week", week)
        async with browser_at_home(real_home, size=_FORM_SIZE) as context:
            async for picture in _plan_forms(context, real_home, *forms):
                yield picture
        await real_home.add_integration("fi")
        async with browser_at_home(real_home, size=_ZONES_SIZE) as context:
            yield await _picture(context, real_home, "/config/integrations/integration/tunnihind", zones)


async def quarters_picture(folder: Path) -> AsyncIterator[Picture]:
    """Take the picture `QUARTERS` of a home in `folder` that is billed by the quarter, after a whole day there."""
    today = datetime.fromisoformat(MORNING).astimezone(ESTONIA.time_zone).date()
    start_ts, end_ts = ESTONIA.midnight(today - timedelta(days=1)), ESTONIA.midnight(today)
    begins = datetime.fromtimestamp(start_ts - HOUR_S, UTC).isoformat()
    async with RealHome.inhabited(folder, begins) as real_home:
        await bill_by_quarter(real_home)
        await live_quarters(real_home, start_ts, end_ts)
        start, end = (f"{datetime.fromtimestamp(ts, UTC):%Y-%m-%dT%H:%M:%SZ}" for ts in (start_ts, end_ts))
        path = f"/history?entity_id={await real_home.entity('current_price')}&start_date={start}&end_date={end}"
        async with browser_at_home(real_home, size=_HISTORY_SIZE) as context:
            yield await _picture(context, real_home, path, QUARTERS)


async def _picture(context: BrowserContext, real_home: RealHome, path: str, name: str) -> Picture:
    async with opened(context, real_home, path) as page:
        await page.wait_for_timeout(_REST_MS)
        return await take_picture(page, name)


async def _plan_forms(context: BrowserContext, real_home: RealHome, *names: str) -> AsyncIterator[Picture]:
    """Open the form of a new plan for the cheapest hours, first with its sections folded, then unfolded."""
    folded, unfolded = names
    async with opened(context, real_home, "/config/integrations/integration/tunnihind") as page:
        await page.get_by_role("button", name="Add plan").click()
        form = page.locator("dialog-data-entry-flow")
        await form.get_by_role("button", name="Submit").click()
        headers = form.locator("ha-expansion-panel [slot=header]")
        await headers.first.wait_for()
        await page.wait_for_timeout(_REST_MS)
        yield await take_picture(page, folded, only=form.locator("dialog"))
        for header in await headers.all():
            await header.click()
        await page.wait_for_timeout(_REST_MS)
        yield await take_picture(page, unfolded, only=form.locator("dialog"))


async def _pay_fees(real_home: RealHome) -> None:
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


async def _make_dashboard(real_home: RealHome) -> None:
    """Make two dashboards: one with the card and Home Assistant's own cards, and one with the card alone."""
    await real_home.hass.command(
        "lovelace/dashboards/create", url_path="tunnihind-home", title="Electricity", mode="storage", icon="mdi:flash"
    )
    registry = await real_home.hass.command("config/entity_registry/list")
    ours = [each for each in registry if each["platform"] == "tunnihind" and each["disabled_by"] is None]
    by_key = {each["translation_key"]: each["entity_id"] for each in ours}
    config = _dashboard(by_key)
    await real_home.hass.command("lovelace/config/save", url_path="tunnihind-home", config=config)


def _dashboard(entities: dict[str, str]) -> Json:
    """Return a dashboard with the entities, which are given by their translation keys."""
    tiles = ("current_price", "next_price", "price_level", "cheap_hour", "tomorrow_known", "data_problem")
    plan = ("window", "window_start", "window_end", "window_average", "window_saving", "window_chance")
    sections = [
        {"type": "grid", "column_span": 2, "cards": [_price_card(grid_options={"columns": "full", "rows": 6})]},
        {"type": "grid", "cards": [_heading("Now"), *(_tile(entities[key]) for key in tiles)]},
        {"type": "grid", "cards": [_heading("Plan"), _entity_list(entities[key] for key in plan)]},
    ]
    return {
        "views": [
            {"path": "prices", "title": "Prices", "type": "sections", "max_columns": 2, "sections": sections},
            {"path": "week", "title": "Week", "type": "panel", "cards": [_price_card(range="week")]},
        ]
    }


def _price_card(**options: Json) -> Json:
    return {"type": "custom:tunnihind-card", **options}


def _tile(entity_id: str) -> Json:
    """Return a tile without the device in its name, because all tiles belong to the same device."""
    return {"type": "tile", "entity": entity_id, "name": {"type": "entity"}}


def _heading(text: str) -> Json:
    return {"type": "heading", "heading": text}


def _entity_list(entities: Iterable[str]) -> Json:
    return {"type": "entities", "entities": list(entities)}

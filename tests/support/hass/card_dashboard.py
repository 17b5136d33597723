"""A dashboard with the card in every kind of view."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from playwright.async_api import BrowserContext, Locator, Page

from tests.support.hass.api import Json
from tests.support.hass.pages import DESKTOP, Theme, opened, owner_s_browser
from tests.support.hass.real_home import RealHome

DASHBOARD: Final = "card-home"
CARD: Final = "custom:tunnihind-card"
SIZES: Final = ((12, 6), (6, 3), (12, 2), (24, 8))
"""Columns and rows of a card in the sections view: the usual size, small sizes and large sizes."""


async def make_card_dashboard(real_home: RealHome, **options: Json) -> None:
    """Make or replace the dashboard. All its cards have these options."""
    dashboards = await real_home.hass.command("lovelace/dashboards/list")
    if DASHBOARD not in {each["url_path"] for each in dashboards}:
        await real_home.hass.command(
            "lovelace/dashboards/create", url_path=DASHBOARD, title="Card", mode="storage", icon="mdi:flash"
        )
    card = {"type": CARD, **options}
    sized = [{**card, "grid_options": {"columns": columns, "rows": rows}} for columns, rows in SIZES]
    views = [
        {"path": "one", "title": "One", "type": "sections", "sections": [{"type": "grid", "cards": [card]}]},
        {
            "path": "sections",
            "title": "Sections",
            "type": "sections",
            "sections": [{"type": "grid", "column_span": 2, "cards": sized}],
        },
        {"path": "masonry", "title": "Masonry", "type": "masonry", "cards": [card]},
        {"path": "panel", "title": "Panel", "type": "panel", "cards": [card]},
    ]
    await real_home.hass.command("lovelace/config/save", url_path=DASHBOARD, config={"views": views})


@asynccontextmanager
async def browser_at_home(real_home: RealHome, **options: Json) -> AsyncIterator[BrowserContext]:
    """Return the owner's browser, with a clock that shows the home's time."""
    async with owner_s_browser(real_home, **options) as context:
        await context.clock.install(time=real_home.clock.now())
        yield context


@asynccontextmanager
async def opened_view(
    real_home: RealHome, view: str = "one", *, theme: Theme = "light", size: Json = DESKTOP
) -> AsyncIterator[Page]:
    """Return a page with one of the dashboard's views, when its first card has appeared."""
    async with (
        browser_at_home(real_home, theme=theme, size=size) as context,
        opened(context, real_home, f"/{DASHBOARD}/{view}") as page,
    ):
        await card_in(page).wait_for()
        yield page


def card_in(page: Page) -> Locator:
    """Return the first card of a page.

    The card's content is in a shadow root, which Playwright's locators also search.
    """
    return page.locator("tunnihind-card").first

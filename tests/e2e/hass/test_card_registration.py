"""The card in a real Home Assistant: it is there with nothing to install, wherever and however one looks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, Page, Route

from tests.support.hass.https import https_front
from tests.support.hass.pages import opened, owner_s_browser
from tests.support.hass.real_home import RealHome

pytestmark = pytest.mark.timeout(180)

FROM_A_FILE = "/of-a-file/prices"
"""A dashboard that is written in YAML."""
_LATE_S = 2


async def in_cents(real_home: RealHome) -> str:
    """Return the current price as people read it."""
    return f"{(await real_home.shows('current_price')).number * 100:.2f}"


def card_on(page: Page) -> Locator:
    return page.locator("tunnihind-card")


async def make_dashboard(real_home: RealHome, url_path: str, *cards: dict[str, str]) -> str:
    """Make a dashboard as people do on its page, and return its path."""
    sections = [{"type": "grid", "cards": list(cards)}]
    config = {"views": [{"path": "prices", "title": "Prices", "type": "sections", "sections": sections}]}
    await real_home.hass.command("lovelace/dashboards/create", url_path=url_path, title=url_path, mode="storage")
    await real_home.hass.command("lovelace/config/save", url_path=url_path, config=config)
    return f"/{url_path}/prices"


@asynccontextmanager
async def away_from_home(real_home: RealHome, folder: Path) -> AsyncIterator[BrowserContext]:
    """Return a browser that reaches Home Assistant over https only, and the server not at all."""

    async def refuse(route: Route) -> None:
        await route.abort()

    async with (
        https_front(real_home.hass.process.url, folder) as address,
        owner_s_browser(real_home, address=address) as context,
    ):
        await context.route(lambda url: not url.startswith(address), refuse)
        yield context


async def test_a_dashboard_of_either_mode_shows_the_card(real_home: RealHome) -> None:
    made = await make_dashboard(real_home, "made-here", {"type": "custom:tunnihind-card"})
    price = await in_cents(real_home)
    async with owner_s_browser(real_home) as context:
        for path in (FROM_A_FILE, made):
            async with opened(context, real_home, path) as page:
                await card_on(page).get_by_text(price).first.wait_for()


async def test_the_card_is_there_though_its_file_comes_before_home_assistant_s_own(real_home: RealHome) -> None:
    """Home Assistant replaces the browser's registry of elements as it starts, and forgets who came before."""

    async def come_late(route: Route) -> None:
        await asyncio.sleep(_LATE_S)
        await route.continue_()

    price = await in_cents(real_home)
    async with owner_s_browser(real_home) as context:
        await context.route("**/frontend_latest/app.*.js", come_late)
        async with opened(context, real_home, FROM_A_FILE) as page:
            await card_on(page).get_by_text(price).first.wait_for()


async def test_the_card_works_over_https_with_the_server_s_port_closed(real_home: RealHome, tmp_path: Path) -> None:
    price = await in_cents(real_home)
    async with away_from_home(real_home, tmp_path) as context, opened(context, real_home, FROM_A_FILE) as page:
        await card_on(page).get_by_text(price).first.wait_for()
        assert page.url.startswith("https://")


async def test_the_card_is_there_after_a_restart(real_home: RealHome) -> None:
    await real_home.restart_home_assistant(later=0)
    await real_home.until_loaded()
    price = await in_cents(real_home)
    async with owner_s_browser(real_home) as context, opened(context, real_home, FROM_A_FILE) as page:
        await card_on(page).get_by_text(price).first.wait_for()


async def test_the_card_goes_with_the_last_server(real_home: RealHome) -> None:
    """The last of these tests: nothing is left to look at."""
    entry_id = (await real_home.entry())["entry_id"]
    async with owner_s_browser(real_home) as context:
        async with opened(context, real_home, FROM_A_FILE) as page:
            await card_on(page).wait_for()
            await real_home.hass.delete(f"/api/config/config_entries/entry/{entry_id}")
            await card_on(page).get_by_text("removed").first.wait_for()
        async with opened(context, real_home, FROM_A_FILE) as page:
            await page.locator("hui-error-card").first.wait_for()
            assert not await page.evaluate("customElements.get('tunnihind-card')")

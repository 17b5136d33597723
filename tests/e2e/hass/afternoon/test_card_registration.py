"""The card in a real Home Assistant: it needs no installation, on every kind of dashboard and connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, Page, Route

from tests.support.hass.https import https_front
from tests.support.hass.pages import opened, owner_s_browser
from tests.support.hass.real_home import RealHome

pytestmark = pytest.mark.timeout(300)

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
    """Home Assistant replaces the browser's registry of elements at its start, and forgets earlier elements."""

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


async def test_the_card_is_picked_with_a_preview_set_up_by_its_form_and_saved(real_home: RealHome) -> None:
    path = await make_dashboard(real_home, "picked-here")
    price = await in_cents(real_home)
    async with owner_s_browser(real_home) as context, opened(context, real_home, f"{path}?edit=1") as page:
        await page.get_by_role("button", name="Add card").first.click()
        await page.get_by_text("By card").click()
        await page.get_by_role("textbox").last.fill("Tunnihind")
        offered = page.locator(".card", has=card_on(page))
        await offered.get_by_text(price).first.wait_for()
        await offered.locator(".overlay").click()
        form = page.locator("hui-dialog-edit-card")
        await form.locator("ha-selector-text input").fill("My price")
        await form.locator("ha-selector-boolean").first.locator("ha-switch").click()
        await card_on(page).get_by_text("My price").wait_for()
        await page.get_by_role("button", name="Save").click()
        await form.wait_for(state="hidden")
    config = await real_home.hass.command("lovelace/config", url_path="picked-here")
    [card] = config["views"][0]["sections"][0]["cards"]
    assert card == {"type": "custom:tunnihind-card", "title": "My price", "show_plans": False}


async def test_the_card_is_suggested_for_the_integration_s_entities_and_no_others(real_home: RealHome) -> None:
    path = await make_dashboard(real_home, "suggested-here")
    entry_id = (await real_home.entry())["entry_id"]
    ours = await real_home.entity("current_price")
    ask = """(id) => {
      const home = document.querySelector("home-assistant").hass;
      return window.customCards.find((card) => card.type === "tunnihind-card").getEntitySuggestion(home, id);
    }"""
    async with owner_s_browser(real_home) as context, opened(context, real_home, path) as page:
        await page.wait_for_function("window.customCards?.length && document.querySelector('home-assistant').hass")
        assert await page.evaluate(ask, ours) == {"config": {"type": "custom:tunnihind-card", "entry_id": entry_id}}
        assert await page.evaluate(ask, "person.mari") is None
        assert await page.evaluate(ask, "sensor.gone") is None


@asynccontextmanager
async def language_of_the_owner(real_home: RealHome, language: str) -> AsyncIterator[None]:
    """Set the owner's language, and English afterwards."""
    for_owner = partial(real_home.hass.command, "frontend/set_user_data", key="language")
    await for_owner(value={"language": language})
    try:
        yield
    finally:
        await for_owner(value={"language": "en"})


@pytest.mark.parametrize(("language", "label"), [("en", "Show plans"), ("et", "Näita plaane")])
async def test_the_form_speaks_the_language_of_who_fills_it_in(real_home: RealHome, language: str, label: str) -> None:
    path = await make_dashboard(real_home, f"form-in-{language}", {"type": "custom:tunnihind-card"})
    async with (
        language_of_the_owner(real_home, language),
        owner_s_browser(real_home) as context,
        opened(context, real_home, f"{path}?edit=1") as page,
    ):
        await card_on(page).wait_for()
        await page.locator("hui-card-edit-mode .control").first.dispatch_event("click")
        await page.locator("hui-dialog-edit-card").get_by_text(label).first.wait_for()


async def test_the_card_is_there_after_a_restart(real_home: RealHome) -> None:
    await real_home.restart_home_assistant(later=0)
    await real_home.until_loaded()
    price = await in_cents(real_home)
    async with owner_s_browser(real_home) as context, opened(context, real_home, FROM_A_FILE) as page:
        await card_on(page).get_by_text(price).first.wait_for()


async def test_the_card_goes_with_the_last_server(real_home: RealHome) -> None:
    entry_id = (await real_home.entry())["entry_id"]
    async with owner_s_browser(real_home) as context:
        async with opened(context, real_home, FROM_A_FILE) as page:
            await card_on(page).wait_for()
            await real_home.hass.delete(f"/api/config/config_entries/entry/{entry_id}")
            await card_on(page).get_by_text("isn't there any more").first.wait_for()
        async with opened(context, real_home, FROM_A_FILE) as page:
            await page.locator("hui-error-card").first.wait_for()
            assert not await page.evaluate("customElements.get('tunnihind-card')")
    await real_home.add_integration()
    await real_home.until_loaded()

"""The API reference in a real browser."""

import json
import re

import pytest
from playwright.async_api import Browser, expect

from tests.support.api.api_server import RunningServer, Serve
from tests.support.pages import sample_views
from tests.support.pages.browser import WatchedPage, address_of, open_options, open_page
from tunnihind.settings import Settings
from tunnihind.web.reference import RECIPE_CLIENTS, read_recipe


async def test_trying_a_resource_shows_the_live_answer(watched_page: WatchedPage, server: RunningServer) -> None:
    page = await watched_page.show("/docs#getForecast")
    section = page.locator("#getForecast")
    await section.get_by_role("button", name="Try it").click()
    await expect(section.locator("[data-status]")).to_contain_text("200 OK")
    shown = await section.locator("[data-body]").inner_text()
    served = json.loads((await server.ask("/api/v1/forecast")).body)
    assert shown.startswith(json.dumps(served, indent=2, ensure_ascii=False)[:2000])


async def test_trying_a_table_shows_its_rows(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/docs#getAccuracy")
    section = page.locator("#getAccuracy")
    await section.get_by_role("combobox").select_option("csv")
    await section.get_by_role("button", name="Try it").click()
    await expect(section.locator("[data-status]")).to_contain_text("text/csv")
    await expect(section.locator("[data-body]")).to_contain_text("issuedOn,deliveryDay,daysAhead")


async def test_trying_a_wrong_parameter_shows_the_problem(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/docs#getSeries")
    section = page.locator("#getSeries")
    await section.get_by_role("textbox").fill("abc")
    await section.get_by_role("button", name="Try it").click()
    await expect(section.locator("[data-status]")).to_contain_text("400")
    await expect(section.locator("[data-body]")).to_contain_text("give one or two digits")
    # The browser's console logs every 400.
    assert ["400" in complaint for complaint in watched_page.console_errors] == [True]
    watched_page.console_errors.clear()


async def test_recipes_name_the_address_at_which_the_reader_is(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/docs")
    for file in RECIPE_CLIENTS:
        code = await page.locator(f'[data-recipe="{file}"]').text_content()
        assert code == read_recipe(file, watched_page.address)
    assert "tunnihind.local" not in await page.content()


async def test_a_public_address_stands_in_the_recipes_as_the_operator_gave_it(browser: Browser, serve: Serve) -> None:
    server = await serve(sample_views.ordinary(), settings=Settings(public_url="https://hind.example"))
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show("/docs")
        await expect(page.locator('[data-recipe="curl.sh"]')).to_contain_text("https://hind.example/api/v1/forecast")


async def test_copying_puts_a_recipe_on_the_clipboard(watched_page: WatchedPage) -> None:
    await watched_page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = await watched_page.show("/docs#recipe-evcc")
    recipe = page.locator("#recipe-evcc")
    await recipe.get_by_role("button", name="Copy").click()
    await expect(recipe.get_by_role("button")).to_have_text("Copied")
    assert await page.evaluate("navigator.clipboard.readText()") == await recipe.locator("code").text_content()


async def test_resources_stand_in_groups_and_the_first_is_open_with_its_answer(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/docs")
    headings = await page.locator("h2").all_inner_texts()
    assert headings[:4] == ["Rules", "Prices", "Feeds", "Operation"]
    contents = page.get_by_role("navigation", name="Contents")
    for group, path in [("Prices", "/api/series"), ("Feeds", "/api/feeds/evcc"), ("Operation", "/readyz")]:
        await expect(contents.get_by_role("listitem").filter(has_text=group).first).to_contain_text(path)
    unfolded = page.locator("details.entry[open]")
    await expect(unfolded).to_have_count(1)
    await expect(unfolded).to_contain_text("GET /api/v1/forecast")
    await expect(unfolded.locator("pre").last).to_contain_text('"dayAhead"')
    await expect(unfolded.locator("pre").last).to_be_visible()


async def test_a_problem_leads_to_its_description(watched_page: WatchedPage, server: RunningServer) -> None:
    problem = json.loads((await server.ask("/api/series?days=abc")).body)
    page = await watched_page.show(f"/docs#{problem['type'].partition('#')[2]}")
    await expect(page.locator("#errors ~ .terms :target")).to_contain_text("The request is invalid")


async def test_the_reference_is_there_in_estonian(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/docs?lang=et")
    await expect(page.get_by_role("heading", name="API kirjeldus")).to_be_visible()
    await expect(page.locator("#ForecastHour")).to_contain_text("10. protsentiil, EUR/MWh käibemaksuta")
    await open_options(page)
    await page.get_by_role("link", name="In English").click()
    await page.wait_for_url(re.compile("lang=en"))
    await expect(page.get_by_role("heading", name="API reference")).to_be_visible()


async def test_everything_can_be_read_on_a_phone_without_scrolling_sideways(browser: Browser, serve: Serve) -> None:
    server = await serve(sample_views.ordinary())
    for width in (320, 390):
        async with open_page(browser, address_of(server), viewport={"width": width, "height": 844}) as seen:
            page = await seen.show("/docs?lang=et")
            assert await page.evaluate("document.documentElement.scrollHeight / innerHeight") < 12
            await page.get_by_role("button", name="Ava kõik").click()
            await page.evaluate("for (const one of document.querySelectorAll('details details')) one.open = true")
            await expect(page.get_by_role("button", name="Sulge kõik")).to_be_visible()
            cut = await page.evaluate("""[...document.querySelectorAll(".contents, .content *")]
                .filter((part) => part.clientWidth && part.scrollWidth > part.clientWidth + 1)
                .map((part) => part.outerHTML.slice(0, 200))""")
            assert cut == []
            assert await page.evaluate("document.querySelectorAll('.content details:not([open])').length") == 0


@pytest.mark.parametrize("has_script", [True, False])
async def test_a_link_opens_what_it_leads_to(browser: Browser, serve: Serve, has_script: bool) -> None:
    server = await serve(sample_views.ordinary())
    async with open_page(browser, address_of(server), java_script_enabled=has_script) as seen:
        page = await seen.show("/docs#getForecast")
        await page.locator("#getForecast").get_by_role("link", name="ForecastResponse").click()
        field = page.locator("#ForecastResponse").get_by_text("freeUntil", exact=True)
        await expect(field.first).to_be_in_viewport()
        await expect(page.locator("#ForecastHour")).not_to_be_visible()


async def test_paper_shows_what_is_folded(browser: Browser, serve: Serve) -> None:
    server = await serve(sample_views.ordinary())
    async with open_page(browser, address_of(server), java_script_enabled=False) as seen:
        page = await seen.show("/docs")
        closed = page.locator("#ForecastHour dd").first
        await expect(closed).not_to_be_visible()
        await page.emulate_media(media="print")
        await expect(closed).to_be_visible()

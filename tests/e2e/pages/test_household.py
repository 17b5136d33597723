"""A household's fees in a real browser: kept for the next visit and in the address, with and without a script."""

import re

from playwright.async_api import Browser, Page, expect

from tests.support.api.api_server import HOUR, RunningServer
from tests.support.pages import sample_views
from tests.support.pages.browser import WatchedPage, address_of, location_of, open_options, open_page
from tunnihind.core.market import consumer_price
from tunnihind.web.options import PageOptions

VAT = 0.24


def written(margin: float) -> str:
    """Write the present price with the fees of Võrk 4, as the English page does."""
    tariff = PageOptions.read({"package": "vork_4", "margin": str(margin)}).tariff
    assert tariff is not None
    fees = sum(charge.eur_kwh for charge in tariff.charges(HOUR).charges) * 1000
    return f"{100 * consumer_price(sample_views.price(HOUR) + fees, VAT):.2f}"


MARKET = f"{100 * consumer_price(sample_views.price(HOUR), VAT):.2f}"


async def shows(page: Page, price: str) -> None:
    await expect(page.locator("[data-now-price]")).to_have_text(price)


async def test_everything_follows_the_package_and_the_margin_and_so_does_the_next_visit(
    watched_page: WatchedPage,
) -> None:
    page = await watched_page.show()
    await shows(page, MARKET)
    # The options lead there, too.
    await open_options(page)
    await page.get_by_role("link", name="Your price: choose your package").click()
    await expect(page.locator(".menu .panel")).to_be_hidden()
    await page.get_by_label("Network package").select_option("vork_4")
    await shows(page, written(0))
    await page.get_by_label("Supplier's margin").fill("0.5")
    await page.get_by_label("Supplier's margin").press("Enter")
    await shows(page, written(0.5))
    await expect(page.locator(".parts tfoot td")).to_have_text(written(0.5))
    await expect(page.locator(".now")).to_contain_text("all fees, Võrk 4, 24%\N{NO-BREAK SPACE}VAT")
    await page.keyboard.press("Escape")
    await expect(page.locator("#household-open")).to_have_text("Your price: Võrk 4")
    await expect(page.locator("#household-open")).to_be_focused()
    assert re.search(r"\?package=vork_4&price=all&margin=0\.5$", await location_of(page))
    # The chart has the same price.
    chart = page.get_by_role("slider")
    await expect(chart).to_have_attribute("aria-valuetext", re.compile(f"{re.escape(written(0.5))} c/kWh, published"))
    await page.goto(f"{watched_page.address}/")
    await shows(page, written(0.5))
    # One click to the market's price, and one back.
    await page.get_by_role("link", name="Show the market price").click()
    await shows(page, MARKET)
    await page.get_by_role("link", name="Show the price with all fees").click()
    await shows(page, written(0.5))
    # Another household's view depends only on its address.
    await page.goto(f"{watched_page.address}/?package=vork_4")
    await shows(page, written(0))


async def test_what_is_being_entered_outlasts_a_renewal_of_the_page(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/?package=vork_4")
    await page.locator("#household summary").click()
    margin = page.get_by_label("Supplier's margin")
    await margin.press_sequentially("0.7")
    await page.locator("#vat-none").dispatch_event("click")
    await expect(page.locator("#days-unit")).to_contain_text("without VAT")
    await expect(margin).to_be_focused()
    await expect(margin).to_have_value("0.7")
    await page.locator("#vat-law").dispatch_event("click")
    await margin.press("Enter")
    await shows(page, written(0.7))
    await expect(margin).to_be_focused()


async def test_a_margin_counts_while_it_is_typed_and_back_undoes_it_as_a_whole(watched_page: WatchedPage) -> None:
    page = await watched_page.show("/?package=vork_4")
    await page.locator("#household summary").click()
    margin = page.get_by_label("Supplier's margin")
    typed = ""
    for key, applied in (("1", 1.0), (".", 1.0), ("2", 1.2), ("5", 1.25)):
        await margin.press(key)
        typed += key
        await shows(page, written(applied))
        await expect(page.locator(".parts tfoot td")).to_have_text(written(applied))
        await expect(margin).to_be_focused()
    await expect(margin).to_have_value("1.25")
    assert (await location_of(page)).endswith("?package=vork_4&margin=1.25&price=all")
    # A value that isn't allowed changes neither the price nor the address.
    for key in ("6", "7"):
        await margin.press(key)
    await expect(margin).to_have_value("1.2567")
    await shows(page, written(1.256))
    assert (await location_of(page)).endswith("?package=vork_4&margin=1.256&price=all")
    await page.go_back()
    await shows(page, written(0))
    assert (await location_of(page)).endswith("?package=vork_4")


async def test_without_a_script_the_form_shows_the_whole_price(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), java_script_enabled=False) as seen:
        await seen.page.goto(f"{seen.address}/?lang=et&tz=utc")
        await seen.page.locator("#household summary").click()
        await seen.page.get_by_label("Võrgupakett").select_option("vork_4")
        await seen.page.get_by_label("Müüja marginaal").fill("0.5")
        await seen.page.get_by_role("button", name="Näita kogu hinda").click()
        await shows(seen.page, written(0.5).replace(".", ","))
        assert "lang=et" in seen.page.url
        assert "tz=utc" in seen.page.url

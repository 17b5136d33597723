"""Several zones on one server, in a real browser: the picker, and a household's fees in each country."""

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.support.api.api_server import HOUR, RunningServer, Serve
from tests.support.pages import sample_views
from tests.support.pages.browser import PHONE, address_of, location_of, open_page
from tunnihind.core.market import consumer_price
from tunnihind.settings import Settings
from tunnihind.web.options import PageOptions

FINNISH_VAT = 0.255
ESTONIAN_VAT = 0.24
RATES = "network=5.2&night=3.1&other=1.25&margin=0.5"
LARGE_PX = 24


def written(cents: float, vat: float) -> str:
    """Write the present price with fees as the English page does."""
    return f"{100 * consumer_price(sample_views.price(HOUR) + 10 * cents, vat):.2f}"


def fees_of_vork_4() -> float:
    """Return the fees of an Estonian household in c/kWh."""
    tariff = PageOptions.read({"package": "vork_4"}).tariff
    assert tariff is not None
    return 100 * sum(charge.eur_kwh for charge in tariff.charges(HOUR).charges)


async def shows(page: Page, price: str) -> None:
    await expect(page.locator("[data-now-price]")).to_have_text(price)


@pytest_asyncio.fixture(loop_scope="session")
async def zones(serve: Serve) -> RunningServer:
    """Return a server of all four zones, each with the prices of an ordinary day."""
    return await serve(sample_views.ordinary(), Settings(zones=("ee", "lv", "lt", "fi")))


async def test_the_picker_opens_closes_and_leads_to_the_same_page_of_another_zone(
    browser: Browser, zones: RunningServer
) -> None:
    async with open_page(browser, address_of(zones)) as seen:
        page = await seen.show("/lv/?theme=dark")
        picker, links = page.locator("#zones-open"), page.locator(".zones ul")
        await picker.focus()
        await page.keyboard.press("Enter")
        await expect(links).to_be_visible()
        # A fresh page leaves it open.
        await page.locator("#unit-mwh").dispatch_event("click")
        await expect(page.locator("#days-unit")).to_contain_text("€/MWh")
        await expect(links).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(links).to_be_hidden()
        await expect(picker).to_be_focused()
        await picker.click()
        await page.get_by_role("heading", level=1).click()
        await expect(links).to_be_hidden()
        await picker.click()
        await page.get_by_role("link", name="Finland").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Electricity price in Finland")
        assert await location_of(page) == f"{seen.address}/fi/?unit=mwh&theme=dark"
        assert seen.console_errors == []


async def test_without_a_script_the_picker_leads_home_and_rates_can_be_entered(
    browser: Browser, zones: RunningServer
) -> None:
    async with open_page(browser, address_of(zones), java_script_enabled=False) as seen:
        await seen.page.goto(f"{seen.address}/lv/accuracy?lang=et")
        await seen.page.locator("#zones-open").click()
        await seen.page.get_by_role("link", name="Soome").click()
        await expect(seen.page.get_by_role("heading", level=1)).to_have_text("Kui täpne on Soome hinnaprognoos?")
        await seen.page.goto(f"{seen.address}/fi/?lang=et")
        await seen.page.locator("#household summary").click()
        await seen.page.get_by_label("Edastamistasu päeval").fill("5.2")
        await seen.page.get_by_label("Müüja marginaal").fill("0.5")
        await seen.page.get_by_role("button", name="Näita kogu hinda").click()
        await shows(seen.page, written(5.2 + 0.5, FINNISH_VAT).replace(".", ","))


async def test_each_country_remembers_what_a_household_pays_there(browser: Browser, zones: RunningServer) -> None:
    async with open_page(browser, address_of(zones)) as seen:
        page = await seen.show("/fi/")
        await expect(page.locator("[data-shows=night]")).to_be_hidden()
        await page.locator("#household summary").click()
        await page.get_by_label("Network fee by day").fill("5.2")
        await page.get_by_label("Network fee at night").fill("3.1")
        await page.get_by_label("Other fees per kWh").fill("1.25")
        await page.get_by_label("Supplier's margin").fill("0.5")
        await page.get_by_label("Supplier's margin").press("Enter")
        whole = written(5.2 + 1.25 + 0.5, FINNISH_VAT)
        await shows(page, whole)
        await expect(page.locator(".parts")).to_contain_text("Network fee, day")
        assert "?network=5.2&price=all&night=3.1&other=1.25&margin=0.5" in await location_of(page)
        # The chart uses the same price, and shades the hours of the entered night rate.
        chart = page.get_by_role("slider")
        await expect(chart).to_have_attribute(
            "aria-valuetext", f"Mon 15 Dec 12:00–13:00: {whole} c/kWh, published price, Expensive, high for the day"
        )
        await expect(page.locator("[data-shows=night]")).to_be_visible()
        # In other zones these rates don't count.
        page = await seen.show("/")
        await shows(page, written(0, ESTONIAN_VAT))
        await page.locator("#household summary").click()
        await page.get_by_label("Network package").select_option("vork_4")
        await shows(page, written(fees_of_vork_4(), ESTONIAN_VAT))
        await page.locator("#vat-none").dispatch_event("click")
        await expect(page.locator("#days-unit")).to_contain_text("without VAT")
        # The choice of VAT is for all of them.
        page = await seen.show("/fi/")
        await shows(page, written(5.2 + 1.25 + 0.5, 0))
        await page.get_by_role("link", name="Show the market price").click()
        await shows(page, written(0, 0))
        await page.get_by_role("link", name="Show the price with your fees").click()
        await shows(page, written(5.2 + 1.25 + 0.5, 0))
        # Another household's view depends only on its address.
        await shows(await seen.show("/fi/?margin=1"), written(1, 0))
        assert seen.console_errors == []


@pytest.mark.parametrize("width", [390, 320])
async def test_header_and_form_fit_a_phone_also_with_large_text(
    browser: Browser, zones: RunningServer, width: int
) -> None:
    async with open_page(browser, address_of(zones), **PHONE | {"viewport": {"width": width, "height": 844}}) as seen:
        devtools = await seen.page.context.new_cdp_session(seen.page)
        for font_px in (16, LARGE_PX):
            await devtools.send("Page.setFontSizes", {"fontSizes": {"standard": font_px}})
            for path in (
                f"/lt/?lang=en&{RATES}",
                f"/fi/?lang=et&{RATES}",
                "/lt/docs",
                "/lt/accuracy?lang=et",
                f"/fi/?lang=ru&{RATES}",
            ):
                page = await seen.show(path)
                await page.evaluate(
                    "for (const one of document.querySelectorAll('#zones, #household')) one.open = true"
                )
                assert await page.evaluate("document.documentElement.scrollWidth") <= width, (path, font_px)
                box = await page.locator(".zones .panel").bounding_box()
                assert box is not None
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width

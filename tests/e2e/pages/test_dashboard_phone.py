"""The dashboard on phones, in a real browser: what is seen first, and that everything has room."""

from typing import Final

import pytest
from playwright.async_api import Browser, expect

from tests.support.api.api_server import HOUR, RunningServer, Serve, make_view, with_series
from tests.support.pages import sample_views
from tests.support.pages.browser import PHONE, address_of, open_page
from tunnihind.api.served_data import Percentiles
from tunnihind.core.market import HOUR_S
from tunnihind.web.options import LANGUAGES


async def test_a_phone_shows_all_of_it_without_scrolling_sideways(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        for path in (f"{page}?lang={lang}" for page in ("/", "/docs", "/accuracy") for lang in LANGUAGES):
            page = await seen.show(path)
            assert await page.evaluate("document.documentElement.scrollWidth") <= 390, path


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_on_a_phone_the_plot_is_seen_at_once_and_takes_the_whole_width(
    browser: Browser, serve: Serve, lang: str
) -> None:
    async with open_page(browser, address_of(await serve(mode="demo")), **PHONE) as seen:
        page = await seen.show(f"/?lang={lang}")
        plot = await page.locator(".plot").bounding_box()
        assert plot is not None
        assert plot["y"] < 340
        assert (plot["x"], plot["width"]) == (0, 390)
        await expect(page.locator("#next-cheap")).to_be_in_viewport(ratio=1)
        # Today and tomorrow have all of the width, one press shows the days after.
        shown = page.locator("[data-span][aria-pressed=true]")
        await expect(shown).to_have_attribute("data-span", "near")
        await page.locator("[data-span=ahead]").tap()
        await expect(shown).to_have_attribute("data-span", "ahead")
        await page.wait_for_url("**span=ahead**")
        await expect(page.locator("[data-now-price]")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180)])
@pytest.mark.parametrize("path", ["/?package=vork_4", "/accuracy", "/docs"])
async def test_whatever_a_finger_presses_is_44_px_high(
    browser: Browser, server: RunningServer, path: str, width: int, height: int
) -> None:
    """Links within a text aside."""
    touched = PHONE | {"viewport": {"width": width, "height": height}}
    async with open_page(browser, address_of(server), **touched) as seen:
        page = await seen.show(path)
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        pressed = page.locator(
            "button, summary, select, .check, input:not(.check *), .choice > *, nav a, .brand, .panel a"
        )
        low = await pressed.evaluate_all("""parts => parts.filter((part) => part.checkVisibility())
            .filter((part) => part.getBoundingClientRect().height < 44).map((part) => part.outerHTML.slice(0, 100))""")
        assert low == []
        assert await pressed.count() > 10


@pytest.mark.parametrize(("lang", "scripted"), [("et", True), ("et", False), ("ru", True)])
async def test_on_a_phone_all_notices_stand_in_one_line_until_they_are_unfolded(
    browser: Browser, serve: Serve, lang: str, scripted: bool
) -> None:
    hour = HOUR // HOUR_S * HOUR_S
    view = with_series(sample_views.stale(), issued={hour: sample_views.percentiles(hour)})
    phone = {**PHONE, "viewport": {"width": 320, "height": 844}, "java_script_enabled": scripted}
    async with open_page(browser, address_of(await serve(view, mode="demo")), **phone) as seen:
        page = await seen.show(f"/?lang={lang}")
        line, plot = await page.locator("#notices").bounding_box(), await page.locator(".plot").bounding_box()
        assert line is not None
        assert plot is not None
        assert line["height"] < 32
        assert plot["y"] < 440
        whole = page.locator("#notices p:not([data-offline])")
        await expect(page.locator("#notices summary span:not([data-offline])")).to_have_count(4)
        await expect(whole.first).to_be_hidden()
        await page.locator("#notices summary").tap()
        for notice in await whole.all():
            await expect(notice).to_be_visible()
        await expect(whole).to_have_count(4)


async def test_on_the_narrowest_phone_no_figure_of_a_table_and_no_choice_in_force_is_cut(
    browser: Browser, serve: Serve
) -> None:
    server = await serve(sample_views.negative(), mode="demo")
    async with open_page(browser, address_of(server), viewport={"width": 320, "height": 640}) as seen:
        for path in (
            "/?vat=law",
            "/?unit=mwh",
            *(
                f"/?lang={lang}&{options}"
                for lang in ("et", "ru")
                for options in ("vat=none&package=vork_1", "period=quarter")
            ),
        ):
            page = await seen.show(path)
            await page.locator("#hours > summary").click()
            assert await page.evaluate("document.documentElement.scrollWidth") <= 320, path
            wide = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent)"
            assert await page.locator("#grid :is(span, th, .mean), #chosen").evaluate_all(wide) == []
        for path in (f"/accuracy?lang={lang}" for lang in LANGUAGES):
            page = await seen.show(path)
            assert await page.locator(".scroll").evaluate_all(wide) == [], path


async def test_on_the_narrowest_phone_the_longest_price_fits(browser: Browser, serve: Serve) -> None:
    # The highest price that can be, as a forecast and with all fees.
    highest = Percentiles(3900.0, 4000.0, 4400.0)
    hours = range(HOUR - 24 * HOUR_S, HOUR, HOUR_S)
    server = await serve(make_view(dict.fromkeys(hours, 4000.0), issued={HOUR: highest}))
    async with open_page(browser, address_of(server), viewport={"width": 320, "height": 640}) as seen:
        for path in ("/?lang=et&unit=mwh&package=vork_4", "/?lang=ru&unit=mwh&package=vork_4", "/?package=vork_4"):
            page = await seen.show(path)
            await expect(page.locator("[data-now-about]")).not_to_be_empty()
            assert await page.evaluate("document.documentElement.scrollWidth") <= 320, path


LARGE_PX: Final = 24
"""What text without a size of its own is to whoever needs it half as large again."""


@pytest.mark.parametrize("width", [390, 320])
async def test_with_large_text_nothing_leaves_its_card_on_a_phone(
    browser: Browser, server: RunningServer, width: int
) -> None:
    async with open_page(browser, address_of(server), viewport={"width": width, "height": 844}) as seen:
        devtools = await seen.page.context.new_cdp_session(seen.page)
        await devtools.send("Page.setFontSizes", {"fontSizes": {"standard": LARGE_PX}})
        for path in (
            f"{path}lang={lang}" for path in ("/?unit=mwh&package=vork_4&", "/?", "/accuracy?") for lang in LANGUAGES
        ):
            page = await seen.show(path)
            assert await page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == LARGE_PX
            assert await page.evaluate("document.documentElement.scrollWidth") <= width, path
            wide = "cards => cards.filter(card => card.scrollWidth > card.clientWidth).map(card => card.textContent)"
            assert await page.locator(".card, .found dl > div, #grid span").evaluate_all(wide) == [], path

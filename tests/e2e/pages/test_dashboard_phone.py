"""The dashboard on phones, in a real browser: what is seen first, and that everything has room."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.support.api.api_server import HOUR, RunningServer, Serve, make_view, with_series
from tests.support.pages import sample_views
from tests.support.pages.browser import FONT_PACKAGES, PHONE, address_of, chromium_with_font, open_page
from tunnihind.api.served_data import Percentiles
from tunnihind.core.market import HOUR_S
from tunnihind.web.options import LANGUAGES


async def test_a_phone_shows_all_of_it_without_scrolling_sideways(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        for path in (f"{page}?lang={lang}" for page in ("/", "/docs", "/accuracy") for lang in LANGUAGES):
            page = await seen.show(path)
            assert await page.evaluate("document.documentElement.scrollWidth") <= 390, path


@pytest_asyncio.fixture(params=FONT_PACKAGES, loop_scope="session")
async def browser_of_font(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    async with chromium_with_font(request.param) as browser:
        yield browser


async def test_a_phone_shows_hours_advice_and_the_finders_answer_at_once(
    browser_of_font: Browser, serve: Serve
) -> None:
    async with open_page(browser_of_font, address_of(await serve(mode="demo")), **PHONE) as seen:
        for lang in LANGUAGES:
            page = await seen.show(f"/?lang={lang}")
            hours = await page.locator("#next-hours").bounding_box()
            assert hours is not None
            assert hours["y"] + hours["height"] < 340, lang
            for answer in ("[data-now-price]", "#next-cheap", "[data-found] .cheapest"):
                await expect(page.locator(answer)).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("percent", [130, 200])
async def test_in_any_font_large_text_stays_within_its_card_on_a_phone(
    browser_of_font: Browser, server: RunningServer, percent: int
) -> None:
    async with open_page(browser_of_font, address_of(server), viewport={"width": 390, "height": 844}) as seen:
        await enlarge_text(seen.page, percent)
        for path in ("/?unit=mwh&package=vork_4&lang=et", "/?lang=ru", "/accuracy?lang=ru"):
            assert await leaving_parts(await seen.show(path)) == [], path


async def test_the_strip_of_a_phone_has_the_hours_of_one_day_as_the_calendar_has(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        page = await seen.show()
        texts = "spans => spans.map(span => [span.dataset.hour, span.textContent])"
        strip = await page.locator("#next-hours span").evaluate_all(texts)
        ahead = await page.locator("#grid span").evaluate_all(texts)
        assert [ts for ts, _ in strip] == [str(HOUR + n * HOUR_S) for n in range(24)]
        assert strip == [hour for hour in ahead if hour in strip]
        await expect(page.locator("#next-hours [aria-current=time]")).to_have_attribute("data-hour", str(HOUR))
        await expect(page.locator("#next-hours li").nth(12)).to_contain_text("Tue")


async def test_the_strip_of_a_phone_is_shown_while_the_present_price_is_unknown(browser: Browser, serve: Serve) -> None:
    async with open_page(browser, address_of(await serve(sample_views.stale())), **PHONE) as seen:
        page = await seen.show()
        await expect(page.locator("[data-now-price]")).to_have_text("–")
        await expect(page.locator("#next-hours span").first).to_be_visible()


async def test_a_phone_folds_the_weather_and_the_charts_tools_and_a_desktop_shows_them(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show()
        for part in ("#weather svg", "[data-span=week]"):
            await expect(page.locator(part)).to_be_visible()
        await expect(page.locator(".fold > summary").first).to_be_hidden()
    async with open_page(browser, address_of(server), **PHONE) as seen:
        page = await seen.show()
        plot = await page.locator(".plot").bounding_box()
        assert plot is not None
        assert (plot["x"], plot["width"]) == (0, 390)
        for name, part in (("Wind and sun", "#weather svg"), ("Range and zoom", "[data-span=ahead]")):
            await expect(page.locator(part)).to_be_hidden()
            await page.get_by_text(name, exact=True).tap()
            await expect(page.locator(part)).to_be_visible()
        # Today and tomorrow have all of the width, one press shows the days after.
        shown = page.locator("[data-span][aria-pressed=true]")
        await expect(shown).to_have_attribute("data-span", "near")
        await page.locator("[data-span=ahead]").tap()
        await expect(shown).to_have_attribute("data-span", "ahead")
        await page.wait_for_url("**span=ahead**")


@pytest.mark.parametrize("width", [390, 320])
async def test_the_button_of_the_options_keeps_its_name_on_one_line(
    browser: Browser, server: RunningServer, width: int
) -> None:
    async with open_page(browser, address_of(server), **PHONE | {"viewport": {"width": width, "height": 844}}) as seen:
        for lang, name in (("en", "Options"), ("et", "Valikud"), ("ru", "Настройки")):
            page = await seen.show(f"/?lang={lang}&package=vork_4")
            button = page.locator(".menu summary")
            assert (await button.inner_text()).strip() == name
            box = await button.bounding_box()
            assert box is not None
            assert box["height"] < 50


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
async def test_on_a_phone_all_notices_stand_in_brief_and_whole_until_they_are_unfolded(
    browser: Browser, serve: Serve, lang: str, scripted: bool
) -> None:
    hour = HOUR // HOUR_S * HOUR_S
    view = with_series(sample_views.stale(), issued={hour: sample_views.percentiles(hour)})
    phone = {**PHONE, "viewport": {"width": 320, "height": 844}, "java_script_enabled": scripted}
    async with open_page(browser, address_of(await serve(view, mode="demo")), **phone) as seen:
        page = await seen.show(f"/?lang={lang}")
        brief = page.locator("#notices summary")
        box = await brief.bounding_box()
        assert box is not None
        assert box["height"] < 96
        assert await brief.evaluate("it => [it.scrollWidth - it.clientWidth, it.scrollHeight - it.clientHeight]") == [
            0,
            0,
        ]
        await expect(brief.locator("span:not([data-offline])")).to_have_count(4)
        whole = page.locator("#notices p:not([data-offline])")
        await expect(whole.first).to_be_hidden()
        await brief.tap()
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


async def enlarge_text(page: Page, percent: int) -> None:
    """Give text without a size of its own the size that a reader has chosen in the browser."""
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Page.setFontSizes", {"fontSizes": {"standard": 16 * percent // 100}})


async def leaving_parts(page: Page) -> list[str]:
    """Return the parts of a page whose content is wider than they are."""
    assert await page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") > 16
    parts = page.locator("html, .card, .found dl > div, #grid span, .next-hours span")
    wide = """parts => parts.filter((part) => part.scrollWidth > part.clientWidth)
        .map((part) => `${part.className}: ${part.textContent}`)"""
    return list(await parts.evaluate_all(wide))


@pytest.mark.parametrize(("width", "percent"), [(390, 150), (320, 150), (390, 200), (320, 200)])
async def test_with_large_text_nothing_leaves_its_card_on_a_phone(
    browser: Browser, server: RunningServer, width: int, percent: int
) -> None:
    async with open_page(browser, address_of(server), viewport={"width": width, "height": 844}) as seen:
        await enlarge_text(seen.page, percent)
        for path in (
            f"{path}lang={lang}"
            for path in ("/?unit=mwh&package=vork_4&", "/?", "/accuracy?", "/docs?")
            for lang in LANGUAGES
        ):
            page = await seen.show(path)
            await page.evaluate("for (const one of document.querySelectorAll('main .fold, .card')) one.open = true")
            assert await leaving_parts(page) == [], path

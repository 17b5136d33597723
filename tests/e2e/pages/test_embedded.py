"""The small view for other pages in a real browser: complete at any documented size, with any font."""

import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.support.api.api_server import HOUR, RunningServer, Serve
from tests.support.pages import sample_views
from tests.support.pages.browser import FONT_PACKAGES, address_of, cents, chromium_with_font, open_page
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import HOUR_S
from tunnihind.web.options import LANGUAGES

FONTS: Final = [*FONT_PACKAGES, "DejaVu Sans Mono"]
"""Few people read in the last one."""

SIZES: Final = [
    (300, 200),
    (300, 300),
    (360, 216),
    (400, 232),
    (400, 240),
    (400, 300),
    (500, 360),
    (600, 400),
    (900, 600),
]

STICKING_OUT: Final = """() => [...document.querySelectorAll("body *")]
  .filter((element) => element.checkVisibility() && !element.closest(".unseen"))
  .map((element) => [element.getBoundingClientRect(), element])
  .filter(([box]) => Math.min(box.left, box.top, innerWidth - box.right, innerHeight - box.bottom) < -0.5)
  .map(([box, element]) => `${element.tagName}.${element.className} ${JSON.stringify(box)}`)"""
"""What of the page is outside the window."""

FILLED: Final = """([width, height]) => {
  const [plot, drawn] = [".plot", ".plot .clip"].map((name) => document.querySelector(name));
  const right = Number(drawn.getAttribute("x")) + Number(drawn.getAttribute("width"));
  return innerWidth === width && innerHeight === height && Number(drawn.getAttribute("height")) === plot.clientHeight
    && Math.abs(right - plot.clientWidth) <= 16;
}"""
"""Whether the chart is as large as its place in a window of a size."""

CUT: Final = """() => [...document.querySelectorAll(".now > *, .level > *, .now span, .now strong, .bottom p")]
  .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth && element.clientWidth)
  .map((element) => element.textContent)"""
"""Texts that are wider than their place."""


@pytest_asyncio.fixture(params=FONTS, loop_scope="session")
async def browser_with_font(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    async with chromium_with_font(request.param) as browser:
        yield browser


async def resize(page: Page, width: int, height: int) -> None:
    """Give the page another size and wait until its chart has taken it over."""
    await page.set_viewport_size({"width": width, "height": height})
    await page.wait_for_function(FILLED, arg=[width, height])


async def assert_it_fits(page: Page, height: int) -> None:
    assert await page.evaluate(STICKING_OUT) == []
    scrollable = (
        "[document.documentElement.scrollWidth > innerWidth, document.documentElement.scrollHeight > innerHeight]"
    )
    assert await page.evaluate(scrollable) == [False, False]
    plot = await page.locator(".over").bounding_box()
    assert plot is not None
    assert plot["height"] >= height * 2 / 5
    for name in ("[data-now-level]", "#next-cheap"):
        part = page.locator(name)
        if await part.count() and await part.inner_text():
            await expect(part).to_be_in_viewport(ratio=1)


async def test_it_fits_with_any_font_and_the_plot_gives_way_to_price_word_and_advice(
    browser_with_font: Browser, server: RunningServer
) -> None:
    async with open_page(browser_with_font, address_of(server)) as seen:
        for lang in LANGUAGES:
            page = await seen.show(f"/?embed=1&lang={lang}")
            for width, height in SIZES:
                await resize(page, width, height)
                await assert_it_fits(page, height)
                assert await page.evaluate(CUT) == []
                await expect(page.get_by_text("Tunnihind (localhost)")).to_be_in_viewport(ratio=1)
                await expect(page.locator(".price")).to_be_in_viewport(ratio=1)
                price = await page.locator("[data-now-price]").inner_text()
                assert (await page.locator("body").inner_text()).count(price) == 1
        assert seen.console_errors == []


LARGE_PX: Final = 24
"""What text without a size of its own is to whoever needs it half as large again."""


@pytest.mark.parametrize(
    ("lang", "theme", "text_px", "make"),
    [
        ("en", "light", 16, sample_views.ordinary),
        ("et", "dark", LARGE_PX, sample_views.ordinary),
        ("et", "light", LARGE_PX, sample_views.stale),
    ],
)
async def test_it_fits_at_every_size_and_with_large_text(
    browser: Browser, serve: Serve, lang: str, theme: str, text_px: int, make: Callable[[], ServedData]
) -> None:
    async with open_page(browser, address_of(await serve(make()))) as seen:
        devtools = await seen.page.context.new_cdp_session(seen.page)
        await devtools.send("Page.setFontSizes", {"fontSizes": {"standard": text_px}})
        page = await seen.show(f"/?embed=1&lang={lang}&theme={theme}")
        for width in (300, 450, 900):
            for height in range(200, 601, 50):
                await resize(page, width, height)
                await assert_it_fits(page, height)
                assert await page.evaluate(CUT) == []
        # If there is room, text has the reader's size.
        assert await page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == text_px
        assert seen.console_errors == []


@pytest.mark.parametrize("make", [sample_views.stale, sample_views.negative, sample_views.without_forecast])
@pytest.mark.parametrize("lang", LANGUAGES)
async def test_it_fits_with_bad_news_too(
    browser: Browser, serve: Serve, make: Callable[[], ServedData], lang: str
) -> None:
    async with open_page(browser, address_of(await serve(make()))) as seen:
        page = await seen.show(f"/?embed=1&lang={lang}&unit=mwh")
        for width, height in SIZES:
            await resize(page, width, height)
            await assert_it_fits(page, height)
            if make is not sample_views.negative:
                await expect(page.locator(".notice").first).to_be_in_viewport(ratio=1)


async def test_it_fits_while_the_server_is_gone(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), viewport={"width": 300, "height": 200}) as seen:
        await seen.page.clock.install()
        page = await seen.show("/?embed=1&lang=et")
        await page.context.set_offline(True)
        await page.clock.run_for(61_000)
        await expect(page.locator("[data-offline]")).to_be_in_viewport(ratio=1)
        await assert_it_fits(page, 200)


@pytest.mark.parametrize(("width", "height"), [(300, 200), (900, 600)])
async def test_an_hour_that_is_pointed_at_is_told_in_place_of_the_present_one(
    browser: Browser, server: RunningServer, width: int, height: int
) -> None:
    async with open_page(browser, address_of(server), viewport={"width": width, "height": height}) as seen:
        page = await seen.show("/?embed=1")
        readout, plot = page.locator("[data-readout]"), await page.locator(".over").bounding_box()
        assert plot is not None
        await expect(readout).to_be_hidden()
        chart = page.get_by_role("slider")
        await chart.focus()
        await page.keyboard.press("ArrowRight")
        # The readout covers the present price; the plot stays where it is.
        await expect(readout).to_contain_text(cents(sample_views.consumer(HOUR + HOUR_S)))
        box, now = await readout.bounding_box(), await page.locator(".now").bounding_box()
        assert box is not None
        assert now is not None
        assert box["y"] <= now["y"]
        assert box["y"] + box["height"] >= now["y"] + now["height"]
        assert await page.locator(".over").bounding_box() == plot
        # Without the focus, the present price is back.
        await page.get_by_text("Tunnihind (localhost)").click(position={"x": 140, "y": 5})
        await expect(readout).to_be_hidden()


@pytest.mark.parametrize(
    ("device", "theme", "dark"),
    [("dark", "", True), ("light", "dark", True), ("dark", "light", False), ("dark", "auto", True)],
)
async def test_whoever_embeds_it_chooses_colours_and_language(
    browser: Browser, server: RunningServer, device: str, theme: str, dark: bool
) -> None:
    options: dict[str, Any] = {"color_scheme": device, "locale": "en-GB"}
    async with open_page(browser, address_of(server), **options) as seen:
        page = await seen.show(f"/?embed=1&lang=et&theme={theme}")
        ground = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground))) < 200) is dark
        await expect(page.get_by_role("link", name="Kõik hinnad")).to_be_visible()


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_its_legend_names_the_forecast_at_any_width_with_room_for_it(
    browser: Browser, server: RunningServer, lang: str
) -> None:
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show(f"/?embed=1&lang={lang}")
        for width in (360, 600, 900):
            await resize(page, width, 360)
            await expect(page.locator("[data-shows=forecast]")).to_be_in_viewport(ratio=1)


async def test_without_javascript_it_fits_too_and_names_the_days(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), java_script_enabled=False) as seen:
        page = await seen.show("/?embed=1")
        for width, height in SIZES:
            await page.set_viewport_size({"width": width, "height": height})
            area = await page.locator(".area").bounding_box()
            assert area is not None
            assert area["height"] >= height * 2 / 5
            await expect(page.locator("[data-now-level]")).to_have_text("Expensive")
            await expect(page.locator("#next-cheap")).to_have_text("Start at 22:00, not now")
            await expect(page.locator("#next-cheap")).to_be_in_viewport(ratio=1)
            await expect(page.locator(".days").get_by_text("Tue 16 Dec")).to_be_in_viewport(ratio=1)
            await expect(page.get_by_text("Tunnihind (localhost)")).to_be_in_viewport(ratio=1)

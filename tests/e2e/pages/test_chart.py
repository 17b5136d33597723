"""The chart in a real browser: its tip, its legend, and that the server draws it in the same place."""

import re

from playwright.async_api import Browser, Page, expect

from tests.e2e.pages.test_pages_accessible import findings
from tests.support.api.api_server import HOUR, RunningServer
from tests.support.pages.browser import PHONE, address_of, location_of, open_page, series_of
from tunnihind.core.market import HOUR_S

FINGER_PX = 20
"""From the middle of a fingertip to where it no longer hides what is on the screen."""


async def tap_and_read(page: Page, share_x: float, share_y: float) -> dict[str, float]:
    """Tap the plot and return where the tip, the plot and the finger are."""
    over = page.locator(".over")
    await over.scroll_into_view_if_needed()
    box = await over.bounding_box()
    assert box is not None
    x, y = share_x * box["width"], share_y * box["height"]
    await over.tap(position={"x": x, "y": y})
    tip = await page.locator("[data-readout]").bounding_box()
    assert tip is not None
    return {
        "left": tip["x"] - box["x"],
        "right": box["x"] + box["width"] - tip["x"] - tip["width"],
        "top": tip["y"] - box["y"],
        "bottom": box["y"] + box["height"] - tip["y"] - tip["height"],
        "beside": max(tip["x"] - box["x"] - x, box["x"] + x - tip["x"] - tip["width"]),
        "above": max(tip["y"] - box["y"] - y, box["y"] + y - tip["y"] - tip["height"]),
    }


async def test_the_tip_stays_in_the_plot_of_a_phone_and_clear_of_the_finger(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        page = await seen.show("/?lang=et")
        for share_x in (0.01, 0.3, 0.5, 0.7, 0.98):
            for share_y in (0.05, 0.5, 0.95):
                at = await tap_and_read(page, share_x, share_y)
                assert min(at["left"], at["right"], at["top"], at["bottom"]) >= -0.5
                assert max(at["beside"], at["above"]) >= FINGER_PX
        assert await findings(page) == []
        # Another touch lets go of what was pointed at.
        await page.locator(".now .when").tap()
        await expect(page.locator("[data-readout]")).to_be_hidden()


async def test_a_finger_that_rests_reads_prices_and_leaves_the_view(browser: Browser, server: RunningServer) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        await seen.page.clock.install()
        page = await seen.show("/")
        over = page.locator(".plot .over")
        await over.scroll_into_view_if_needed()
        box = await over.bounding_box()
        assert box is not None
        touch = await page.context.new_cdp_session(page)

        async def finger(kind: str, *lefts: float) -> str:
            points = [{"x": box["x"] + left, "y": box["y"] + 40} for left in lefts]
            await touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            return await page.get_by_role("slider").get_attribute("aria-valuetext") or ""

        first = await finger("touchStart", 50)
        await page.clock.run_for(400)
        second = await finger("touchMove", 200)
        await finger("touchEnd")
        assert first != second
        await page.clock.run_for(1000)
        assert "from=" not in await location_of(page)


async def test_on_a_phone_the_legend_names_every_mark_in_view_in_two_lines(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        page = await seen.show("/?package=vork_4&span=ahead")
        legend = page.locator(".chart .legend")
        for name in ("Forecast", "Night rate", "Cheapest time", "Most expensive time"):
            await expect(legend.get_by_text(name)).to_be_visible()
        height = await legend.evaluate(
            "legend => legend.clientHeight / parseFloat(getComputedStyle(legend).lineHeight)"
        )
        assert height == 2
        # The finder names its result with the mark that the result has in the chart.
        background = "mark => getComputedStyle(mark, '::before').backgroundColor"
        assert await page.locator(".found .cheapest dt").evaluate(background) != "rgba(0, 0, 0, 0)"
        # A view of the past has no forecast to explain.
        await page.get_by_text("Range and zoom").tap()
        await page.get_by_role("button", name="Week").tap()
        for _ in range(4):
            await page.get_by_role("button", name="Zoom in").tap()
        for _ in range(12):
            await page.get_by_role("button", name="Earlier").tap()
        await expect(legend.get_by_text("Forecast")).to_be_hidden()
        await expect(legend.locator("[data-shows=settled]")).to_be_visible()


async def test_the_script_takes_the_drawing_over_where_it_stands(browser: Browser, server: RunningServer) -> None:
    async with (
        open_page(browser, address_of(server), java_script_enabled=False) as drawn,
        open_page(browser, address_of(server)) as scripted,
    ):
        for path in ("/", "/?embed=1"):
            places = [
                await (await drawn.show(path)).locator(".area").bounding_box(),
                await (await scripted.show(path)).locator(".plot .over").bounding_box(),
            ]
            assert places[0] is not None
            assert places[0] == places[1]


async def test_the_chart_draws_prices_in_their_colours_nights_and_what_is_found(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show("/?package=vork_4")
        published = [hour["ts"] for hour in (await series_of(server))["actuals"] if hour["ts"] >= HOUR - 12 * HOUR_S]
        bars = page.locator(".plot svg .bar")
        drawn = [await bar.get_attribute("d") or "" for bar in await bars.all()]
        assert sum(d.count("M") for d in drawn) == len(published)
        # Cheap and expensive ones differ, and each has the colour that the style sheet gives to its step of the scale.
        colour_of = "bar => [bar.classList[2], getComputedStyle(bar).fill]"
        colours = [await bars.nth(place).evaluate(colour_of) for place, d in enumerate(drawn) if d]
        assert len({tint for tint, _ in colours}) > 2
        assert len({colour for _, colour in colours}) == len({tint for tint, _ in colours})
        await expect(page.locator(".plot .now-name")).to_have_text("Now")
        for name in ("nights", "window", "avoid", "median", "likely", "present"):
            await expect(page.locator(f".plot svg .{name}")).to_have_attribute("d", re.compile("M"))
        # On paper, the cheapest time stays.
        await page.emulate_media(media="print")
        for name, shown in (("window", "inline"), ("avoid", "none")):
            await expect(page.locator(f".plot svg .{name}")).to_have_css("display", shown)
        page = await seen.show("/")
        await expect(page.locator(".plot svg .nights")).to_have_attribute("d", "")


async def test_forecasts_of_hours_whose_price_is_known_are_drawn_where_they_are_wanted(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show("/")
        median = page.locator(".plot svg .median")
        ahead = await median.get_attribute("d") or ""
        await page.get_by_label("Past forecasts").check()
        await expect(median).not_to_have_attribute("d", ahead)
        assert (await median.get_attribute("d") or "").count("L") > ahead.count("L")


async def test_at_its_edges_the_chart_shows_no_step_to_a_price_out_of_view(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server)) as seen:
        page = await seen.show("/?span=near")
        # Today and tomorrow: prices go on before and after.
        lines = "".join([await edge.get_attribute("d") or "" for edge in await page.locator(".plot svg .edge").all()])
        over = page.locator(".plot .over")
        left, right = await over.evaluate("over => [over.offsetLeft, over.offsetLeft + over.offsetWidth]")
        assert re.findall(rf"M{left} \d+(.)", lines) == ["H"]
        assert f"H{right}" in lines
        assert f"M{right} " not in lines

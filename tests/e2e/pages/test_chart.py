"""The chart in a real browser: its tip, its legend, and that the server draws it in the same place."""

from playwright.async_api import Browser, Page, expect

from tests.e2e.pages.test_pages_accessible import findings
from tests.support.api.api_server import RunningServer
from tests.support.pages.browser import PHONE, address_of, open_page

FINGER_PX = 20
"""From the middle of a fingertip to where it no longer hides what is on the screen."""


async def tap_and_read(page: Page, share_x: float, share_y: float) -> dict[str, float]:
    """Tap the plot and return where the tip, the plot and the finger are."""
    over = page.locator(".u-over")
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


async def test_on_a_phone_the_legend_names_every_mark_in_view_in_two_lines(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server), **PHONE) as seen:
        page = await seen.show("/?package=vork_4&span=ahead")
        legend = page.locator(".chart .legend")
        for name in ("Forecast", "Night rate", "Cheapest", "Most expensive"):
            await expect(legend.get_by_text(name)).to_be_visible()
        height = await legend.evaluate(
            "legend => legend.clientHeight / parseFloat(getComputedStyle(legend).lineHeight)"
        )
        assert height == 2
        # The finder names its result with the mark that the result has in the chart.
        background = "mark => getComputedStyle(mark, '::before').backgroundColor"
        assert await page.locator(".found .cheapest dt").evaluate(background) != "rgba(0, 0, 0, 0)"
        # A view of the past has no forecast to explain.
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
                await (await scripted.show(path)).locator(".u-over").bounding_box(),
            ]
            assert places[0] is not None
            assert places[0] == places[1]


async def test_at_its_edges_the_chart_shows_no_step_to_a_price_out_of_view(
    browser: Browser, server: RunningServer
) -> None:
    async with open_page(browser, address_of(server), device_scale_factor=1) as seen:
        page = await seen.show("/?span=near")
        # Today and tomorrow: prices go on before and after. How high a line of a price stands at each of the edges:
        heights = await page.locator(".plot canvas").evaluate("""(canvas) => {
            const over = canvas.parentElement.querySelector(".u-over");
            const style = getComputedStyle(document.documentElement);
            const lines = new Set([0, 1, 2, 3, 4].map((tint) => style.getPropertyValue(`--edge-t${tint}`)));
            const hex = ([r, g, b]) => "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
            return [over.offsetLeft, over.offsetLeft + over.offsetWidth - 1].map((x) => {
                const { data } = canvas.getContext("2d").getImageData(x, 0, 1, canvas.height);
                return [...Array(canvas.height).keys()].filter((y) => lines.has(hex(data.slice(4 * y)))).length;
            });
        }""")
        assert [1 <= height <= 3 for height in heights] == [True, True], heights

"""The strip of wind and sun in a real browser: it goes with the chart."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.support import sample_views
from tests.support.api_server import HOUR
from tests.support.browser import WatchedPage
from tunnihind.market import HOUR_S


async def box_of(page: Page, selector: str) -> tuple[float, float]:
    """Return where a part of the page begins and ends, in pixels from the left."""
    box = await page.locator(selector).bounding_box()
    assert box is not None
    return box["x"], box["x"] + box["width"]


async def shown_hours(page: Page) -> list[float]:
    """Return the first hour that the strip shows, and how many, as of its start."""
    view = await page.locator("#weather svg").get_attribute("viewBox") or ""
    return [float(number) for number in view.split()[::2]]


async def test_the_strip_shows_what_the_chart_shows_right_below_it(watched_page: WatchedPage) -> None:
    page = await watched_page.show()
    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 844})
        assert await box_of(page, "#weather svg") == pytest.approx(await box_of(page, ".u-over"), abs=1)
    start = int(await page.locator("#weather svg").get_attribute("data-start") or 0)
    assert await shown_hours(page) == [(HOUR - 12 * HOUR_S - start) / HOUR_S, (sample_views.END - HOUR) / HOUR_S + 12]
    await page.locator("[data-move=in]").click()
    await page.clock.run_for(1000)
    await expect(page).to_have_url(re.compile(r"from=\d+&to=\d+"))
    low, high = (int(instant) for instant in re.findall(r"(?:from|to)=(\d+)", page.url))
    assert await shown_hours(page) == pytest.approx([(low - start) / HOUR_S, (high - low) / HOUR_S], abs=0.01)


async def test_pointing_at_an_hour_tells_its_wind_and_sun(watched_page: WatchedPage) -> None:
    page = await watched_page.show()
    wind, sun = page.locator("[data-said=wind]"), page.locator("[data-said=sun]")
    await expect(wind).to_have_text("Wind at 100 m, 0–16 m/s")
    weather = sample_views.weather(HOUR)
    await page.locator("[data-chart]").focus()
    await expect(wind).to_have_text(f"Wind {weather.wind[24]:.0f} m/s")
    await expect(sun).to_have_text(f"Sun {weather.sun[24]:.0f} W/m²")

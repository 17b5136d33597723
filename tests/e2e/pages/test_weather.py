"""The strip of wind and sun in a real browser: it moves with the chart."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.support.api.api_server import HOUR
from tests.support.pages import sample_views
from tests.support.pages.browser import WatchedPage, location_of
from tunnihind.core.market import HOUR_S

SAME_WIDTH = """(parts) => {
  const [one, other] = parts.map((part) => document.querySelector(part).getBoundingClientRect());
  return Math.abs(one.left - other.left) <= 1 && Math.abs(one.right - other.right) <= 1;
}"""
"""Whether two parts of a page begin and end at one place, to a pixel: the chart follows its page a moment later."""


async def shown_hours(page: Page) -> list[float]:
    """Return the first hour that the strip shows, and the number of hours."""
    view = await page.locator("#weather svg").get_attribute("viewBox") or ""
    return [float(number) for number in view.split()[::2]]


async def test_the_strip_shows_what_the_chart_shows_right_below_it(watched_page: WatchedPage) -> None:
    page = await watched_page.show()
    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 844})
        await page.wait_for_function(SAME_WIDTH, arg=["#weather svg", ".over"])
    start = int(await page.locator("#weather svg").get_attribute("data-start") or 0)
    assert await shown_hours(page) == [(HOUR - 12 * HOUR_S - start) / HOUR_S, (sample_views.END - HOUR) / HOUR_S + 12]
    await page.get_by_text("Range and zoom").click()
    await page.locator("[data-move=in]").click()
    await page.clock.run_for(1000)
    await expect(page).to_have_url(re.compile(r"from=\d+&to=\d+"))
    low, high = (int(instant) for instant in re.findall(r"(?:from|to)=(\d+)", await location_of(page)))
    assert await shown_hours(page) == pytest.approx([(low - start) / HOUR_S, (high - low) / HOUR_S], abs=0.01)


async def test_pointing_at_an_hour_tells_its_wind_and_sun(watched_page: WatchedPage) -> None:
    page = await watched_page.show()
    wind, sun = page.locator("[data-said=wind]"), page.locator("[data-said=sun]")
    await expect(wind).to_have_text("Wind at 100 m, 0–16 m/s")
    weather = sample_views.weather(HOUR)
    await page.locator("[data-chart]").focus()
    await expect(wind).to_have_text(f"Wind {weather.wind[24]:.0f} m/s")
    await expect(sun).to_have_text(f"Sun {weather.sun[24]:.0f} W/m²")

"""The pictures of the server's pages, from the demo market on one winter's morning."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.machine.processes import Server, free_port, server_environment
from tests.support.machine.shifted_clock import ShiftedClock, library
from tests.support.pages.browser import chromium, open_page
from tests.support.pages.pictures import MORNING, Picture, take_picture
from tunnihind.core.market import DAY_S, HOUR_S


class _Page(NamedTuple):
    path: str
    width: int
    last: str
    """The last element in the picture."""
    pressed: str = ""
    """A button that shows this element."""


PAGES = {
    "dashboard.png": _Page("/?lang=en", 1200, "section.chart"),
    "dashboard.et.png": _Page("/?lang=et", 1200, "section.chart"),
    "compare.png": _Page("/compare?lang=en", 1000, "[aria-labelledby=result-title].card", "[data-typical] button"),
    "compare.et.png": _Page("/compare?lang=et", 1000, "[aria-labelledby=result-title].card", "[data-typical] button"),
}
_FONT = "Inter"
_PATIENCE_S = 600.0


async def page_pictures(folder: Path) -> AsyncIterator[Picture]:
    """Take the pictures of the pages, with a demo in `folder`."""
    if (found := library()) is None:
        pytest.skip("needs a clock that can be shifted: Debian's package libfaketime")
    clock = ShiftedClock(found, folder / "clock")
    clock.set(MORNING)
    environment = server_environment(folder, folder / "unused.db") | clock.environment
    arguments = ["--demo", "--public-url", "https://hind.example"]
    server = Server(arguments, environment, free_port(), folder / "server.log", wrapper=())
    try:
        await server.until(
            "/api/series?days=14", lambda reply: _has_two_weeks(reply.json()), within=_PATIENCE_S, say="two weeks"
        )
        async with chromium(font=_FONT) as browser:
            for name, (path, width, last, pressed) in PAGES.items():
                async with open_page(browser, server.url, viewport={"width": width, "height": 2400}) as seen:
                    await seen.page.clock.install(time=clock.now())
                    page = await seen.show(path)
                    if pressed:
                        await page.locator(pressed).click()
                    await page.locator(last).wait_for()
                    yield await take_picture(page, name, last=page.locator(last))
    finally:
        server.clear_away()


def _has_two_weeks(series: dict[str, list[dict[str, int]]]) -> bool:
    """Return whether the forecasts have no gap from two weeks ago to more than two days ahead."""
    forecast = [point["ts"] for point in series["forecast"]]
    return bool(forecast) and forecast[-1] - forecast[0] == (len(forecast) - 1) * HOUR_S > 16 * DAY_S

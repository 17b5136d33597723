"""A real browser, and the log and the requests of its pages.

The browser is Debian's, and has no connection except to the pages under test. The package `chromium-headless-shell`
shows the same pages in less than half the processor time.
"""

import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

from tests.support.api.api_server import RunningServer
from tests.support.machine.processes import PATIENCE_S
from tunnihind.web.texts import texts_in

PHONE: Final = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
CHROMIUM_OPTIONS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

FONT_PACKAGES: Final = {
    "Noto Sans": "fonts-noto-core",
    "DejaVu Sans": "fonts-dejavu-core",
    "Inter": "fonts-inter",
    "Liberation Sans": "fonts-liberation",
}
"""The fonts with which the pages are measured, and Debian's packages with these fonts. The first is the usual one."""

# Debian's fonts, but one of them in place of all others except those for code.
_FONT_SETTINGS: Final = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <match target="pattern">
    <test qual="all" name="family" compare="not_eq"><string>monospace</string></test>
    <edit name="family" mode="assign" binding="strong"><string>{font}</string></edit>
  </match>
</fontconfig>
"""

# Playwright's default of five seconds is too short for a busy machine.
expect.set_options(timeout=1000 * PATIENCE_S)


@asynccontextmanager
async def chromium(
    environment: Mapping[str, str] | None = None, font: str = next(iter(FONT_PACKAGES))
) -> AsyncIterator[Browser]:
    """Return a running browser, with extra environment variables. Skip the test if there is no browser.

    All text except code has one font, whatever fonts the machine has, so that sizes are the same everywhere.
    """
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        pytest.skip("needs a browser: Debian's package chromium-headless-shell, or chromium")
    with tempfile.TemporaryDirectory() as folder:
        fonts = Path(folder) / "fonts.conf"
        fonts.write_text(_FONT_SETTINGS.format(font=font))
        variables: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": str(fonts), **(environment or {})}
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=found, args=CHROMIUM_OPTIONS, env=variables)
            yield browser
            await browser.close()


@asynccontextmanager
async def chromium_with_font(font: str) -> AsyncIterator[Browser]:
    """Return a browser that draws all text in one font. Skip the test if the machine lacks the font."""
    async with chromium(font=font) as browser:
        page = await browser.new_page()
        await page.set_content("<p>Hind</p>")
        if await fonts_of(page, "p") != {font}:
            pytest.skip(f"needs the font {font}: Debian's packages {', '.join(FONT_PACKAGES.values())}")
        await page.close()
        yield browser


async def fonts_of(page: Page, selector: str) -> set[str]:
    """Return the families of the fonts in which an element's text is drawn."""
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("DOM.enable")
    await devtools.send("CSS.enable")
    root = (await devtools.send("DOM.getDocument"))["root"]["nodeId"]
    node = (await devtools.send("DOM.querySelector", {"nodeId": root, "selector": selector}))["nodeId"]
    used = await devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})
    return {one["familyName"] for one in used["fonts"]}


@dataclass
class WatchedPage:
    """A page, the complaints in its console, and its requests to anybody except its server."""

    page: Page
    address: str
    console_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)

    async def show(self, target: str = "/") -> Page:
        """Go to a path of the server, and wait until the scripts have fetched their data."""
        await self.page.goto(self.address + target, wait_until="networkidle")
        return self.page

    def on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.console_errors.append(message.text)

    def on_request(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc:
            self.foreign_requests.append(request.url)


@asynccontextmanager
async def open_page(browser: Browser, address: str, **options: Any) -> AsyncIterator[WatchedPage]:  # noqa: ANN401  of the browser
    """Open a page at a server's address, as an English reader in Estonia does. The options are a browser context's."""
    usual = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", "timezone_id": "Europe/Tallinn"}
    settings = {**usual, **options}
    async with await browser.new_context(**settings) as context:
        page = await context.new_page()
        seen = WatchedPage(page, address)
        page.on("console", seen.on_console)
        page.on("pageerror", lambda error: seen.console_errors.append(str(error)))
        page.on("request", seen.on_request)
        yield seen


async def open_options(page: Page) -> None:
    """Open the menu of the page's options if it isn't open yet."""
    menu = page.locator("details.menu")
    if await menu.get_attribute("open") is None:
        await menu.locator("summary").click()


async def choose(page: Page, option: str) -> None:
    """Choose an option in the menu by its name, and wait until it is active."""
    await open_options(page)
    link = page.locator(".menu").get_by_role("link", name=option, exact=True)
    await link.click()
    await expect(link).to_have_attribute("aria-current", "true")


async def location_of(page: Page) -> str:
    """Return the address in the page itself, because Playwright learns of a script's change only a moment later."""
    return str(await page.evaluate("location.href"))


def address_of(server: RunningServer) -> str:
    return f"http://127.0.0.1:{server.port}"


async def series_of(server: RunningServer) -> Any:  # noqa: ANN401  a JSON document
    return json.loads((await server.ask("/api/series")).body)


def whole_cents(euros: float) -> str:
    """Return the text of a forecast's price in EUR/kWh on the page, in whole cents."""
    return texts_in("en").whole_number(euros * 100)


def cents(euros: float) -> str:
    """Return the text of a price in EUR/kWh on the English page, in cents."""
    return f"{euros * 100:.2f}".replace("-", "−")

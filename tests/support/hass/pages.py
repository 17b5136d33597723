"""Home Assistant's pages, in the browser of its owner."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from playwright.async_api import BrowserContext, Page, ViewportSize

from tests.support.hass.real_home import RealHome
from tests.support.pages.browser import chromium

type Theme = Literal["light", "dark"]

DESKTOP: ViewportSize = {"width": 1280, "height": 1400}
PHONE: ViewportSize = {"width": 400, "height": 1200}

_FAR_AHEAD_MS = 10**14


@asynccontextmanager
async def owner_s_browser(
    real_home: RealHome,
    *,
    theme: Theme = "light",
    size: ViewportSize = DESKTOP,
    address: str | None = None,
) -> AsyncIterator[BrowserContext]:
    """Return a browser in which the owner is logged in, at Home Assistant's own address or at another one."""
    address = address or real_home.hass.process.url
    tokens = {
        "access_token": real_home.hass.token,
        "token_type": "Bearer",
        "expires_in": _FAR_AHEAD_MS // 1000,
        "expires": _FAR_AHEAD_MS,
        "refresh_token": "",
        "hassUrl": address,
        "clientId": f"{address}/",
    }
    async with chromium() as browser:
        context = await browser.new_context(
            base_url=address,
            viewport=size,
            color_scheme=theme,
            timezone_id="Europe/Tallinn",
            ignore_https_errors=True,
        )
        await context.add_init_script(f"localStorage.setItem('hassTokens', {json.dumps(json.dumps(tokens))})")
        yield context


@asynccontextmanager
async def opened(context: BrowserContext, real_home: RealHome, path: str) -> AsyncIterator[Page]:
    """Return a page of Home Assistant after the page's first drawing."""
    page = await context.new_page()
    await page.goto(path)
    await page.locator("home-assistant-main").wait_for()
    yield page
    await page.close()


async def device_pages(real_home: RealHome) -> dict[str, str]:
    """Return the paths of the device pages of the integration, by the name of the device."""
    devices = await real_home.hass.command("config/device_registry/list")
    return {
        each["name"]: f"/config/devices/device/{each['id']}"
        for each in devices
        if any(domain == "tunnihind" for domain, _ in each["identifiers"])
    }

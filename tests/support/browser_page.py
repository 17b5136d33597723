"""A page of a browser on a server of the test's, and all that it complains of or asks others for."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, Request

from tests.server.api.conftest import Serve
from tests.support import sample_views
from tests.support.api_server import RunningServer
from tests.support.chromium import chromium
from tunnihind.web.assets import CHART_LIBRARY, page_assets

PHONE: Final = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@dataclass
class Watched:
    """A page and what became of it."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    async def show(self, target: str = "/") -> Page:
        """Go to a path of the server and wait until its scripts have what they asked for."""
        await self.page.goto(self.address + target, wait_until="networkidle")
        return self.page

    def heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def asked(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc:
            self.strangers.append(request.url)


@asynccontextmanager
async def watched(browser: Browser, address: str, **options: Any) -> AsyncIterator[Watched]:  # noqa: ANN401  of the browser
    """Open a page on a server's address; options are those of a browser's context."""
    context = await browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **options})
    page = await context.new_page()
    seen = Watched(page, address)
    page.on("console", seen.heard)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("request", seen.asked)
    yield seen
    await context.close()


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Return a running browser."""
    if CHART_LIBRARY not in page_assets():
        pytest.skip("needs the chart library, which comes with the build: reinstall the package")
    async with chromium() as browser:
        yield browser


@pytest.fixture
async def server(serve: Serve) -> RunningServer:
    """Return a server of an ordinary day."""
    return await serve(sample_views.ordinary())


@pytest.fixture
async def watch(browser: Browser, server: RunningServer) -> AsyncIterator[Watched]:
    """Return a page that must neither complain nor ask anybody but the server."""
    async with watched(browser, address_of(server)) as seen:
        yield seen
        assert seen.complaints == []
        assert seen.strangers == []


def address_of(server: RunningServer) -> str:
    return f"http://127.0.0.1:{server.port}"


async def series_of(server: RunningServer) -> Any:  # noqa: ANN401  a JSON document
    return json.loads((await server.ask("/api/series")).body)


def cents(euros: float) -> str:
    """Write a price in EUR/kWh as the English page does, in cents."""
    return f"{euros * 100:.2f}".replace("-", "−")

"""One browser for all pages that a process tests. Fixtures and tests share its event loop."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.support.api.api_server import RunningServer, Serve
from tests.support.api.serving import serving
from tests.support.pages import sample_views
from tests.support.pages.browser import WatchedPage, address_of, chromium, open_page
from tunnihind.settings import Settings


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each test of this folder that awaits anything run in the browser's event loop."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("asyncio"):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Return a running browser. Each test opens its own pages, which share no data."""
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def serve() -> AsyncIterator[Serve]:
    """Return a function that starts a server with the given view and settings.

    Without a view, the server has no data yet.
    """
    async with serving() as start:
        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def server(serve: Serve) -> RunningServer:
    """Return a server of an ordinary day. Its API has the legal VAT, so its prices are the same as on a first visit."""
    return await serve(sample_views.ordinary(), settings=Settings(vat_rate=sample_views.LAWFUL_VAT_RATE))


@pytest_asyncio.fixture(loop_scope="session")
async def watched_page(browser: Browser, server: RunningServer) -> AsyncIterator[WatchedPage]:
    """Return a page that must log no error and ask nobody but the server."""
    async with open_page(browser, address_of(server)) as seen:
        yield seen
        assert seen.console_errors == []
        assert seen.foreign_requests == []

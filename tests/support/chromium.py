"""A browser for tests: Debian's, which talks to nobody but the pages it is sent to."""

import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import pytest
from playwright.async_api import Browser, async_playwright

CHROMIUM_OPTIONS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@asynccontextmanager
async def chromium(environment: Mapping[str, str] | None = None) -> AsyncIterator[Browser]:
    """Return a running browser, with some environment variables of its own; skip the test where there is none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("needs a browser: Debian's package chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found, args=CHROMIUM_OPTIONS, env={**os.environ, **(environment or {})}
        )
        yield browser
        await browser.close()

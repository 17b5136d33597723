"""All pages by the rules of WCAG 2.2 AA, as axe-core knows them."""

from dataclasses import replace
from itertools import product

import pytest
from playwright.async_api import Browser, Page, ViewportSize

from tests.support.api.api_server import Serve
from tests.support.machine.node import modules
from tests.support.pages import sample_views
from tests.support.pages.browser import address_of, open_page
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA
from tunnihind.settings import Settings

PHONE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: ViewportSize = {"width": 1280, "height": 900}


async def findings(page: Page, part: str = "html") -> list[str]:
    """Return axe-core's findings in a part of a page. It runs past the page's policy, like a browser's extension."""
    source = (modules() / "axe-core" / "axe.min.js").read_text()
    await page.evaluate(source)
    result = await page.evaluate("part => axe.run(part, {resultTypes: ['violations']})", part)
    return [
        f"{violation['impact']} {violation['id']}: {node['html'][:200]} {node.get('failureSummary')}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]


async def unfold(page: Page) -> None:
    """Open everything that is folded, including the menu of options."""
    await page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")


DARK_TOO = (
    "/",
    "/?period=quarter&package=vork_5",
    "/?embed=1&lang=et",
    "/accuracy",
    "/compare?profile=home&yearly=3000&fixed=9&package=vork_4",
    "/docs",
    "/fi/?network=5&night=3",
)
IN_RUSSIAN = ("/?lang=ru&package=vork_5", "/?embed=1&lang=ru", "/accuracy?lang=ru", "/compare?lang=ru", "/docs?lang=ru")
"""Pages in the light scheme on a phone only, because colours and layout don't depend on the language."""


@pytest.mark.parametrize(
    ("path", "scheme", "sizes"),
    [*product(DARK_TOO, ("light", "dark"), [(DESKTOP, PHONE)]), *product(IN_RUSSIAN, ("light",), [(PHONE,)])],
)
async def test_a_page_has_no_finding(
    browser: Browser, serve: Serve, path: str, scheme: str, sizes: tuple[ViewportSize, ...]
) -> None:
    server = await serve(sample_views.negative(), Settings(zones=("ee", "fi")))
    for size in sizes:
        async with open_page(browser, address_of(server), color_scheme=scheme, viewport=size) as seen:
            page = await seen.show(path)
            await unfold(page)
            assert await findings(page) == []


@pytest.mark.parametrize(
    "view",
    [
        ServedData("empty", ESTONIA),
        sample_views.stale(),
        sample_views.without_forecast(),
        replace(sample_views.before_the_first_scores(), version="not scored"),
    ],
    ids=lambda view: view.version,
)
async def test_a_page_with_bad_news_has_no_finding(browser: Browser, serve: Serve, view: ServedData) -> None:
    server = await serve(view, mode="demo")
    async with open_page(browser, address_of(server), color_scheme="dark", viewport=PHONE) as seen:
        for path in ("/", "/accuracy", "/?embed=1"):
            page = await seen.show(path)
            await unfold(page)
            assert await findings(page) == [], path


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_what_is_chosen_can_be_read_while_the_mouse_is_on_it(browser: Browser, serve: Serve, scheme: str) -> None:
    server = await serve(sample_views.ordinary())
    async with open_page(browser, address_of(server), color_scheme=scheme) as seen:
        page = await seen.show("/")
        for chosen in (".quick [aria-pressed=true]", ".chart .choice [aria-pressed=true]"):
            await page.locator(chosen).hover()
            assert await findings(page, chosen) == []

"""The style sheets: their rules apply to existing classes, and no page loads an unneeded sheet."""

import re
from itertools import chain
from pathlib import Path

import pytest

import tunnihind.web
from tests.support.api.api_server import Serve, html_of
from tests.support.pages import sample_views
from tunnihind.web.assets import page_files

PACKAGE = Path(tunnihind.web.__file__).parent
SHEETS = sorted((PACKAGE / "static").glob("*.css"))
BY_NUMBER = re.compile(r"(t|in)\d+")
"""Classes for tints and indents. Templates write their numbers."""


@pytest.mark.parametrize("sheet", SHEETS, ids=[sheet.name for sheet in SHEETS])
def test_every_class_that_a_sheet_styles_is_written_somewhere(sheet: Path) -> None:
    rules = re.sub(r'/\*.*?\*/|"[^"]*"', "", sheet.read_text(), flags=re.DOTALL)
    selectors = re.findall(r"([^{}]+)\{", rules)
    styled = {name for selector in selectors for name in re.findall(r"\.([a-z][\w-]*)", selector)}
    scripts = (path for path in page_files() if path.suffix == ".js")
    sources = chain(PACKAGE.glob("*.py"), PACKAGE.rglob("*.html"), scripts)
    written = {word for source in sources for word in re.findall(r"[a-z][\w-]*", source.read_text())}
    assert styled
    assert {name for name in styled - written if not BY_NUMBER.fullmatch(name)} == set()


@pytest.mark.parametrize(
    ("page", "sheets"),
    [
        ("/", ["style.css"]),
        ("/?embed=1", ["style.css", "embed.css"]),
        ("/accuracy", ["style.css", "accuracy.css"]),
        ("/docs", ["style.css", "reference.css"]),
    ],
)
async def test_a_page_has_the_shared_sheet_and_then_its_own(serve: Serve, page: str, sheets: list[str]) -> None:
    html = await html_of(await serve(sample_views.ordinary()), page)
    assert re.findall(r'rel="stylesheet" href="static/\w+/(\w+\.css)"', html) == sheets

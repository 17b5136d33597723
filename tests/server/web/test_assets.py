"""The files of the pages: their addresses, lifetime and size, and what the style sheets style."""

import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

import tunnihind.web
from tests.support.api.api_server import HOUR, RunningServer, Serve, html_of
from tests.support.pages import sample_views
from tests.support.pages.outline import Outline
from tunnihind.core.market import HOUR_S
from tunnihind.settings import Settings
from tunnihind.web.assets import Assets, page_assets, page_files
from tunnihind.web.options import LANGUAGES

FILES = {
    "a.js": b'// Words.\nexport const web = "// is no comment";  // But this is one.\n',
    "a.css": b"/* Words. */\na { width: calc(1px + 2em); }\n",
    "b.css": b"@media print {\n  a { color: red; }\n}\n",
    "a.svg": b"<svg> <!-- Words. --> </svg>\n",
}


async def test_files_of_the_pages_may_be_kept_for_ever_and_others_are_not_found(server: RunningServer) -> None:
    address = page_assets().address("style.css")
    answer = await server.ask(f"/{address}")
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Type"] == "text/css; charset=utf-8"
    again = await server.ask(f"/{address}", f"If-None-Match: {answer.headers['ETag']}")
    assert (again.status, again.body) == (304, b"")
    for missing in ("/static/0123/style.css", f"/{address}x", "/static/x/../../pages.py", "/static/"):
        gone = await server.ask(missing)
        assert gone.status == 404
        assert gone.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("lang", LANGUAGES[1:])
@pytest.mark.parametrize(
    ("page", "prices", "limit"),
    [
        # The limits are for 110 kB in all. On a real market, quarters vary more than these and take 2 kB more.
        ("/?package=vork_5&margin=0.5", "api/series?days=2", 63_000),
        ("/?package=vork_5&margin=0.5&period=quarter", "api/v1/quarters?days=1", 79_200),
        ("/?embed=1", "api/series?days=2", 48_000),
        ("/accuracy?", None, 20_000),
        ("/compare?", None, 36_000),
        ("/docs?", None, 45_000),
    ],
)
async def test_the_first_load_of_a_page_stays_below_a_size_over_the_wire(
    serve: Serve, page: str, prices: str | None, limit: int, lang: str
) -> None:
    page = f"{page}&lang={lang}"
    # The prices are not smooth, as on the market, because such prices take more bytes.
    rough = np.random.default_rng(1).normal(90, 40, 373).round(2).tolist()
    of_market = dict(zip(range(HOUR - 336 * HOUR_S, HOUR + 37 * HOUR_S, HOUR_S), rough, strict=True))
    server = await serve(sample_views.ordinary(prices=of_market))
    addresses = {address for address in Outline(await html_of(server, page)).addresses if address.startswith("static/")}
    asked = (page, *(f"/{path}" for path in (prices, *addresses) if path))
    answers = [await server.ask(path, "Accept-Encoding: gzip") for path in asked]
    assert {answer.status for answer in answers} == {200}
    fields = sum(len(f"{name}: {value}") + 2 for answer in answers for name, value in answer.headers.items())
    assert limit / 2 < sum(len(answer.body) for answer in answers) + fields < limit


@pytest.mark.parametrize("page", ["/", "/lv/"])
async def test_a_limit_on_requests_leaves_a_page_its_files(page: str, serve: Serve) -> None:
    server = await serve(settings=Settings(rate_limit=2.0, zones=("ee", "lv")))
    addresses = Outline(await html_of(server, page)).addresses
    files = [address for address in addresses if address.startswith("static/")]
    assert len(files) > 4
    assert {(await server.ask(f"{page}{address}")).status for address in files} == {200}


@pytest.mark.parametrize(
    ("name", "served"),
    [
        ("a.js", b'export const web="// is no comment";'),
        ("a.css", FILES["a.css"]),
        ("b.css", b"@media print {\na { color: red; }\n}\n"),
        ("a.svg", FILES["a.svg"]),
    ],
)
async def test_scripts_are_served_without_comments_and_styles_without_indentation(name: str, served: bytes) -> None:
    assets = Assets(FILES)
    request = make_mocked_request("GET", "/", match_info={"digest": assets.digest, "name": name})
    answer = await assets.handle(request)
    assert isinstance(answer, web.Response)
    assert answer.body == served


def test_the_path_of_the_files_changes_with_any_of_them() -> None:
    files = {"a.js": b"1", "b.css": b"2"}
    assert Assets(files).digest == Assets(dict(reversed(files.items()))).digest
    assert Assets(files).digest != Assets(files | {"b.css": b"3"}).digest
    assert Assets(files).digest != Assets({"a.js": b"1", "c.css": b"2"}).digest


def test_a_script_asks_ahead_for_all_that_it_imports_and_for_nothing_else() -> None:
    files = {
        "page.js": b'// Words.\n\nimport { a, b } from "./a.js";\n',
        "a.js": b'import { c } from "./c.js";\n/** @param {import("./types.js").Type} it */\n',
        "c.js": b'import { a } from "./a.js";\n',
        "types.js": b"",
    }
    assert Assets(files).imported_modules("page.js") == ["a.js", "c.js"]


@pytest.mark.parametrize(
    ("page", "script"),
    [("/", "dashboard.js"), ("/?embed=1", "embed.js"), ("/docs", "reference.js"), ("/compare", "compare.js")],
)
async def test_a_page_asks_ahead_for_its_modules_and_not_for_those_of_other_pages(
    server: RunningServer, page: str, script: str
) -> None:
    html = await html_of(server, page)
    ahead = set(re.findall(r'rel="modulepreload" href="static/\w+/([\w-]+\.js)"', html))
    scripts = {path.name: path.read_text() for path in page_files() if path.name in ahead | {script}}
    imported = {name: re.findall(r'^import .* from "\./(.*?)"', text, re.MULTILINE) for name, text in scripts.items()}
    assert ahead == {name for names in imported.values() for name in names}
    assert f'src="{page_assets().address(script)}"' in html


def test_the_small_view_loads_no_script_of_what_it_does_not_show() -> None:
    files = page_assets()
    assert {"finder.js", "windows.js"} <= set(files.imported_modules("dashboard.js")) - set(
        files.imported_modules("embed.js")
    )
    assert set(files.imported_modules("embed.js")) < set(files.imported_modules("dashboard.js"))


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
        ("/compare", ["style.css", "compare.css"]),
        ("/docs", ["style.css", "reference.css"]),
    ],
)
async def test_a_page_has_the_shared_sheet_and_then_its_own(serve: Serve, page: str, sheets: list[str]) -> None:
    html = await html_of(await serve(sample_views.ordinary()), page)
    assert re.findall(r'rel="stylesheet" href="static/\w+/(\w+\.css)"', html) == sheets

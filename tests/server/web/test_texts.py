import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import tunnihind.web
from tests.support.api.api_server import RunningServer, html_of
from tunnihind.api.openapi.document import openapi_document
from tunnihind.market import MARKETS, ZONES, Zone
from tunnihind.settings import Settings
from tunnihind.web.reference import RECIPES, inline, recipe, translation
from tunnihind.web.texts import texts_in

WEB = Path(tunnihind.web.__file__).parent
EN, ET = (json.loads((WEB / "locales" / f"{language}.json").read_text()) for language in ("en", "et"))


def test_both_languages_have_the_same_texts_with_the_same_gaps() -> None:
    def gaps(table: dict[str, Any]) -> dict[str, set[str]]:
        return {key: set(re.findall(r"\{(\w+)", text)) for key, text in table.items() if isinstance(text, str)}

    assert set(EN) == set(ET)
    assert gaps(EN) == gaps(ET)
    assert gaps(EN["script"]) == gaps(ET["script"])


def test_every_text_that_templates_name_is_there_and_none_is_left_over() -> None:
    sources = [*(WEB / "templates").rglob("*.html"), *WEB.glob("*.py")]
    code = "".join(path.read_text() for path in sources)
    assert set(re.findall(r'\bt\("([\w.-]+)"[,)]', code)) <= set(EN)
    ones = {f"{key}.one" for key in re.findall(r'\.counted\("([\w.-]+)"', code)}
    assert ones <= set(EN)
    literal = set(re.findall(r'"([\w.-]+)"', code)) | ones
    prefixes = tuple(set(re.findall(r'"([\w.-]+\.)(?:" ~|\{)', code)))
    assert {key for key in EN if key not in literal and not key.startswith(prefixes)} <= {"script"}


def test_every_text_that_scripts_name_is_there_and_none_is_left_over() -> None:
    code = "".join(path.read_text() for path in (WEB / "static").glob("*.js"))
    texts = set(EN["script"])
    assert set(re.findall(r'say\("([\w.]+)"', code)) <= set(texts_in("en").script())
    assert texts <= set(re.findall(r'"([\w.]+)"', code)) | set(re.findall(r"texts\.(\w+)", code))


def strings(node: Any, key: str = "") -> Iterator[str]:  # noqa: ANN401  a JSON document
    if isinstance(node, dict):
        for name, value in node.items():
            if name not in {"example", "examples", "tags"}:
                yield from strings(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value, key)
    elif key in {"summary", "description"} and isinstance(node, str):
        yield node


def groups(document: Any) -> list[str]:  # noqa: ANN401  a JSON document
    """Return the names and descriptions of the groups of resources."""
    return [text for tag in document["tags"] for text in tag.values()]


@pytest.mark.parametrize("vat_rate", [None, 0.24])
@pytest.mark.parametrize("zone", ZONES)
def test_every_sentence_of_the_reference_has_its_estonian(zone: Zone, vat_rate: float | None) -> None:
    settings = Settings(zones=(zone,), vat_rate=vat_rate, attribution="Someone (example.org)")
    document = openapi_document(settings)
    say = translation(settings, "et")
    shown = [
        *document["info"]["description"].strip().split("\n\n"),
        *strings([document["paths"], document["components"]]),
        *groups(document),
    ]
    assert [text for text in shown if say(text) == text] == []


def test_the_catalogue_translates_nothing_that_is_gone() -> None:
    settings = Settings()
    catalogue = json.loads((WEB / "locales" / "reference.et.json").read_text())
    document = openapi_document(settings)
    shown = {*document["info"]["description"].strip().split("\n\n"), *strings(document), *groups(document), "fraction"}
    shown |= {market.adjective for market in MARKETS.values()}
    assert sum(text in shown for text in catalogue) == len([t for t in catalogue if "$" not in t])


@pytest.mark.parametrize(
    ("schema", "field", "shown"),
    [("ForecastHour", "p10", "number · EUR/MWh"),
     ("ForecastHour", "p10Kwh", "number · EUR/kWh"),
     ("ForecastResponse", "madeAt", "integer <em>or null</em> · Unix s"),
     ("ForecastResponse", "now", "integer · Unix s"),
     ("ForecastResponse", "dayAhead", 'array of <a href="#DayAheadHour">DayAheadHour</a>'),
     ("Problem", "type", "string, uri"),
     ("SeriesResponse", "lastRefresh", "integer <em>or null</em> · Unix s · optional"),
     ("SeriesResponse", "backtest", '<a href="#Backtest">Backtest</a> <em>or null</em> · optional')],
)  # fmt: skip
async def test_the_reference_shows_units_null_and_what_is_optional(
    server: RunningServer, schema: str, field: str, shown: str
) -> None:
    [section] = re.findall(rf'<section id="{schema}".*?</section>', await html_of(server, "/docs"), re.DOTALL)
    assert f"<dt><code>{field}</code> <small>{shown}</small></dt>" in section


async def test_the_reference_shows_every_path_and_every_answer(server: RunningServer) -> None:
    html = await html_of(server, "/docs")
    for path, item in openapi_document(Settings())["paths"].items():
        name, answers = item["get"]["operationId"], item["get"]["responses"]
        [section] = re.findall(rf'<section id="{name}".*?</section>', html, re.DOTALL)
        assert f'<a href="#{name}"><code>{path}</code></a>' in html
        assert set(re.findall(r"<code>(\d{3})</code>", section)) == set(answers)
    assert {"400", "404", "429", "503"} <= set(re.findall(r'<div id="problem-(\d+)"', html))


def test_markup_of_descriptions_is_kept_apart_from_their_text() -> None:
    assert inline("**a** `<b>` & c") == "<strong>a</strong> <code>&lt;b&gt;</code> &amp; c"


def test_numbers_and_dates_are_written_as_each_language_does() -> None:
    english, estonian = texts_in("en"), texts_in("et")
    day = date(2026, 11, 20)
    assert (english.number(-1.5, 2), estonian.number(-1.5, 2)) == ("−1.50", "−1,50")
    assert english.number(-0.004, 2) == "0.00"
    assert (english.full_date(day), estonian.full_date(day)) == ("20 November 2026", "20. november 2026")
    assert (english.short_date(day), estonian.short_date(day)) == ("Fri 20 Nov", "R 20.11")


COMMENTS = re.compile(r'"""[^"]*"""|\{#-.*?-#\}|(?<!:)//.*|(?m:(?:^|\s)#\s.*$)')


@pytest.mark.parametrize("file", RECIPES)
def test_a_recipe_has_its_comments_and_nothing_else_in_the_language_of_the_page(file: str) -> None:
    english = recipe(file, "https://hind.example", "en")
    estonian = recipe(file, "https://hind.example", "et")
    assert COMMENTS.sub("", english) == COMMENTS.sub("", estonian)
    assert COMMENTS.search(english)
    translated = json.loads((WEB / "locales" / "recipes.et.json").read_text())[file]
    assert [english.count(comment) for comment in translated] == [1] * len(translated)
    for comment in translated:
        english = english.replace(comment, "")
    assert not COMMENTS.search(english)


def test_recipes_name_the_servers_address() -> None:
    for file in RECIPES:
        code = recipe(file, "https://hind.example")
        assert "tunnihind.local" not in code
        assert ("https://hind.example/api/" in code) is (file != "apexcharts.yaml")

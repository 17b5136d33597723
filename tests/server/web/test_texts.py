import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import tunnihind.web
from tests.support.api.api_server import RunningServer, html_of
from tests.support.documents import leaves
from tests.support.machine.node import run_module
from tunnihind.api.openapi.document import openapi_document
from tunnihind.core.market import MARKETS, ZONES, Zone
from tunnihind.settings import Settings
from tunnihind.web.options import LANGUAGES, Language
from tunnihind.web.reference import RECIPE_CLIENTS, inline_html, read_recipe, translator
from tunnihind.web.texts import ClockTime, plural_category, texts_in

WEB = Path(tunnihind.web.__file__).parent
LOCALES = {language: json.loads((WEB / "locales" / f"{language}.json").read_text()) for language in LANGUAGES}
EN = LOCALES["en"]
translated_language = pytest.mark.parametrize("language", LANGUAGES[1:])
# Texts that begin in the same way as in English: names, units and gaps.
_NAMES = ("{", "API", "In English", "Eesti keeles", "По-русски", "Võrk", "curl", "Python", "JavaScript", "evcc",
          "EMHASS", "Predbat", "EOS", "Shelly", "UTC", "°C")  # fmt: skip
SHARED = {"et": (*_NAMES, "€/MWh", "kW", "m/s", "demo"), "ru": _NAMES}


def forms_in(language: Language) -> dict[str, dict[str, str]]:
    """Return the texts of pages and scripts, each in its plural forms."""
    table = LOCALES[language]
    texts = {**table}
    for scripts in ("script", "comparisonScript"):
        texts |= {f"{scripts} {key}": text for key, text in table[scripts].items()}
    plain = {key: {"other": text} for key, text in texts.items() if isinstance(text, str)}
    return plain | {key: texts[key] for key in texts.keys() - plain.keys() if {*texts[key]} & {"one", "other"}}


def gaps_in(language: Language) -> dict[str, set[str]]:
    # Any text with a country's name may use any of the name's forms.
    said = {
        key: re.sub("{(country|where|adjective)}", "{zone}", str(forms)) for key, forms in forms_in(language).items()
    }
    return {key: set(re.findall(r"{(\w+)", text)) for key, text in said.items()}


@translated_language
def test_each_language_has_the_same_texts_with_the_same_gaps(language: Language) -> None:
    assert [*EN] == [*LOCALES[language]]
    assert gaps_in("en") == gaps_in(language)
    assert EN["zones"].keys() == LOCALES[language]["zones"].keys()


@translated_language
def test_no_text_is_empty_or_left_in_english(language: Language) -> None:
    english, here = forms_in("en"), forms_in(language)
    same = {text for key in english for text in english[key].values() if text in here[key].values()}
    assert {text for text in same if not text.startswith(SHARED[language])} == set()
    assert "" not in leaves(LOCALES[language])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_server_and_scripts_count_by_the_plural_rules_of_the_language(language: Language) -> None:
    asked = """
    const [language, upTo] = JSON.parse(process.argv[2]);
    const plurals = new Intl.PluralRules(language);
    console.log(JSON.stringify([Array.from({ length: upTo }, (_, n) => plurals.select(n)), plurals.select(1.5)]));
    """
    counted, fraction = json.loads(await run_module(asked, json.dumps([language, 200])))
    assert [plural_category(language, n) for n in range(200)] == counted
    for forms in forms_in(language).values():
        assert len(forms) == 1 or {*counted} <= {*forms} <= {*counted, fraction}


def test_every_text_that_templates_name_is_there_and_none_is_left_over() -> None:
    sources = [*(WEB / "templates").rglob("*.html"), *WEB.glob("*.py")]
    code = "".join(path.read_text() for path in sources)
    assert set(re.findall(r'\bt\("([\w.-]+)"[,)]', code)) <= set(EN)
    literal = set(re.findall(r'"([\w.-]+)"', code))
    prefixes = tuple(set(re.findall(r'"([\w.-]+\.)(?:" ~|\{)', code)))
    assert {key for key in EN if key not in literal and not key.startswith(prefixes)} <= {"script"}


def test_every_text_that_scripts_name_is_there_and_none_is_left_over() -> None:
    code = "".join(path.read_text() for path in (WEB / "static").glob("*.js"))
    texts = set(EN["script"])
    assert set(re.findall(r'say\("([\w.]+)"', code)) <= set(texts_in("en").script_texts())
    assert texts <= set(re.findall(r'"([\w.]+)"', code)) | set(re.findall(r"texts\.(\w+)", code))


def test_every_text_of_the_comparison_is_named_in_its_scripts() -> None:
    scripts = ("compare.js", "comparison_view.js", "contracts.js", "meter_file.js")
    template = (WEB / "templates/compare.html").read_text()
    code = template + "".join((WEB / "static" / name).read_text() for name in scripts)
    texts = set(EN["comparisonScript"]) - {"none"}  # named by the server
    assert set(re.findall(r'\bword\("(\w+)"', code)) <= texts
    assert texts <= set(re.findall(r'(?:"|texts\.)(\w+)', code))


@pytest.mark.parametrize(
    ("time", "until"),
    [("21:00", "21ni"), ("21:15", "21.15ni"), ("00:30", "0.30ni"), ("07:00", "7ni"), ("03:00 EEST", "3ni (EEST)")],
)
def test_a_placeholder_with_an_ending_writes_a_time_as_estonians_do(time: str, until: str) -> None:
    clock = ClockTime(time)
    assert f"kell {clock}, kuni kella {clock:ni}" == f"kell {time}, kuni kella {until}"


@pytest.mark.parametrize("zone", ZONES)
def test_russian_names_vat_as_the_zones_country_does(zone: Zone) -> None:
    document = openapi_document(Settings(zones=(zone,)))
    say = translator(Settings(zones=(zone,)), "ru")
    shown = [
        *leaves(texts_in("ru", zone)._table),
        *(say(text) for text in strings([document["paths"], document["components"]])),
        *(read_recipe(file, "https://hind.example", "ru", zone) for file in RECIPE_CLIENTS),
    ]
    said = {name for text in shown for name in re.findall(r"налог|НДС", str(text).lower().replace("ндс", "НДС"))}
    assert said == {"налог" if zone == "ee" else "НДС"}


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
@translated_language
def test_every_sentence_of_the_reference_is_translated(language: Language, zone: Zone, vat_rate: float | None) -> None:
    settings = Settings(zones=(zone,), vat_rate=vat_rate, attribution="Someone (example.org)")
    document = openapi_document(settings)
    say = translator(settings, language)
    shown = [
        *document["info"]["description"].strip().split("\n\n"),
        *strings([document["paths"], document["components"]]),
        *groups(document),
    ]
    assert [text for text in shown if say(text) == text] == []
    assert language != "ru" or [text for text in shown if not re.search("[А-Яа-я]", say(text))] == []


@translated_language
def test_the_catalogue_translates_nothing_that_is_gone(language: str) -> None:
    settings = Settings()
    catalogue = json.loads((WEB / "locales" / f"reference.{language}.json").read_text())
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
    assert inline_html("**a** `<b>` & c") == "<strong>a</strong> <code>&lt;b&gt;</code> &amp; c"


def test_numbers_and_dates_are_written_as_each_language_does() -> None:
    day = date(2026, 11, 20)
    written = {
        lang: (say.number(-1.5, 2), say.full_date(day), say.short_date(day), say("age.days", n=22))
        for lang in LANGUAGES
        for say in [texts_in(lang)]
    }
    assert written == {
        "en": ("−1.50", "20 November 2026", "Fri 20 Nov", "22 days"),
        "et": ("−1,50", "20. november 2026", "R 20.11", "22 päeva"),
        "ru": ("−1,50", "20 ноября 2026", "пт 20.11", "22 дня"),
    }
    assert texts_in("en").number(-0.004, 2) == "0.00"


COMMENTS = re.compile(r'"""[^"]*"""|\{#-.*?-#\}|(?<!:)//.*|(?m:(?:^|\s)#\s.*$)')


@translated_language
@pytest.mark.parametrize("file", RECIPE_CLIENTS)
def test_a_recipe_has_its_comments_and_nothing_else_in_the_language_of_the_page(file: str, language: Language) -> None:
    english = read_recipe(file, "https://hind.example", "en")
    assert COMMENTS.sub("", english) == COMMENTS.sub("", read_recipe(file, "https://hind.example", language))
    assert COMMENTS.search(english)
    translated = json.loads((WEB / "locales" / f"recipes.{language}.json").read_text())[file]
    assert [english.count(comment) for comment in translated] == [1] * len(translated)
    for comment in translated:
        english = english.replace(comment, "")
    assert not COMMENTS.search(english)


def test_recipes_name_the_servers_address() -> None:
    for file in RECIPE_CLIENTS:
        code = read_recipe(file, "https://hind.example")
        assert "tunnihind.local" not in code
        assert ("https://hind.example/api/" in code) is (file != "apexcharts.yaml")

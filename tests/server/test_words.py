"""One term for one thing in all texts for people: page, reference, integration, app, blueprints and guides."""

import json
import re
from pathlib import Path
from typing import Final

import click
import pytest
import yaml

from tests.support import documents
from tests.support.commands import COMMANDS
from tests.support.documents import PROJECT, leaves

PAGE: Final = PROJECT / "server/tunnihind/web/locales"
INTEGRATION: Final = PROJECT / "custom_components/tunnihind/translations"
CARD: Final = PROJECT / "custom_components/tunnihind/frontend/tunnihind-card.js"
FORMS: Final = PROJECT / ".github/ISSUE_TEMPLATE"
APP: Final = PROJECT / "packaging/home-assistant-app/translations"
BLUEPRINTS: Final = PROJECT / "blueprints/automation/tunnihind"

# Patterns of words to avoid, in any case of letters, and the words to use instead.
ESTONIAN: Final = {
    r"töölau": "vaade, as Home Assistant says; our own page is avaleht",
    r"käesolev": "praegune",
    r"senti/kWh": "s/kWh",
    r"(edasi|uuesti) ?avalda": "taasavaldama",
    r"turvatunnus": "turvavõti",
    r"järelkatse": "järeltestimine",
    r"hinnare[ai]": "hindade pingerida",
    r"automaatikareeg": "automatiseering",
    r"südaöö": "kesköö",
    r"(odavaim|kalleim|soodsaim) hind": "madalaim or kõrgeim hind; an hour is odav or kallis",
    r"soodsaim": "odavaim",
    r"hinnavoo": "andmevoog",
}
ENGLISH: Final = {
    r"\bdear(er|est)?\b": "expensive",
    r"\bblank\b": "empty",
    r"market's price": "market price",
    r"\bsettled\b": "published, or market price",
}
RUSSIAN: Final = {
    r"НДС|НСО": "налог с оборота",
    r"электроэнерг": "электричество",
    r"четверт": "15 минут",
    r"кВт[*.]?ч|\bц/|цент за": "цент/кВт·ч",
    r"сенсор": "датчик; Home Assistant's own texts have both",
    r"дашборд|приборн": "панель",
    r"сущност": "объект",
    r"поставщик": "продавец",
    r"сетево[йе] (сбор|тариф|оператор)": "сетевая плата, сетевое предприятие",
    r"дедлайн|конечный срок": "крайний срок",
    r"длительност": "продолжительность",
    r"симуляци": "репетиция",
    r"б[еэ]ктест": "проверка на прошедших днях",
    r"\bфид": "поток данных",
    r"[^.!?\s] (?-i:В)(ы|ас|ам|ами|аш\w*)\b": "вы, in small letters",
    r"\b(еще|ее|идет|дешев(?!ле)\w*|надежн\w*|(ра)?с?чет(ы|чик\w*)?|\w*(?<!вы)ключен)\b": "with its ё",
}
# Names in the integration's guide that the integration itself does not have: Home Assistant's words, readers' own
# plans, and terms that the guide explains.
NAMED: Final = {
    "en": {"Add card", "Change", "Configure", "Delete", "Edit dashboard", "Statistic",
           "Car", "Cheapest 3 hours", "Disabled at first", "Starting at once", "The day's mean"},
    "et": {"Lisa kaart", "Muutus", "Seadista", "Kustuta", "Seadista kasutajaliidest", "Statistika",
           "Auto", "3 odavaimat tundi", "Alguses keelatud", "Kohe alustamine", "Päeva keskmine"},
}  # fmt: skip


def prose(document: str) -> str:
    """Return a document without its code."""
    for _, code in documents.fences(document):
        document = document.replace(code, "")
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", document)


def texts_of_card() -> dict[str, list[str | dict[str, str]]]:
    """Return the card's texts in English, Estonian and Russian. Their table in the script is also valid YAML."""
    [table] = re.findall(r"const TEXTS = (\{.*?\n\});", CARD.read_text(), re.DOTALL)
    read: dict[str, list[str | dict[str, str]]] = yaml.safe_load(table)
    return read


def texts(language: str) -> dict[str, str]:
    """Return the texts of a language by their place."""
    found: dict[str, str] = {}
    if language in documents.LANGUAGES:
        found |= {f"guide {name}": prose(documents.guide(name, language)) for name in documents.GUIDES}
        # An issue form is in both languages.
        found |= {path.name: prose("\n".join(leaves(yaml.safe_load(path.read_text())))) for path in FORMS.iterdir()}
    if language == "en":
        found["changelog"] = prose((PROJECT / "CHANGELOG.md").read_text())
        found |= {f"{name} --help": command.get_help(click.Context(command)) for name, command in COMMANDS.items()}
    for path in (*PAGE.glob(f"*{language}.json"), *INTEGRATION.glob(f"{language}.json")):
        found[path.relative_to(PROJECT).as_posix()] = "\n".join(leaves(json.loads(path.read_text())))
    found["card"] = "\n".join(leaves([said[("en", "et", "ru").index(language)] for said in texts_of_card().values()]))
    for path in APP.glob(f"{language}.yaml"):
        found[path.relative_to(PROJECT).as_posix()] = "\n".join(leaves(yaml.safe_load(path.read_text())))
    return found | {path.name: named(path) for path in BLUEPRINTS.glob("*.yaml")}


def named(blueprint: Path) -> str:
    """Return the names and descriptions of a blueprint and its inputs.

    A blueprint's description is in all languages.
    """
    head = blueprint.read_text().partition("\nvariables:")[0].partition("\ntriggers:")[0]
    return "\n".join(leaves([head.partition("\n  domain:")[0], re.findall(r"(?:name|description): (.*)", head)]))


@pytest.mark.parametrize(("language", "refused"), [("en", ENGLISH), ("et", ESTONIAN), ("ru", RUSSIAN)])
def test_one_term_is_used_for_one_thing(language: str, refused: dict[str, str]) -> None:
    found = [
        f"{place}: {hit[0]!r}, better: {better}"
        for place, text in texts(language).items()
        for pattern, better in refused.items()
        for hit in re.finditer(pattern, text, re.IGNORECASE)
    ]
    assert found == []


def test_no_russian_word_is_written_both_with_its_two_dots_and_without() -> None:
    words = {word.lower() for text in texts("ru").values() for word in re.findall("[А-Яа-яЁё]+", text)}
    # "Все" and "всё" are different words.
    assert {word for word in words if "ё" in word and word.replace("ё", "е") in words} - {"всё"} == set()


@pytest.mark.parametrize("language", [*documents.LANGUAGES, "ru"])
def test_the_percent_sign_stands_next_to_its_number(language: str) -> None:
    found = [
        f"{place}: {hit[0]!r}"
        for place, text in texts(language).items()
        for hit in re.finditer(r".{,20}[\d}][\s\u00a0\u202f]%.{,10}", text)
    ]
    assert found == []


# The plural forms of whole numbers in each language, by Unicode's CLDR.
PLURALS: Final = {"en": {"one", "other"}, "et": {"one", "other"}, "ru": {"one", "few", "many"}}
# Words for programs, and gaps that are filled in.
CODE: Final = r"`[^`]*`|{\w+}|--[a-z-]+|\b\w+=\w*|/api/\w+"
# Other words that may be in Latin letters in Russian: names of things and units.
LATIN_IN_RUSSIAN: Final = {
    "AC", "ApexCharts", "API", "C", "CSV", "Ctrl", "curl", "DNS", "Eesti keeles", "Elektrilevi", "Elering", "EMHASS",
    "ENTSO-E", "EOS", "EUR", "evcc", "Gen2", "Home", "Home Assistant", "HTTP", "In English", "IP", "JavaScript", "jq",
    "kW", "kWh", "MWh", "Node.js", "NTP", "null", "Open-Meteo", "OpenAPI", "origin", "Predbat", "Python", "recorder",
    "REST", "RFC", "Shelly", "Shift", "Solcast", "Tunnihind", "UTC", "Võrk", "W", "Wh",
    # Words that programs read or print.
    "Tunnihind-VAT-Rate", "api", "application/problem[+]json", "auto", "buy", "charges", "dark", "detail", "ee", "en",
    "et", "fi", "import", "law", "lt", "lv", "quarter", "rate_increment", "ru", "status", "tax", "title", "type",
    "vork_[245]",
}  # fmt: skip


def gaps(text: str | dict[str, str]) -> set[str]:
    """Return the gaps of a text in all plural forms. The form for one thing need not have its number."""
    return {gap for form in leaves([text] if isinstance(text, str) else text) for gap in re.findall(r"{(\w+)", form)}


def test_the_card_has_each_text_in_all_languages_with_the_same_gaps_and_all_plurals() -> None:
    for key, said in texts_of_card().items():
        assert len(said) == len(PLURALS), key
        assert len({frozenset(gaps(text)) for text in said}) == 1, key
        forms = {language: set(text) for language, text in zip(PLURALS, said, strict=True) if isinstance(text, dict)}
        assert forms.items() <= PLURALS.items(), key


def test_russian_is_written_in_its_own_letters_quotes_and_dashes() -> None:
    names = re.compile("|".join(rf"\b{name}\b" for name in sorted(LATIN_IN_RUSSIAN, key=len, reverse=True)))
    for place, text in texts("ru").items():
        # A blueprint's description is in all languages, and the reference and its recipes have many names in Latin
        # letters.
        if not place.endswith((".yaml", "reference.ru.json", "recipes.ru.json")) or "translations" in place:
            assert re.findall(r"\S*[A-Za-z]\S*", names.sub("", re.sub(CODE, "", text))) == [], place
            assert re.findall("[\"'“”„]| [-–] |[^ ]—|—[^ ]", text) == [], place
            assert text.count("«") == text.count("»"), place


@pytest.mark.parametrize("language", documents.LANGUAGES)
def test_the_guide_names_things_as_the_integration_does(language: str) -> None:
    """These names are in bold or italics. A path through Home Assistant's menus (→) has Home Assistant's own names."""
    known = set(leaves(json.loads((INTEGRATION / f"{language}.json").read_text()))) | NAMED[language]
    guides = "\n".join(prose(documents.guide(name, language)) for name in documents.HOME_ASSISTANT)
    emphasised = re.findall(r"(?<!\*)\*{1,2}([^*]+)\*{1,2}(?!\*)", guides)
    named = {" ".join(name.split()) for name in emphasised if "→" not in name}
    assert {name for name in named if not name.startswith(("In English", "Eesti keeles"))} - known == set()

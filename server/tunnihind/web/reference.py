"""Translates the texts of the API reference, and reads recipes for common clients.

A recipe is a ready-made file for one client, such as evcc or Shelly, with the server's address filled in.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Final

import msgspec
from markupsafe import Markup, escape

from tunnihind.api.openapi.document import placeholder_values
from tunnihind.core.market import Zone
from tunnihind.settings import Settings
from tunnihind.web.options import Language
from tunnihind.web.texts import named_for_zone, texts_in

_UNIT_OF_TEXT: Final[Mapping[str, str]] = {
    "EUR/MWh": "EUR/MWh",
    "EUR/kWh": "EUR/kWh",
    "unix seconds": "Unix s",
    "ISO 8601": "ISO 8601",
    "Seconds": "s",
    "seconds": "s",
    "fraction": "fraction",
    "in hours": "h",
}
"""Maps a text in a field's description to the unit that the page shows for this field.

If a description contains several of these texts, the first in this mapping counts.
"""

type Translate = Callable[[str], str]


def translator(settings: Settings, language: Language) -> Translate:
    """Return a function that translates the English texts of the API's description.

    A text without a translation stays English.
    """
    zone = settings.market.zone
    catalogue = _translations("reference", language, zone)
    point = texts_in(language, zone)("decimal")
    english_values, translated_values = (
        placeholder_values(settings),
        dict(placeholder_values(settings, lambda text: catalogue.get(text, text))),
    )
    translated_values |= {
        figure: re.sub(r"(?<=[0-9])\.(?=[0-9])", point, translated_values[figure]) for figure in ("vat", "factor")
    }
    table = {
        Template(english).safe_substitute(english_values): Template(translated).safe_substitute(translated_values)
        for english, translated in catalogue.items()
    }
    return lambda text: table.get(text, text)


@cache
def _translations(what: str, language: Language, zone: Zone) -> Mapping[str, Any]:
    """Return the translations in `locales/{what}.{language}.json` for a zone, or an empty mapping for English."""
    if language == "en":
        return {}
    source = files("tunnihind.web").joinpath("locales", f"{what}.{language}.json").read_text(encoding="utf-8")
    return msgspec.json.decode(named_for_zone(source, zone), type=dict[str, Any])


def inline_html(text: str) -> Markup:
    """Convert the marks for `code` and **strong** text in a description to HTML."""
    html = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", html))  # noqa: S704  escaped above


def unit_named_in(description: str) -> str:
    """Return the unit that a field's description names, or an empty string."""
    return next((unit for named, unit in _UNIT_OF_TEXT.items() if named in description), "")


def indented_json(example: object) -> str:
    """Return an example as JSON, indented by two spaces."""
    return msgspec.json.format(msgspec.json.encode(example), indent=2).decode()


PLACEHOLDER_ADDRESS: Final = "http://tunnihind.local:8080"
"""The placeholder for the server's address in recipes."""

RECIPE_CLIENTS: Final = {
    "curl.sh": "curl",
    "python.py": "Python",
    "javascript.js": "JavaScript",
    "home-assistant.yaml": "Home Assistant, REST",
    "apexcharts.yaml": "Home Assistant, ApexCharts",
    "evcc.yaml": "evcc",
    "emhass.yaml": "EMHASS",
    "predbat.yaml": "Predbat",
    "eos.sh": "EOS",
    "shelly.js": "Shelly",
}
"""The name of each recipe's client. The names are the same in all languages."""


def read_recipe(file: str, address: str, language: Language = "en", zone: Zone = "ee") -> str:
    """Read a recipe, translate its comments, and fill in the server's address. `address` has no slash at its end."""
    code = files("tunnihind.web").joinpath("recipes", file).read_text(encoding="utf-8")
    for english, translated in _translations("recipes", language, zone).get(file, {}).items():
        code = code.replace(english, translated)
    return code.replace(PLACEHOLDER_ADDRESS, address)

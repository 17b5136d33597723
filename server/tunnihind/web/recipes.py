"""Recipes for common clients: files that work as they are, once the address in them is the server's."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from tunnihind.settings import Settings
from tunnihind.web.options import Language

ADDRESS: Final = "http://tunnihind.local:8080"
"""What stands for the server's address in the files."""

RECIPES: Final = (
    "curl.sh",
    "python.py",
    "javascript.js",
    "home-assistant.yaml",
    "apexcharts.yaml",
    "evcc.yaml",
    "emhass.yaml",
    "predbat.yaml",
    "shelly.js",
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One recipe; its title and explanation are texts of the pages, named by `key`."""

    key: str
    file: str
    code: str


def recipe(file: str, address: str, language: Language = "en") -> Recipe:
    """Read a recipe for the server at an address (without a slash at its end), with comments in a language."""
    code = files("tunnihind.web").joinpath("recipes", file).read_text(encoding="utf-8")
    for english, translated in _comments(language).get(file, {}).items():
        code = code.replace(english, translated)
    return Recipe(file.partition(".")[0], file, code.replace(ADDRESS, address))


def recipes(settings: Settings, language: Language) -> tuple[Recipe, ...]:
    """Return all recipes in the order in which they are shown."""
    return tuple(recipe(file, settings.base_url, language) for file in RECIPES)


@cache
def _comments(language: Language) -> Mapping[str, Mapping[str, str]]:
    """Return the translations of each recipe's comments; the files themselves are in English."""
    if language == "en":
        return {}
    source = files("tunnihind.web").joinpath("locales", f"recipes.{language}.json").read_bytes()
    return msgspec.json.decode(source, type=dict[str, dict[str, str]])

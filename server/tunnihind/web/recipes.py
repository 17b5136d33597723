"""Recipes for common clients: files that work as they are, once the address in them is the server's."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from tunnihind.settings import Settings

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


def recipe(file: str, address: str) -> Recipe:
    """Read a recipe for the server at an address (without a slash at its end)."""
    code = files("tunnihind.web").joinpath("recipes", file).read_text(encoding="utf-8")
    return Recipe(file.partition(".")[0], file, code.replace(ADDRESS, address))


def recipes(settings: Settings) -> tuple[Recipe, ...]:
    """Return all recipes in the order in which they are shown."""
    return tuple(recipe(file, settings.base_url) for file in RECIPES)

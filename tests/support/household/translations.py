"""The integration's texts in its languages, and the texts that each step of a flow needs."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from homeassistant.data_entry_flow import FlowResultType, section

INTEGRATION: Final = Path(__file__).parents[3] / "custom_components/tunnihind"
LANGUAGES: Final = ("en", "et", "ru")

type Texts = dict[str, Any]


@cache
def texts(language: str) -> Texts:
    """Return all texts of a language."""
    loaded: Texts = json.loads((INTEGRATION / f"translations/{language}.json").read_text())
    return loaded


@cache
def icons() -> Texts:
    loaded: Texts = json.loads((INTEGRATION / "icons.json").read_text())
    return loaded


def leaves(node: Texts, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every text with its path of keys."""
    for key, value in node.items():
        if isinstance(value, str):
            yield (*path, key), value
        else:
            yield from leaves(value, (*path, key))


def placeholders(text: str) -> set[str]:
    """Return the names in a text that the code fills in."""
    return set(re.findall(r"{(\w+)}", text))


def fields_of(schema: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the names of a form's fields. The fields of a section are in a dict of their own."""
    return {
        str(marker.schema): fields_of(field.schema.schema) if isinstance(field, section) else None
        for marker, field in schema.items()
    }


def check_step(flow: Texts, result: Mapping[str, Any]) -> None:
    """Assert that a step of a flow has all its texts, without an unfilled placeholder."""
    match result["type"]:
        case FlowResultType.FORM:
            step = flow["step"][result["step_id"]]
            needed = [text for _, text in leaves(step)] + [flow["error"][error] for error in _errors(result)]
            _check_fields(step, fields_of(result["data_schema"].schema) if result["data_schema"] else {})
        case FlowResultType.MENU:
            step = flow["step"][result["step_id"]]
            assert set(result["menu_options"]) <= step["menu_options"].keys()
            assert step["menu_options"].keys() == step["menu_option_descriptions"].keys()
            needed = [text for _, text in leaves(step)]
        case FlowResultType.ABORT if result.get("translation_domain") is None:
            needed = [flow["abort"][result["reason"]]]
        case _:
            return
    given = set(result.get("description_placeholders") or {})
    assert not (missing := {name for text in needed for name in placeholders(text)} - given), missing


def _errors(result: Mapping[str, Any]) -> list[str]:
    return list((result["errors"] or {}).values())


def _check_fields(step: Texts, fields: Mapping[str, Any]) -> None:
    """Assert that each field of the form has its label and explanation.

    A step may have texts for more fields than it shows, because some fields belong only to some network packages or
    kinds of plans.
    """
    own = {name for name, inner in fields.items() if inner is None}
    assert step.get("data", {}).keys() >= own
    assert step.get("data_description", {}).keys() == step.get("data", {}).keys()
    sections = {name: inner for name, inner in fields.items() if inner is not None}
    assert step.get("sections", {}).keys() >= sections.keys()
    for name, inner in sections.items():
        assert step["sections"][name]["name"]
        _check_fields(step["sections"][name], inner)

"""The issue forms are ones that GitHub accepts, and ask for what a bug needs, in English and Estonian."""

import re
from typing import Any, Final

import pytest
import yaml

from tests.support.documents import PROJECT

TEMPLATES: Final = PROJECT / ".github/ISSUE_TEMPLATE"
FORMS: Final[dict[str, dict[str, Any]]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted(TEMPLATES.glob("*.yml")) if path.stem != "config"
}
# What each form must ask for, by the ids of its fields. Nobody can look into a fault without the first kind.
REQUIRED: Final = {
    "server": {"happened", "version", "way", "state"},
    "integration": {"happened", "version", "diagnostics"},
    "wrong-price": {"zone", "place", "period", "shown", "right"},
    "translation": {"language", "place", "text", "better"},
}
OPTIONAL: Final = {"server": {"sources", "log"}, "integration": {"log"}, "wrong-price": {"household", "state"}}
# GitHub's kinds of fields with the attributes that each may have. It shows no form with any other.
ATTRIBUTES: Final = {
    "markdown": {"value"},
    "input": {"label", "description", "placeholder"},
    "textarea": {"label", "description", "placeholder", "render"},
    "dropdown": {"label", "description", "options"},
}

every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def fields(form: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a form that people fill in."""
    return [part for part in form["body"] if part["type"] != "markdown"]


@every_form
def test_every_form_has_only_parts_that_github_knows(form: dict[str, Any]) -> None:
    assert form.keys() == {"name", "description", "body"}
    assert all(part.keys() <= {"type", "id", "attributes", "validations"} for part in form["body"])
    assert all(part["attributes"].keys() <= ATTRIBUTES[part["type"]] for part in form["body"])
    assert all(part.get("validations", {"required": True}) == {"required": True} for part in fields(form))
    # An option such as `no` without quotes would be read as a truth value, which GitHub refuses.
    texts = [text for part in form["body"] for value in part["attributes"].values() for text in listed(value)]
    assert all(isinstance(text, str) and text for text in texts)


def listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


@every_form
def test_every_field_has_an_id_and_a_label_of_its_own(form: dict[str, Any]) -> None:
    ids = [field["id"] for field in fields(form)]
    labels = [field["attributes"]["label"] for field in fields(form)]
    assert all(re.fullmatch(r"[\w-]+", one) for one in ids)
    assert (len(set(ids)), len(set(labels))) == (len(ids), len(labels))


def test_the_forms_ask_for_what_a_bug_needs() -> None:
    def asked(*, required: bool) -> dict[str, set[str]]:
        return {
            name: ids
            for name, form in FORMS.items()
            if (ids := {field["id"] for field in fields(form) if ("validations" in field) == required})
        }

    assert (asked(required=True), asked(required=False)) == (REQUIRED, OPTIONAL)


def test_the_forms_name_the_commands_and_files_that_show_a_fault() -> None:
    texts = {name: (TEMPLATES / f"{name}.yml").read_text() for name in FORMS}
    assert all(words in texts["server"] for words in ("`./run check --save FOLDER`", "`./run status`", "`/readyz`"))
    assert all(words in texts["integration"] for words in ("Download diagnostics", "Lae diagnostika alla"))


@every_form
def test_every_question_is_in_english_and_in_estonian(form: dict[str, Any]) -> None:
    attributes = [field["attributes"] for field in fields(form)]
    asked = [one[key] for one in attributes for key in ("label", "description") if key in one]
    asked += [option for one in attributes for option in one.get("options", ())]
    for text in (form["description"], *asked):
        english, estonian = re.split(r" / ", text)
        assert english.strip()
        assert estonian.strip()
    for note in (part["attributes"]["value"] for part in form["body"] if part["type"] == "markdown"):
        english, estonian = note.splitlines()
        assert estonian.startswith("*")
        assert not english.startswith("*")


def test_other_ways_lead_to_the_guides_and_to_a_private_report() -> None:
    config = yaml.safe_load((TEMPLATES / "config.yml").read_text())
    assert config.keys() == {"blank_issues_enabled", "contact_links"}
    links = [link["url"] for link in config["contact_links"]]
    own = "https://github.com/tunnihind/tunnihind/"
    guides = [link.removeprefix(f"{own}blob/main/") for link in links if "/blob/" in link]
    assert guides == ["docs/troubleshooting.md", "docs/troubleshooting.et.md"]
    assert all((PROJECT / guide).is_file() for guide in guides)
    [report] = [link for link in links if "/blob/" not in link]
    assert report in (PROJECT / "SECURITY.md").read_text()


def test_the_template_of_a_pull_request_has_five_lines() -> None:
    assert len((PROJECT / ".github/pull_request_template.md").read_text().splitlines()) == 5

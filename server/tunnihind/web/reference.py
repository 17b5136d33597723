"""The API reference: the OpenAPI document laid out for people in their language, and recipes for common clients.

Recipes are files that work as they are, once the address in them is the server's.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Final, Self

import msgspec
from markupsafe import Markup, escape

from tunnihind.api.openapi.document import description_words
from tunnihind.settings import Settings
from tunnihind.web.options import Language
from tunnihind.web.texts import texts_in

_UNITS: Final[Mapping[str, str]] = {
    "EUR/MWh": "EUR/MWh",
    "EUR/kWh": "EUR/kWh",
    "unix seconds": "Unix s",
    "ISO 8601": "ISO 8601",
    "Seconds": "s",
    "seconds": "s",
    "fraction": "fraction",
    "in hours": "h",
}
"""Units by how descriptions name them, looked for in this order."""

type Node = dict[str, Any]
type Translate = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a schema; `refers_to` names the schema that it holds."""

    name: str
    type: str
    refers_to: str | None
    is_nullable: bool
    is_required: bool
    unit: str
    description: Markup


@dataclass(frozen=True, slots=True)
class Schema:
    """One JSON object."""

    name: str
    description: Markup
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a resource takes: any of the choices, or a text of the pattern; `value` is what to try first."""

    name: str
    place: str
    pattern: str
    choices: tuple[str, ...]
    default: str
    value: str
    description: Markup


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a resource."""

    status: str
    description: Markup
    schema: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One resource, with the answers of its own and the statuses of those problems that it shares with others.

    `example_path` has the parameters that have to be given; `description` is in paragraphs.
    """

    name: str
    path: str
    example_path: str
    summary: str
    description: tuple[Markup, ...]
    parameters: tuple[Parameter, ...]
    answers: tuple[Answer, ...]
    problems: tuple[str, ...]
    example: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Everything that the page shows of the document."""

    version: str
    openapi: str
    address: str
    introduction: Markup
    rules: tuple[tuple[str, Markup], ...]
    operations: tuple[Operation, ...]
    schemas: tuple[Schema, ...]
    problems: tuple[Answer, ...]
    headers: tuple[tuple[str, Markup], ...]

    @classmethod
    def of(cls, document: Node, settings: Settings, language: Language) -> Self:
        """Lay a document out."""
        say = translation(settings, language)
        components = document["components"]
        introduction, *rules = document["info"]["description"].strip().split("\n\n")
        return cls(
            version=document["info"]["version"],
            openapi=document["openapi"],
            address=document["servers"][0]["url"],
            introduction=inline(say(introduction)),
            rules=tuple(_rule(say(rule)) for rule in rules),
            operations=tuple(
                _operation(path, item["get"], components, say) for path, item in document["paths"].items()
            ),
            schemas=tuple(_schema(name, schema, say) for name, schema in components["schemas"].items()),
            problems=tuple(
                Answer(status, inline(say(answer["description"])), None)
                for status, answer in components["responses"].items()
                if "content" in answer
            ),
            headers=tuple((name, inline(say(header["description"]))) for name, header in components["headers"].items()),
        )


def translation(settings: Settings, language: Language) -> Translate:
    """Return what translates the document's English; a text that no translation is known of stays English."""
    if language == "en":
        return str
    words = description_words(settings)
    point = texts_in(language)("decimal")
    here = {**words, **{figure: words[figure].replace(".", point) for figure in ("vat", "factor")}}
    table = {
        Template(english).substitute(words): Template(translated).substitute(here)
        for english, translated in _catalogue(language).items()
    }
    return lambda text: table.get(text, text)


@cache
def _catalogue(language: Language) -> Mapping[str, str]:
    source = files("tunnihind.web").joinpath("locales", f"reference.{language}.json").read_bytes()
    return msgspec.json.decode(source, type=dict[str, str])


def inline(text: str) -> Markup:
    """Mark up what descriptions write as `code` and **strong**."""
    html = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", html))  # noqa: S704  escaped above


def _rule(paragraph: str) -> tuple[str, Markup]:
    """Split a paragraph into its name, the bold word, and its text."""
    _, name, text = paragraph.split("**", 2)
    return name.rstrip("."), inline(text.strip())


def _operation(path: str, operation: Node, components: Node, say: Translate) -> Operation:
    content = operation["responses"]["200"].get("content", {})
    example = next((media["example"] for media in content.values() if "example" in media), None)
    parameters = operation.get("parameters", ())
    required = [f"{given['name']}={given['example']}" for given in parameters if given["required"]]
    return Operation(
        name=operation["operationId"],
        path=path,
        example_path=path + ("?" if required else "") + "&".join(required),
        summary=say(operation["summary"]),
        description=tuple(inline(paragraph) for paragraph in say(operation["description"]).split("\n\n")),
        parameters=tuple(_parameter(parameter, say) for parameter in parameters),
        answers=tuple(_answers(operation["responses"], components["responses"], say)),
        problems=tuple(status for status, given in operation["responses"].items() if _is_shared_problem(status, given)),
        example="" if example is None else msgspec.json.format(msgspec.json.encode(example), indent=2).decode(),
    )


def _parameter(parameter: Node, say: Translate) -> Parameter:
    schema = parameter["schema"]
    return Parameter(
        parameter["name"],
        parameter["in"],
        schema.get("pattern", ""),
        tuple(schema.get("enum", ())),
        schema.get("default", ""),
        parameter["example"] if parameter["required"] else schema.get("default", ""),
        inline(say(parameter["description"])),
    )


def _answers(responses: Node, shared: Node, say: Translate) -> Iterator[Answer]:
    for status, given in responses.items():
        if _is_shared_problem(status, given):
            continue
        answer = shared[_name(given["$ref"])] if "$ref" in given else given
        schemas = [media["schema"].get("items", media["schema"]) for media in answer.get("content", {}).values()]
        refers_to = next((_name(schema["$ref"]) for schema in schemas if "$ref" in schema), None)
        yield Answer(status, inline(say(answer["description"])), refers_to)


def _is_shared_problem(status: str, answer: Node) -> bool:
    return "$ref" in answer and status >= "400"


def _schema(name: str, schema: Node, say: Translate) -> Schema:
    required = set(schema.get("required", ()))
    return Schema(
        name,
        inline(say(schema["description"])),
        tuple(_field(field, about, field in required, say) for field, about in schema["properties"].items()),
    )


def _field(name: str, about: Node, is_required: bool, say: Translate) -> Field:
    kinds = about.get("anyOf", [about])
    kind = next(kind for kind in kinds if kind.get("type") != "null")
    held = kind.get("items", kind)
    type_ = "array" if kind.get("type") == "array" else kind.get("type", "object")
    unit = next((unit for named, unit in _UNITS.items() if named in about["description"]), "")
    return Field(
        name=name,
        type=f"{type_}, {kind['format']}" if "format" in kind else type_,
        refers_to=_name(held["$ref"]) if "$ref" in held else None,
        is_nullable=len(kinds) > 1,
        is_required=is_required,
        unit=say(unit),
        description=inline(say(about["description"])),
    )


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


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

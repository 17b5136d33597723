"""The parts of the documents. Tests compare them with the code and run their examples."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

PROJECT: Final = Path(__file__).parents[2]
HOME_ASSISTANT: Final = tuple(
    f"docs/home-assistant/{page}"
    for page in ("install", "price", "card", "plans", "battery", "automations", "costs", "entities", "programs")
)
"""The guides of the integration, in the order in which the README names them."""
GUIDES: Final = (
    *("README", *HOME_ASSISTANT, "docs/api", "docs/commands"),
    *("docs/moving", "docs/data", "docs/troubleshooting"),
)
"""The documents for users. Both languages have the same sections in the same order: `test_documents.py` checks it."""
LANGUAGES: Final = {"en": ".md", "et": ".et.md"}
"""The endings of each language's file names."""

_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OTHER_LANGUAGE: Final = re.compile(r"^\*.*\]\([\w.]+\.md\)\*$\n", re.MULTILINE)
_HEADING: Final = re.compile(r"^(#+) (.+)$", re.MULTILINE)

type Table = list[list[str]]
"""The cells of each row, without the heading."""


@cache
def guide(name: str, language: str = "en") -> str:
    """Return one of the guides."""
    return (PROJECT / f"{name}{LANGUAGES[language]}").read_text()


def text(language: str = "en") -> str:
    """Return all guides, one after the other."""
    return "\n".join(guide(name, language) for name in GUIDES)


def blocks(kind: str, language: str = "en") -> list[str]:
    """Return the guides' code blocks of a kind (`sh`, `yaml`) in order."""
    return [code for found, code in fences(text(language)) if found == kind]


def fences(document: str) -> list[tuple[str, str]]:
    """Return all code blocks of a document in order, each with its kind."""
    return _FENCE.findall(document)


def prose(document: str) -> str:
    """Return a document without its code blocks."""
    return _FENCE.sub("", document)


def headings(document: str) -> list[tuple[int, str]]:
    """Return the headings of a document in order, each with its level."""
    return [(len(marks), title) for marks, title in _HEADING.findall(prose(document))]


def section(english_title: str, language: str = "en") -> str:
    """Return a guide's text under a heading, up to the next heading of any level. No two guides share a heading."""
    titles = [title for _, title in headings(text())]
    assert titles.count(english_title) == 1, english_title
    place = titles.index(english_title)
    return _OTHER_LANGUAGE.sub("", re.split(_HEADING, prose(text(language)))[3 * (place + 1)])


def tables(document: str) -> list[Table]:
    """Return the tables of a document in order."""
    return [
        [[cell.strip() for cell in row[1:-1].split("|")] for row in found.splitlines()[2:]]
        for found in re.findall(r"(?:^\|.*\|$\n?)+", document, re.MULTILINE)
    ]


def codes(document: str) -> list[str]:
    """Return the text in backticks, without code blocks."""
    return re.findall(r"`([^`\n]+)`", prose(document))


def names_in(cell: str, known: set[str]) -> list[str]:
    """Return the names in a cell that lists `known` names. A name may have commas itself."""
    name = "|".join(re.escape(one) for one in sorted(known, key=len, reverse=True))
    assert re.fullmatch(rf"({name})([,;] ({name}))*", cell), f"not all of {cell!r} is known"
    return re.findall(name, cell)


def links(document: str) -> list[str]:
    """Return the targets of a document's links and pictures."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(document))


def anchors(document: str) -> set[str]:
    """Return the names of a document's headings in links, as GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for _, title in headings(document)}


def leaves(node: Any) -> Iterator[str]:  # noqa: ANN401  a JSON or YAML document
    """Yield all strings of a JSON or YAML document except names."""
    if isinstance(node, dict):
        for value in node.values():
            yield from leaves(value)
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value)
    elif isinstance(node, str):
        yield node

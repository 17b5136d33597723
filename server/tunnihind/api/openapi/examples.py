"""Example answers, put together from the examples of their fields, which stand beside the types."""

from collections.abc import Iterable
from typing import Any

from tunnihind.api.openapi.responses import Document


def add_examples(operations: Iterable[Document], schemas: Document) -> None:
    """Give each answer of the operations an example that is valid by its schema, where it has none of its own."""
    answers = (answer for operation in operations for answer in operation["responses"].values())
    for answer in answers:
        for content in answer.get("content", {}).values():
            content.setdefault("example", _example(content["schema"], schemas))


def _example(schema: Document, schemas: Document) -> Any:  # noqa: ANN401  a JSON document
    match schema:
        case {"$ref": reference}:
            return _example(schemas[reference.rpartition("/")[2]], schemas)
        case {"examples": [first, *_]}:
            return first
        case {"anyOf": [first, *_]}:
            return _example(first, schemas)
        case {"items": items}:
            return [_example(items, schemas)]
        case _:
            return {name: _example(field, schemas) for name, field in schema["properties"].items()}

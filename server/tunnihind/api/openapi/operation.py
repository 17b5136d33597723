"""How an operation is written down."""

from collections.abc import Iterable

from tunnihind.api.openapi.responses import Document


def operation(
    name: str, tag: str, summary: str, description: str, *, answers: Document, parameters: Iterable[Document] = ()
) -> Document:
    """Return one operation; `name` is what generated clients call it."""
    written = {
        "operationId": name,
        "tags": [tag],
        "summary": summary,
        "description": description,
        "responses": answers,
    }
    return written | ({"parameters": list(parameters)} if parameters else {})

"""Which package may import which: what is below knows nothing of what is above."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tunnihind

PACKAGE = Path(tunnihind.__file__).parent

ABOVE = {
    "forecast": ("store", "sources", "pipeline", "api", "web", "service", "cli"),
    "store": ("sources", "pipeline", "api", "web", "service", "cli"),
    "sources": ("store", "pipeline", "api", "web", "service", "cli"),
    "pipeline": ("api", "web", "service", "cli"),
    "api": ("sources", "pipeline", "web", "service", "cli"),
    "web": ("store", "sources", "pipeline", "service", "cli"),
    "service": ("cli",),
}
"""What each package must not import."""


def imported(package: str) -> Iterator[str]:
    for path in (PACKAGE / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tunnihind."):
                yield (node.module or "").split(".")[1]
            elif isinstance(node, ast.ImportFrom) and node.module == "tunnihind":
                yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("package", ABOVE)
def test_a_package_imports_nothing_from_above_it(package: str) -> None:
    found = set(imported(package))
    assert found  # or the test looks in the wrong place
    assert not found & set(ABOVE[package])

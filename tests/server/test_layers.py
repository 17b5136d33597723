"""Which package may import which: what is below knows nothing of what is above."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tunnihind

PACKAGE = Path(tunnihind.__file__).parent
INTEGRATION = Path(__file__).parents[2] / "custom_components" / "tunnihind"

ABOVE = {
    "forecast": ("store", "sources", "settling", "pipeline", "api", "web", "service", "cli"),
    "store": ("sources", "settling", "pipeline", "api", "web", "service", "cli"),
    "sources": ("store", "settling", "pipeline", "api", "web", "service", "cli"),
    "settling": ("pipeline", "api", "web", "service", "cli"),
    "pipeline": ("api", "web", "service", "cli"),
    "api": ("sources", "settling", "pipeline", "web", "service", "cli"),
    "web": ("store", "sources", "settling", "pipeline", "service", "cli"),
    "service": ("cli",),
}
"""What each package must not import."""


INTEGRATION_FROM_BELOW = (
    *("const", "errors", "prices", "plans", "server", "storage", "past", "household", "ledger", "coordinator"),
    *("devices", "entity", "forms", "entities", "actions", "card"),
)
"""The rooms of the integration, and files beside them. Each imports only what stands before it."""


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


@pytest.mark.parametrize("room", INTEGRATION_FROM_BELOW)
def test_a_room_of_the_integration_imports_only_rooms_below_it(room: str) -> None:
    place = INTEGRATION / room
    found = {
        imported.removeprefix("tunnihind.").split(".")[0]
        for path in (place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")])
        for imported in imports_of(".".join(path.relative_to(INTEGRATION.parent).with_suffix("").parts), path)
        if imported.startswith("tunnihind.")
    }
    assert found <= {*INTEGRATION_FROM_BELOW[: INTEGRATION_FROM_BELOW.index(room)], room}


def imports_of(module: str, path: Path) -> Iterator[str]:
    """Give the modules that a module imports, and what it imports from packages; those only for types, too."""
    inside = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            start = ".".join(inside.split(".")[: len(inside.split(".")) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, (start, node.module)))
            yield from (source, *(f"{source}.{alias.name}" for alias in node.names))


@pytest.mark.parametrize("root", [PACKAGE, INTEGRATION], ids=lambda root: root.parent.name)
def test_no_modules_import_one_another_in_a_circle(root: Path) -> None:
    modules = {
        ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in root.rglob("*.py")
    }
    imports = {
        module: {found for found in imports_of(module, path) if found in modules and found != module}
        for module, path in modules.items()
    }
    assert sum(map(len, imports.values())) > len(modules)  # or the test looks in the wrong place
    TopologicalSorter(imports).prepare()  # raises CycleError

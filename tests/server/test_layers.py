"""The allowed imports between packages: a lower layer imports nothing from a higher one."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tunnihind

PACKAGE = Path(tunnihind.__file__).parent
INTEGRATION = Path(__file__).parents[2] / "custom_components" / "tunnihind"

SERVER_FROM_BELOW = (
    *("core", "errors", "clock", "numerals", "weather_points", "price_series", "known", "settings"),
    *("forecast", "sources", "settling", "store", "files", "pipeline", "api", "web", "service", "cli"),
)
"""The packages and files of the server, from the lowest up. Each imports only from those before it."""

KEPT_APART = {
    "sources": {"forecast.known_days"},
    "store": {"forecast.run", "forecast.scoring", "settling.witness"},
    "files": {"store.prices"},
    "settling": {"sources"},
    "api": {"forecast", "settling.witness", "store"},
    "web": {"api", "forecast.run", "forecast.scoring"},
}
"""Packages that may import only these of the packages below them."""

INTEGRATION_FROM_BELOW = (
    *("core", "const", "errors", "choices", "prices", "plans", "battery", "client", "storage", "past", "household"),
    *("ledger", "coordinator", "worth", "devices", "entity", "forms", "entities", "actions", "card"),
)
"""The packages and files of the integration, from the lowest up. Each imports only from those before it."""


def rooms_of(root: Path) -> set[str]:
    """Return the names of the packages and files at the top of a package."""
    return {path.stem for path in root.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()} - {
        "__init__"
    }


def imported_by(root: Path, room: str) -> set[str]:
    """Return a room's imports from the other rooms of its package, as `room.module`."""
    place = root / room
    return {
        ".".join(imported.split(".")[1:])
        for path in (place.rglob("*.py", recurse_symlinks=True) if place.is_dir() else [place.with_suffix(".py")])
        for imported in imports_of(".".join(path.relative_to(root.parent).with_suffix("").parts), path)
        if imported.startswith(f"{root.name}.") and imported.split(".")[1] in rooms_of(root) - {room}
    }


def test_each_room_of_the_server_has_its_place() -> None:
    assert set(SERVER_FROM_BELOW) == rooms_of(PACKAGE)


@pytest.mark.parametrize("room", SERVER_FROM_BELOW)
def test_a_room_of_the_server_imports_only_rooms_below_it(room: str) -> None:
    below = SERVER_FROM_BELOW[: SERVER_FROM_BELOW.index(room)]
    assert {imported.split(".")[0] for imported in imported_by(PACKAGE, room)} <= set(below)


@pytest.mark.parametrize("room", KEPT_APART)
def test_a_room_of_the_server_imports_nothing_else_of_rooms_kept_apart(room: str) -> None:
    rooms = {name for name in SERVER_FROM_BELOW[1:] if (PACKAGE / name).is_dir()}  # all may use the core
    of_rooms = {imported for imported in imported_by(PACKAGE, room) if imported.split(".")[0] in rooms}
    allowed = tuple(f"{one}." for one in KEPT_APART[room])
    assert [one for one in of_rooms if "." in one and not f"{one}.".startswith(allowed)] == []


def test_the_core_imports_only_itself_the_standard_library_and_holidays() -> None:
    found = {
        imported.split(".")[0] if not imported.startswith("tunnihind.core.") else "tunnihind.core"
        for path in (PACKAGE / "core").glob("*.py")
        for imported in imports_of(f"tunnihind.core.{path.stem}", path)
        if imported != "tunnihind.core"
    }
    assert found - sys.stdlib_module_names == {"holidays", "tunnihind.core"}


def test_the_server_imports_its_core_without_home_assistant() -> None:
    modules = ", ".join(f"tunnihind.core.{path.stem}" for path in (PACKAGE / "core").glob("*.py"))
    code = f"import sys, {modules}; print(sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"homeassistant", "custom_components"} & set(ast.literal_eval(done.stdout))


@pytest.mark.parametrize("room", INTEGRATION_FROM_BELOW)
def test_a_room_of_the_integration_imports_only_rooms_below_it(room: str) -> None:
    below = INTEGRATION_FROM_BELOW[: INTEGRATION_FROM_BELOW.index(room)]
    assert {imported.split(".")[0] for imported in imported_by(INTEGRATION, room)} <= set(below)


def imports_of(module: str, path: Path) -> Iterator[str]:
    """Yield the modules that a module imports, and the names that it imports from packages.

    Imports for types count too.
    """
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
        for path in root.rglob("*.py", recurse_symlinks=True)
    }
    imports = {
        module: {found for found in imports_of(module, path) if found in modules and found != module}
        for module, path in modules.items()
    }
    assert sum(map(len, imports.values())) > len(modules)  # or the test looks in the wrong place
    TopologicalSorter(imports).prepare()  # raises CycleError

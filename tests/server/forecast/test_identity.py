"""The identity of the model: it changes with everything that can change a forecast."""

import ast
from pathlib import Path

import tunnihind.forecast
from tunnihind.forecast.identity import MODULES


def test_the_identity_covers_every_module_that_the_model_imports() -> None:
    imported: set[str] = set()
    for path in Path(tunnihind.forecast.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                imported.add(node.module)
    outside = {name for name in imported if name.startswith("tunnihind.") and "forecast" not in name.split(".")}
    assert outside == {module.__name__ for module in MODULES}

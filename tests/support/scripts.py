"""Loads scripts outside any package as modules, so that tests can call their functions."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Final

PROJECT: Final = Path(__file__).parents[2]


def load(path: str) -> ModuleType:
    """Return the script at a path in the project, as a module."""
    loader = SourceFileLoader(Path(path).stem, str(PROJECT / path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module

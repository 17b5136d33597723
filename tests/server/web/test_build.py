"""What the package is built with: the chart library, or not at all."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.machine.node import ROOT

STATIC = Path("server/tunnihind/web/static")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of what the package is made from."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "web", tree / "web", ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(ROOT / "server", tree / "server", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tree)
    return tree


def test_a_wheel_without_the_chart_library_is_not_built(tree: Path) -> None:
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("needs uv")
    shutil.rmtree(tree / STATIC / "vendor", ignore_errors=True)
    cut_off = {
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_cache": str(tree / "cache"),
        "npm_config_fetch_retries": "0",
    }
    command: list[str | Path] = [uv, "build", "--wheel", "--out-dir", tree / "dist"]
    done = subprocess.run(command, cwd=tree, env=os.environ | cut_off, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "the chart library can't be fetched from npm" in done.stderr
    assert not list((tree / "dist").glob("*.whl"))


def test_the_lock_file_names_checksums_and_no_registry() -> None:
    lock = (ROOT / "web" / "package-lock.json").read_text()
    assert '"integrity": "sha512-' in lock
    assert '"resolved"' not in lock
    assert "http" not in lock

"""The package as it is built: with the chart library and its licence, or not at all."""

import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.node import ROOT
from tunnihind.web.assets import CHART_LIBRARY, page_assets

STATIC = Path("server/tunnihind/web/static")
LIBRARY = {
    f"tunnihind/web/static/vendor/{name}" for name in ("uPlot.iife.min.js", "uPlot.min.css", "uPlot.LICENSE.txt")
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of what the package is made from."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT / "web", tree / "web", ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(ROOT / "server", tree / "server", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tree)
    return tree


def build(tree: Path, *what: str, **environment: str) -> subprocess.CompletedProcess[str]:
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("needs uv")
    return subprocess.run(
        [uv, "build", *what, "--out-dir", tree / "dist"],
        cwd=tree,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_that_is_built_from_the_sdist_carries_all_that_the_pages_need(tree: Path) -> None:
    if CHART_LIBRARY not in page_assets():
        pytest.skip("needs the chart library, which comes with the build: reinstall the package")
    # By default uv builds the wheel from the sdist, which has the library in it: npm is out of reach here.
    done = build(tree, npm_config_registry="http://127.0.0.1:9", npm_config_cache=str(tree / "cache"))
    assert done.returncode == 0, done.stderr
    [wheel], [sdist] = list((tree / "dist").glob("*.whl")), list((tree / "dist").glob("*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = tree / "server" / "tunnihind"
    ours = {path for path in package.rglob("*") if path.is_file() and "vendor" not in path.parts}
    assert {f"tunnihind/{path.relative_to(package)}" for path in ours} | LIBRARY <= names
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("web/package-lock.json") for name in archive.getnames())


def test_a_wheel_without_the_chart_library_is_not_built(tree: Path) -> None:
    shutil.rmtree(tree / STATIC / "vendor", ignore_errors=True)
    done = build(
        tree,
        "--wheel",
        npm_config_registry="http://127.0.0.1:9",
        npm_config_cache=str(tree / "cache"),
        npm_config_fetch_retries="0",
    )
    assert done.returncode != 0
    assert "the chart library can't be fetched from npm" in done.stderr
    assert not list((tree / "dist").glob("*.whl"))


def test_the_lock_file_names_checksums_and_no_registry() -> None:
    lock = (ROOT / "web" / "package-lock.json").read_text()
    assert '"integrity": "sha512-' in lock
    assert '"resolved"' not in lock
    assert "http" not in lock

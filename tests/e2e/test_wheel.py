"""The wheel as users install it: its contents, and its pages without the project around it."""

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Final

import pytest

from tests.support.machine.processes import Launch, Tunnihind
from tunnihind import __version__

PROJECT: Final = Path(__file__).parents[2]
PACKAGE: Final = PROJECT / "server/tunnihind"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sdist, and with the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build(PROJECT, "--out-dir", folder)
    return folder


def build(project: Path, *options: str | Path) -> None:
    uv = os.environ.get("UV") or shutil.which("uv")
    assert uv is not None
    done = subprocess.run([uv, "build", *options], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(built: Path) -> Path:
    """Return a folder with the wheel's installed files."""
    shutil.unpack_archive(built / f"tunnihind-{__version__}-py3-none-any.whl", built / "installed", "zip")
    return built / "installed"


@pytest.fixture
def environment(environment: dict[str, str], installed: Path) -> dict[str, str]:
    """Let processes run the wheel's files, not the project's own."""
    return environment | {"PYTHONPATH": str(installed)}


def files_in(folder: Path) -> set[str]:
    files = (path.relative_to(folder) for path in folder.rglob("*", recurse_symlinks=True) if path.is_file())
    return {path.as_posix() for path in files if "__pycache__" not in path.parts}


def test_the_wheel_holds_the_package_whole_and_nothing_else(installed: Path) -> None:
    assert files_in(installed / "tunnihind") == files_in(PACKAGE) >= {"core/rates.json", "web/static/chart.js"}
    for name in files_in(PACKAGE):
        assert (installed / "tunnihind" / name).read_bytes() == (PACKAGE / name).read_bytes()
    assert {path.name for path in installed.iterdir()} == {"tunnihind", f"tunnihind-{__version__}.dist-info"}


def test_the_image_makes_the_same_package_of_what_it_takes_in(installed: Path, tmp_path: Path) -> None:
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", (PROJECT / "Dockerfile").read_text(), re.MULTILINE):
        for name in copied.split():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            # Docker copies links as links.
            subprocess.run(["cp", "--recursive", "--no-dereference", PROJECT / name, tmp_path / name], check=True)
    build(tmp_path, "--wheel")
    [wheel] = tmp_path.glob("dist/*.whl")
    shutil.unpack_archive(wheel, tmp_path / "installed", "zip")
    assert files_in(tmp_path / "installed/tunnihind") == files_in(installed / "tunnihind")


def test_the_licence_comes_along(installed: Path) -> None:
    assert "Apache License" in (installed / f"tunnihind-{__version__}.dist-info/licenses/LICENSE").read_text()


def test_the_sdist_holds_what_the_wheel_is_built_from_and_nothing_else(built: Path) -> None:
    with tarfile.open(built / f"tunnihind-{__version__}.tar.gz") as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames()}
    assert {name.split("/")[0] for name in names} == {
        ".gitignore",
        "CHANGELOG.md",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "pyproject.toml",
        "server",
    }


async def test_the_wheel_serves_its_pages_with_all_that_is_on_them(
    launch: Launch, tunnihind: Tunnihind, installed: Path
) -> None:
    assert (await tunnihind("--version")).output == f"tunnihind {__version__}\n"
    server = launch("--no-pipeline")
    page = (await server.until("/?package=vork_5", lambda reply: reply.status == 200)).body.decode()
    chart = page[: page.index("/chart.js")].rpartition('"')[2]
    assert (await server.get(f"/{chart}/chart.js")).status == 200
    assert (installed / "tunnihind/__pycache__").is_dir(), "the project's own files were run"

"""The errors and the archive of `scripts/release`."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.support.scripts import PROJECT, load
from tunnihind import __version__

release: Final = load("scripts/release")
PLACES: Final = tuple(release._PLACES)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the files that a release checks, with a changelog for the release."""
    for place in (*PLACES, "scripts/release"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / place, tmp_path / place)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{__version__}] - 2026-12-24\n\n### Added\n\n- Snow.\n")
    shutil.copytree(PROJECT / release.INTEGRATION, tmp_path / release.INTEGRATION, dirs_exist_ok=True)
    return tmp_path


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = project / "scripts/release"
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)


def test_the_project_agrees_with_itself(project: Path) -> None:
    assert release.agreed_version(project) == __version__
    assert release.notes(project, __version__)


@pytest.mark.parametrize("place", PLACES)
def test_a_version_that_was_forgotten_is_named(project: Path, place: str) -> None:
    path = project / place
    path.write_text(path.read_text().replace(__version__, "0.0.9"))
    done = run(project)
    assert done.returncode == 1
    assert f"0.0.9 in {place}" in done.stderr
    assert not (project / "dist").exists()


@pytest.mark.parametrize("place", PLACES)
def test_a_version_that_is_missing_is_named(project: Path, place: str) -> None:
    (project / place).write_text("")
    with pytest.raises(release.ReleaseError, match=rf"{place} names no version"):
        release.agreed_version(project)


def test_a_tag_of_another_version_is_refused(project: Path) -> None:
    done = run(project, "9.9.9")
    assert (done.returncode, "9.9.9 in the tag" in done.stderr) == (1, True)
    assert run(project, __version__).returncode == 0


def test_the_notes_are_of_this_version_alone(project: Path) -> None:
    newest = "# Changelog\n\n## [1.1.0] - 2026-12-24\n\n### Added\n\n- Snow.\n\n"
    (project / "CHANGELOG.md").write_text(
        f"{newest}## [1.0.0] - 2026-11-20\n\nFirst.\n\n[1.0.0]: https://example.org\n"
    )
    assert release.notes(project, "1.1.0") == "### Added\n\n- Snow.\n"
    assert release.notes(project, "1.0.0") == "First.\n"


def test_a_version_without_notes_is_refused(project: Path) -> None:
    (project / "CHANGELOG.md").write_text("## [1.1.0] - 2026-12-24\n\n## [1.0.0] - 2026-11-20\n\nFirst.\n")
    with pytest.raises(release.ReleaseError, match=r"says nothing of 1\.1\.0"):
        release.notes(project, "1.1.0")


def test_the_archive_holds_the_integration_and_nothing_else(project: Path) -> None:
    integration = project / release.INTEGRATION
    (integration / "__pycache__").mkdir(exist_ok=True)
    (integration / "__pycache__/leftover.pyc").write_bytes(b"")
    assert run(project).returncode == 0
    with zipfile.ZipFile(project / "dist/tunnihind.zip") as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    files = [path for path in integration.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    assert packed == {path.relative_to(integration).as_posix(): path.read_bytes() for path in files}
    # HACS unpacks the archive into custom_components/tunnihind, where Home Assistant looks for these files.
    assert {
        "manifest.json",
        "__init__.py",
        "core/rates.json",
        "translations/en.json",
        "brand/icon.png",
    } <= packed.keys()


def test_the_core_in_the_archive_prices_a_household_by_itself(project: Path, tmp_path: Path) -> None:
    release.write_archive(project, tmp_path / "tunnihind.zip")
    with zipfile.ZipFile(tmp_path / "tunnihind.zip") as archive:
        archive.extractall(tmp_path / "tunnihind")
    # The folder comes last, because it also has modules with names of the standard library, such as `calendar`.
    code = (
        "import sys; sys.path.append('tunnihind'); from core.tariff import Tariff;"
        "print(Tariff().charges(0).price(100), 'homeassistant' in sys.modules)"
    )
    priced = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert priced.stdout == "0.12 False\n"


def test_the_same_files_make_the_same_archive(project: Path) -> None:
    first, second = project / "first.zip", project / "second.zip"
    release.write_archive(project, first)
    for path in (project / release.INTEGRATION).rglob("*.py"):
        path.touch()
    release.write_archive(project, second)
    assert first.read_bytes() == second.read_bytes()


def test_hacs_is_told_of_the_archive() -> None:
    hacs = json.loads((PROJECT / "hacs.json").read_text())
    assert (hacs["zip_release"], hacs["filename"]) == (True, "tunnihind.zip")

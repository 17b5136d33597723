"""What HACS asks of an integration in its default list, as far as the files of a repository can show it.

The rules are those of HACS's own validation and of the checks of https://github.com/hacs/default, as of August 2026.
"""

import json
import re
import struct
import tomllib
from typing import Any, Final

import pytest
import yaml
from awesomeversion import AwesomeVersion

from tests.support.scripts import PROJECT, load

HACS: Final[dict[str, Any]] = json.loads((PROJECT / "hacs.json").read_text())
[INTEGRATION] = [path.parent for path in PROJECT.glob("custom_components/*/manifest.json")]
MANIFEST: Final[dict[str, Any]] = json.loads((INTEGRATION / "manifest.json").read_text())
CONTRIBUTING: Final = (PROJECT / "CONTRIBUTING.md").read_text()


def workflow(name: str) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load((PROJECT / f".github/workflows/{name}.yaml").read_text())
    return found


def test_the_file_for_hacs_has_the_keys_that_hacs_knows() -> None:
    kinds = {
        **dict.fromkeys(("content_in_root", "hide_default_branch", "render_readme", "zip_release"), bool),
        **dict.fromkeys(("country", "filename", "hacs", "homeassistant", "name", "persistent_directory"), str),
    }
    assert all(isinstance(value, kinds[key]) for key, value in HACS.items())
    assert HACS["name"]
    assert AwesomeVersion(HACS["homeassistant"]).valid


def test_the_manifest_has_the_keys_that_hacs_wants() -> None:
    assert MANIFEST["domain"] == INTEGRATION.name
    assert MANIFEST["name"] == HACS["name"]
    assert MANIFEST["codeowners"] == ["@tunnihind"]
    assert AwesomeVersion(MANIFEST["version"]).valid
    for key in ("documentation", "issue_tracker"):
        assert MANIFEST[key].startswith("https://github.com/tunnihind/tunnihind")


def test_all_that_an_integration_needs_is_in_its_folder() -> None:
    modules = [path for path in PROJECT.glob("custom_components/*") if path.name not in {"__init__.py", "__pycache__"}]
    assert modules == [INTEGRATION]
    assert not [path for path in INTEGRATION.rglob("*") if path.is_symlink()]


def test_the_readme_has_a_picture_and_the_licence_is_one_that_github_knows() -> None:
    assert re.search(r"^!\[.+\]\(docs/images/.+\)$", (PROJECT / "README.md").read_text(), re.MULTILINE)
    licence = (PROJECT / "LICENSE").read_text().split()
    assert licence[:6] == ["Apache", "License", "Version", "2.0,", "January", "2004"]


@pytest.mark.parametrize("dark", ["", "dark_"])
@pytest.mark.parametrize(("suffix", "scale"), [("", 1), ("@2x", 2)])
def test_brand_images_have_the_sizes_that_home_assistant_wants(dark: str, suffix: str, scale: int) -> None:
    assert size(f"{dark}icon{suffix}.png") == (256 * scale, 256 * scale)
    width, height = size(f"{dark}logo{suffix}.png")
    assert 128 * scale <= height <= 256 * scale
    assert width > height


def size(image: str) -> tuple[int, int]:
    """Return the width and height of an interlaced or plain PNG with transparency, in pixels."""
    head = (INTEGRATION / "brand" / image).read_bytes()[:26]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, _, colours = struct.unpack(">IIBB", head[16:])
    assert colours == 6, "no transparency"
    return width, height


def test_both_actions_run_at_every_change_and_daily_with_no_check_left_out() -> None:
    validation = workflow("validate")
    # YAML reads the key `on` as true.
    assert {"push", "pull_request", "schedule", "workflow_dispatch"} == validation[True].keys()
    used = {
        step["uses"].split("@")[0]: step.get("with") for job in validation["jobs"].values() for step in job["steps"]
    }
    assert used["hacs/action"] == {"category": "integration"}
    assert "home-assistant/actions/hassfest" in used
    assert not any("if" in job or "continue-on-error" in job for job in validation["jobs"].values())


def test_a_release_has_the_archive_that_hacs_downloads() -> None:
    assert HACS["zip_release"] is True
    script = (PROJECT / "scripts/release").read_text()
    assert f'write_archive(project, project / "dist/{HACS["filename"]}")' in script
    runs = [step.get("run", "") for step in workflow("release")["jobs"]["release"]["steps"]]
    [packing] = [place for place, run in enumerate(runs) if run.startswith("scripts/release ")]
    [publishing] = [place for place, run in enumerate(runs) if run.startswith("gh release create ")]
    assert packing < publishing
    assert runs[publishing].endswith(" dist/*")
    assert INTEGRATION.relative_to(PROJECT).as_posix() == load("scripts/release").INTEGRATION


def test_the_owner_is_told_the_settings_that_hacs_looks_at() -> None:
    [section] = re.findall(r"^## The repository on GitHub\n(.*?)^## ", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    told = " ".join(section.split())
    assert f"“{project['description']}”" in told
    [topics] = re.findall(r"topics ((?:`[a-z-]+`(?:, | and )?)+)", told)
    assert {"`home-assistant`", "`hacs`"} <= set(re.split(", | and ", topics))
    assert "**Issues**" in told
    assert "https://github.com/hacs/default" in told

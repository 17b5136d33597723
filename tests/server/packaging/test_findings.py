"""Every finding is a script that names its version, a row of the page, and a job of the monthly workflow."""

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.support import documents
from tests.support.documents import PROJECT

SCRIPTS: Final = sorted((PROJECT / "findings").glob("*.sh"))
WORKFLOW: Final = PROJECT / ".github/workflows/findings.yaml"

every_finding = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


def row(script: Path) -> list[str]:
    """Return the program, the surprise and what our code does about it, as the page has them."""
    [table] = documents.tables((PROJECT / "findings/README.md").read_text())
    [cells] = [cells for name, *cells in table if name == f"`{script.name}`"]
    return cells


def test_the_page_lists_every_script_and_no_other() -> None:
    [table] = documents.tables((PROJECT / "findings/README.md").read_text())
    assert [name for name, *_ in table] == [f"`{script.name}`" for script in SCRIPTS]


@every_finding
def test_the_page_says_each_surprise_and_its_way_around_in_a_sentence(script: Path) -> None:
    _, surprise, ours = row(script)
    assert all(re.fullmatch(r"[A-Z`][^!?]+[^.]\.", text) for text in (surprise, ours))


@every_finding
def test_each_script_tries_the_version_that_the_page_names(script: Path) -> None:
    _, version = row(script)[0].rsplit(" ", 1)
    assert f":-=={version}}}" in script.read_text()


@every_finding
def test_each_script_is_a_program_that_stops_at_its_first_fault(script: Path) -> None:
    assert os.access(script, os.X_OK)
    assert "\nset -euo pipefail\n" in script.read_text()
    subprocess.run(["bash", "-n", script], check=True)


def test_a_workflow_runs_every_script_each_month_also_with_the_newest_version() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text())
    [job] = workflow["jobs"].values()
    assert job["strategy"]["matrix"]["finding"] == [script.name for script in SCRIPTS]
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert runs == ["findings/${{ matrix.finding }}", "findings/${{ matrix.finding }} '>0'"]
    # YAML reads the key `on` as true.
    [schedule] = workflow[True]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \d+ \* \*", schedule["cron"])

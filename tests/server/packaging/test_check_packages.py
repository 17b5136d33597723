"""`scripts/check-packages` with a stub of uv, and the workflow that runs it."""

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.support.scripts import PROJECT

SCRIPT: Final = PROJECT / "scripts/check-packages"
UV: Final = """\
#!/usr/bin/env bash
case "$*" in
  *" pip-licenses "*) echo "$*" >"$ASKED"; echo "| numpy | 2.3.2 | BSD License |"; exit "$LICENCES" ;;
  *" pip-audit "*) echo "No known vulnerabilities found" >&2; exit "$WEAKNESSES" ;;
  "pip compile "*) echo "numpy==2.3.2" ;;
esac
"""


@pytest.mark.parametrize(("licences", "weaknesses", "status"), [(0, 0, 0), (1, 0, 1), (0, 1, 1)])
def test_both_reports_are_written_and_either_may_fail(
    tmp_path: Path, licences: int, weaknesses: int, status: int
) -> None:
    uv = tmp_path / "uv"
    uv.write_text(UV)
    uv.chmod(0o755)
    stub = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "ASKED": str(tmp_path / "asked"),
        "LICENCES": str(licences),
        "WEAKNESSES": str(weaknesses),
    }
    done = subprocess.run([SCRIPT], env=os.environ | stub, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")
    assert done.stdout.splitlines() == [
        *("## Licences", "", "| numpy | 2.3.2 | BSD License |"),
        *("", "## Known weaknesses", "", "No known vulnerabilities found"),
    ]
    allowed = re.findall(r"--allow-only (.+)", (tmp_path / "asked").read_text())[0].split(";")
    assert {"Apache-2.0", "MIT License", "LGPL-3.0-only"} < set(allowed)
    assert not [licence for licence in allowed if re.search(r"\b(?:A?GPL|GNU General)", licence)]


def test_the_workflow_looks_weekly_and_fails_with_the_script() -> None:
    workflow = yaml.safe_load((PROJECT / ".github/workflows/packages.yaml").read_text())
    # YAML reads the key `on` as true.
    assert re.fullmatch(r"\d+ \d+ \* \* \d", workflow[True]["schedule"][0]["cron"])
    assert "pyproject.toml" in workflow[True]["push"]["paths"]
    step = workflow["jobs"]["check"]["steps"][-1]
    # GitHub gives its `bash` pipefail, and its usual shell none.
    assert (step["run"], step["shell"]) == ('scripts/check-packages | tee --append "$GITHUB_STEP_SUMMARY"', "bash")

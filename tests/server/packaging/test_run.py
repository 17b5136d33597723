"""`./run` in a separate folder with a stub of uv, and the tests that `./run test` runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.scripts import PROJECT

UV: Final = """\
#!/usr/bin/env bash
echo "uv $*" >&2
[ "$1" = sync ] || exit 0
mkdir -p .venv/bin
printf '#!/usr/bin/env bash\\necho "$$ $*"\\n' >.venv/bin/tunnihind
chmod +x .venv/bin/tunnihind
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with `run` and a stub of uv.

    The stub installs a command that prints its process id and its arguments.
    """
    shutil.copy(PROJECT / "run", tmp_path)
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin/uv"
    uv.write_text(UV)
    uv.chmod(0o755)
    return tmp_path


def test_the_uv_of_the_project_is_there_to_be_called(project: Path) -> None:
    path = f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = f"{project}/run", "uv", "sync", "--extra", "plot"
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "uv sync --extra plot"


def test_the_command_runs_as_the_process_that_was_started(project: Path) -> None:
    path = f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(
        [project / "run", "serve", "--port", "8081"],
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        said, told_of_uv = process.communicate(timeout=60)
    assert process.returncode == 0, told_of_uv
    # With `uv run` between them, uv would stay in memory, and a service manager would send its signals to uv.
    assert said.split() == [str(process.pid), "serve", "--port", "8081"]
    assert "uv sync" in told_of_uv


def test_the_tests_of_both_halves_run_together() -> None:
    """In one process, a test in Home Assistant comes before one that opens sockets."""
    files = "tests/integration/household/test_small_sensors.py", "tests/server/api/test_http.py"
    python = Path(sys.executable).parent
    done = subprocess.run(
        [PROJECT / "scripts/test", *files, "-k", "todays_lowest or several_lines"],
        cwd=PROJECT,
        env={**os.environ, "PATH": f"{python}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout

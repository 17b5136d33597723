"""The server against its own description of the API."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.support.api.api_server import Serve, make_view
from tunnihind.api.feeds import FEED_FORMATS
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA


@pytest.mark.parametrize(
    ("view", "but"),
    [
        pytest.param(make_view(), (), id="data"),
        # Without data these resources answer 503 by design, and schemathesis takes any 503 as a fault.
        pytest.param(
            ServedData("empty", ESTONIA),
            ("/readyz", *(f"/api/feeds/{reader}" for reader in FEED_FORMATS)),
            id="no data",
        ),
    ],
)
async def test_schemathesis_finds_nothing_with_all_its_checks(
    serve: Serve, view: ServedData, but: tuple[str, ...], tmp_path: Path
) -> None:
    server = await serve(view)
    description = tmp_path / "openapi.json"
    # The description comes from a file, because schemathesis leaves out an operation that serves the description.
    description.write_bytes((await server.ask("/api/openapi.json")).body)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "schemathesis.cli",
        "run",
        str(description),
        f"--url=http://127.0.0.1:{server.port}",
        "--checks=all",
        "--max-examples=30",
        "--continue-on-failure",
        "--generation-deterministic",
        "--request-timeout=60",
        "--no-color",
        *(f"--exclude-path={path}" for path in but),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    report, _ = await process.communicate()
    assert process.returncode == 0, report.decode()
    tested = len(json.loads(description.read_bytes())["paths"]) - len(but)
    assert f"Tested: {tested}".encode() in report, report.decode()

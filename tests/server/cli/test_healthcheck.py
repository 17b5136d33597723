"""`tunnihind healthcheck`, as container engines use it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web
from click.testing import Result

from tests.server.cli.conftest import Run
from tests.support.api.api_server import Serve

type Check = Callable[..., Awaitable[Result]]

NOBODY = 9
"""The discard port, where nothing listens."""


@pytest.fixture
def check(run: Run) -> Check:
    """Return a function that runs the command while a test's own servers run."""

    async def asked(port: int, host: str = "127.0.0.1") -> Result:
        return await asyncio.to_thread(run, "healthcheck", "--host", host, "--port", str(port))

    return asked


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])  # noqa: S104  where it would listen
async def test_a_server_that_answers_is_well(serve: Serve, check: Check, host: str) -> None:
    result = await check((await serve()).port, host)
    assert (result.exit_code, result.output) == (0, "")


async def test_a_server_without_data_is_well_too_because_a_restart_would_not_help(serve: Serve, check: Check) -> None:
    assert (await check((await serve(blank=True)).port)).exit_code == 0


async def test_nobody_is_not_well(check: Check) -> None:
    result = await check(NOBODY)
    assert result.exit_code == 1
    assert "no answer on port 9" in result.output


async def test_what_answers_otherwise_is_not_well(check: Check) -> None:
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    result = await check(runner.addresses[0][1])
    await runner.cleanup()
    assert result.exit_code == 1
    assert "the server answers 404 Not Found" in result.output

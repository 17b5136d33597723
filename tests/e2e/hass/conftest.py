"""A home for a module of tests: a fresh Home Assistant, and the server its integration asks."""

from collections.abc import AsyncIterator, Generator

import pytest
import pytest_asyncio

from tests.support.hass.real_home import RealHome
from tests.support.machine.shifted_clock import AFTERNOON

_LOG_LINES = 60
"""How much of Home Assistant's log a failed test shows."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real_home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RealHome]:
    """Return a home that shows prices, in the afternoon or at the module's BEGINS, by default of Estonia alone."""
    begins, zones = getattr(request.module, "BEGINS", AFTERNOON), getattr(request.module, "ZONES", "ee")
    async with RealHome.inhabited(tmp_path_factory.mktemp("real_home"), begins, zones=zones) as inhabited:
        yield inhabited


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the end of Home Assistant's log with a failed test."""
    report = yield
    if report.failed and isinstance(real_home := item.funcargs.get("real_home"), RealHome):
        lines = real_home.hass.process.log.splitlines()
        report.sections.append(("Home Assistant's log", "\n".join(lines[-_LOG_LINES:])))
    return report

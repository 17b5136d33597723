"""One home for all tests of this folder. Each test leaves it as the next one needs it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.hass.real_home import RealHome
from tests.support.machine.shifted_clock import AFTERNOON


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def real_home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RealHome]:
    """Return a home that shows prices."""
    async with RealHome.inhabited(tmp_path_factory.mktemp("real_home"), AFTERNOON) as inhabited:
        yield inhabited

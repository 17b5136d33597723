"""What all tests share: a server to ask, real history, how properties are tried, and what becomes of a skip."""

import gc
import os
from collections.abc import AsyncIterator, Generator, Iterator
from functools import cache
from pathlib import Path

# As the command line does, before numpy is loaded: threads for matrices of this size only get in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, Phase, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.support.api.api_server import RunningServer, Serve
from tests.support.api.serving import serving
from tests.support.store.postgresql import PostgresqlServer, postgresql_server
from tunnihind.forecast.scenarios import scenarios
from tunnihind.service import application

# How long an example takes says more about the machine than about the code. What has to pass (`.ci/run`) tries the
# same examples each time, so that its verdict is the tree's; elsewhere each run tries new ones. Once a week, ten times
# as many are tried (--hypothesis-profile thorough).
settings.register_profile(
    "usual",
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="TUNNIHIND_TESTS_NO_SKIPS" in os.environ,
)
settings.register_profile("thorough", settings.get_profile("usual"), max_examples=400, derandomize=False)
# A test that fails need not find its simplest example, and has to fail for the same mistakes again.
settings.register_profile(
    "mistakes", settings.get_profile("usual"), phases=[Phase.explicit, Phase.generate], derandomize=True
)
settings.load_profile("usual")

SHARED = Path(__file__).parents[2] / "shared"

ONE_HOME = "tests/e2e/hass/afternoon"
"""The folder whose modules share a Home Assistant. A worker of its own for each would start one for each."""


class ByModule(LoadScopeScheduling):
    """Gives each worker whole modules, and one worker the whole folder `ONE_HOME`."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return ONE_HOME if module.startswith(ONE_HOME) else module


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByModule | None:
    """Divide the tests by module if `--dist loadscope` says so."""
    return ByModule(config, log) if config.option.dist == "loadscope" else None


def pytest_collection_finish() -> None:
    """Collect garbage less often than after each 2,000 new objects, and never among what the imports made."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where skips are forbidden (`.ci/run`), let a skipped test fail with the reason of its skip.

    The public repository has no ../shared. Only where that is missing may a test that needs it skip.
    """
    report = yield
    excused = hasattr(report, "wasxfail") or ("../shared" in str(report.longrepr) and not SHARED.is_dir())
    if report.skipped and not excused and os.environ.get("TUNNIHIND_TESTS_NO_SKIPS"):
        report.outcome = "failed"
    return report


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """Make the description of the API and random ranks once for the same arguments. Most tests start a server."""
    with pytest.MonkeyPatch.context() as patch:
        for module, function in ((application, "openapi_document"), (scenarios, "ranks_of_random_errors")):
            patch.setattr(module, function, cache(getattr(module, function)))
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real history and recorded answers, which is beside the project where there is one."""
    if not SHARED.is_dir():
        pytest.skip("needs the real history in ../shared, which is never part of the project")
    return SHARED


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """Return a PostgreSQL server; a test that stops it starts one of its own."""
    with postgresql_server() as server:
        yield server


@pytest.fixture
def postgresql_url(postgresql: PostgresqlServer) -> Iterator[str]:
    """Return the address of an empty database, with no tables yet."""
    name = postgresql.make_database()
    yield postgresql.url(name)
    postgresql.drop_database(name)


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Return what starts a server with the given view and settings; without a view it has read nothing yet."""
    async with serving() as start:
        yield start


@pytest.fixture
async def server(serve: Serve) -> RunningServer:
    """Return a server with settled prices and a forecast."""
    return await serve()

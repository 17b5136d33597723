"""What all tests share: a server to ask, real history, how properties are tried, and what becomes of a skip."""

import logging
import os
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from functools import cache, partial
from pathlib import Path

from tunnihind.market import ESTONIA

# As the command line does, before numpy is loaded: threads for matrices of this size only get in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from aiohttp import web
from hypothesis import HealthCheck, settings

from tests.support.api.api_server import NOW, RunningServer, Serve, make_view, no_prices
from tests.support.clocks import StillClock
from tests.support.pages import sample_views
from tests.support.store.postgresql import PostgresqlServer, is_installed, postgresql_server
from tunnihind.api.history import AreConfirmed, ReadPrices
from tunnihind.api.models.service import Mode
from tunnihind.api.score_table import ReadScores
from tunnihind.api.served_data import ServedData
from tunnihind.api.server import MOST_CONNECTIONS, Runner
from tunnihind.api.snapshot import Snapshot
from tunnihind.service.application import create_app
from tunnihind.settings import Settings
from tunnihind.web.summary import Surroundings

# How long an example takes says more about the machine than about the code. What has to pass (`.ci/run`) tries the
# same examples each time, so that its verdict is the tree's; elsewhere each run tries new ones.
settings.register_profile(
    "tunnihind",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="TUNNIHIND_TESTS_NO_SKIPS" in os.environ,
)
settings.load_profile("tunnihind")

SHARED = Path(__file__).parents[2] / "shared"


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


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real history and recorded answers, which is beside the project where there is one."""
    if not SHARED.is_dir():
        pytest.skip("needs the real history in ../shared, which is never part of the project")
    return SHARED


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgresqlServer]:
    """Return a PostgreSQL server; a test that stops it starts one of its own."""
    if not is_installed():
        pytest.skip("needs a PostgreSQL server: apt-get install postgresql")
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
    runners: list[Runner] = []

    async def start(
        view: ServedData | None = None,
        settings: Settings | None = None,
        *,
        blank: bool = False,
        now: float = NOW,
        pipeline_expected: bool = True,
        access_log: logging.Logger | None = None,
        mode: Mode = "live",
        most_connections: int = MOST_CONNECTIONS,
        read_prices: ReadPrices = no_prices,
        read_scores: ReadScores = lambda _first, _last: (),
        are_confirmed: AreConfirmed = lambda *_: True,
        surroundings: Callable[[], Surroundings] | None = None,
    ) -> RunningServer:
        settings = settings or Settings()
        clock = StillClock(now)
        snapshot = Snapshot(ESTONIA, settings, clock)
        if not blank:
            snapshot.show(view or make_view())
        around = cache(partial(sample_views.surroundings, int(now))) if view else Surroundings
        app = create_app(
            settings,
            snapshot,
            clock,
            instance_id="test",
            read_prices=read_prices,
            read_scores=read_scores,
            are_confirmed=are_confirmed,
            pipeline_expected=pipeline_expected,
            mode=mode,
            surroundings=surroundings or around,
        )
        runner = Runner(app, most_connections=most_connections, access_log=access_log, shutdown_timeout=1)
        runners.append(runner)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return RunningServer(runner, int(runner.addresses[0][1]), snapshot, clock)

    yield start
    for runner in runners:
        await runner.cleanup()


@pytest.fixture
async def server(serve: Serve) -> RunningServer:
    """Return a server with settled prices and a forecast."""
    return await serve()

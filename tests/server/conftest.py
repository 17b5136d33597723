"""Shared fixtures of the server's tests, such as an empty store that is made quickly."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import stamina
from aiohttp import ClientSession

from tests.support.store.pipelines import QuickModel
from tunnihind.core.market import Market
from tunnihind.forecast.replay.learnt import LearntKeeper
from tunnihind.pipeline import modelling
from tunnihind.sources.upstream import open_session
from tunnihind.store.store import Store


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with empty tables."""
    path = tmp_path_factory.mktemp("empty") / "tunnihind.db"
    Store(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def database(empty_database: Path, tmp_path: Path) -> Path:
    """Return a copy of the empty database."""
    return Path(shutil.copy(empty_database, tmp_path / "tunnihind.db"))


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    """Return an empty store."""
    with Store(f"sqlite:///{database}") as opened:
        yield opened


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Return a session for sources whose retries do not wait."""
    with stamina.set_testing(True, attempts=100, cap=True):
        async with open_session("operator@example.org") as opened:
            yield opened


@pytest.fixture
def quick_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make forecasts with the mean of the last weeks, for tests that don't depend on the model."""

    def quick(market: Market, keeper: LearntKeeper | None = None) -> QuickModel:
        return QuickModel(market)

    for name in ("pipeline.modelling.new_forecaster", "service.rehearsal.new_forecaster"):
        monkeypatch.setattr(f"tunnihind.{name}", quick)
    monkeypatch.setattr(modelling, "_KEPT_FORECASTERS", {})
    monkeypatch.setattr(modelling, "_PAST_FORECASTERS", {})

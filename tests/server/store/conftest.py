"""The databases of the store's tests, and a store in memory that is quickly emptied.

Every test of a store runs on SQLite and on PostgreSQL. A test with the fixture `path` uses SQLite's file, and runs on
SQLite only.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.support.store.postgresql import PostgresqlServer
from tunnihind.store.store import Store

type System = Literal["sqlite", "postgresql"]
SYSTEMS: tuple[System, ...] = ("sqlite", "postgresql")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "system" in metafunc.fixturenames:
        systems = SYSTEMS if "path" not in metafunc.fixturenames else ("sqlite",)
        # With indirect parameters, pytest runs the tests of a system one after another, and makes shared fixtures once.
        metafunc.parametrize("system", systems, indirect=True, scope="session")


@pytest.fixture(scope="session")
def system(request: pytest.FixtureRequest) -> System:
    """Return the database system of the test."""
    system: System = request.param
    return system


def file_in(folder: Path) -> Path:
    return folder / "tunnihind.db"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of the store's file. Without the fixture `store`, there is no file yet."""
    return file_in(tmp_path)


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an SQLite database with empty tables, for copies."""
    file = file_in(tmp_path_factory.mktemp("empty"))
    Store(f"sqlite:///{file}").close()
    return file


@pytest.fixture(scope="session")
def empty_postgresql(postgresql: PostgresqlServer) -> str:
    """Return the name of a PostgreSQL database with empty tables, for copies."""
    name = postgresql.make_database()
    Store(postgresql.url(name)).close()
    return name


@pytest.fixture
def url(system: System, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the database's address. Without the fixture `store`, the database has no tables."""
    needs_tables = "store" in request.fixturenames
    if system == "sqlite":
        if needs_tables:
            shutil.copy(request.getfixturevalue("empty_file"), file_in(tmp_path))
        yield f"sqlite:///{file_in(tmp_path)}"
        return
    server: PostgresqlServer = request.getfixturevalue("postgresql")
    name = server.make_database(like=request.getfixturevalue("empty_postgresql") if needs_tables else "template0")
    yield server.url(name)
    server.drop_database(name)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Return an empty store."""
    with Store(url) as opened:
        yield opened


@pytest.fixture(scope="session")
def memory_store(system: System, request: pytest.FixtureRequest) -> Iterator[Store]:
    """Return a store for property tests. Before each example, `emptied` empties this store."""
    url = "sqlite://"
    if system == "postgresql":
        server: PostgresqlServer = request.getfixturevalue("postgresql")
        url = server.url(server.make_database(like=request.getfixturevalue("empty_postgresql")))
    with Store(url) as opened:
        yield opened

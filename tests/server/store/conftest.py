"""Where the store of a test is, and one in memory that is quick to empty.

Every test of a store runs on SQLite and on PostgreSQL. One that asks for the `path` looks at SQLite's file.
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
        # Indirectly: pytest then runs the tests of a system one after another, and makes once what they share.
        metafunc.parametrize("system", systems, indirect=True, scope="session")


@pytest.fixture(scope="session")
def system(request: pytest.FixtureRequest) -> System:
    """Return the system that the test runs on."""
    system: System = request.param
    return system


def file_in(folder: Path) -> Path:
    return folder / "tunnihind.db"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the `store` is in tests that ask for one; in others there is nothing."""
    return file_in(tmp_path)


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an SQLite database with its tables and nothing in them, to be copied."""
    file = file_in(tmp_path_factory.mktemp("empty"))
    Store(f"sqlite:///{file}").close()
    return file


@pytest.fixture(scope="session")
def empty_postgresql(postgresql: PostgresqlServer) -> str:
    """Return the name of a PostgreSQL database with its tables and nothing in them, to be copied."""
    name = postgresql.make_database()
    Store(postgresql.url(name)).close()
    return name


@pytest.fixture
def url(system: System, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the address of the `store` in tests that ask for one, of an empty database in others."""
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
    """For properties, which need a fresh store for every example: `emptied` makes it one."""
    url = "sqlite://"
    if system == "postgresql":
        server: PostgresqlServer = request.getfixturevalue("postgresql")
        url = server.url(server.make_database(like=request.getfixturevalue("empty_postgresql")))
    with Store(url) as opened:
        yield opened

"""The databases for tests with several servers."""

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """Return the address of an empty database, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{request.getfixturevalue('database')}"
    address: str = request.getfixturevalue("postgresql_url")
    return address

"""Where the store of a test is, and one in memory that is quick to empty."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tunnihind.store.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the `store` is in tests that ask for one; in others there is nothing."""
    return tmp_path / "tunnihind.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def memory_store() -> Iterator[Store]:
    """For properties, which need a fresh store for every example: `emptied` makes it one."""
    with Store("sqlite://") as opened:
        yield opened

"""Mistakes of users: options, files, databases.

A message names the mistake and its place; the exit status is for scripts.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.machine.processes import Launch, Tunnihind


@pytest.fixture
def untouched(database: Path) -> Iterator[None]:
    """Check that no database was created."""
    yield
    assert not database.exists()


@pytest.fixture
def no_database(database: Path) -> Iterator[Path]:
    """Return a file that is not a database, and check that it stays unchanged."""
    garbage = os.urandom(10_000)
    database.parent.mkdir()
    database.write_bytes(garbage)
    yield database
    assert database.read_bytes() == garbage


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("serve", "--port", "eighty"), ("--port", "eighty")),
        (("serve", "--vat-rate", "22"), ("vat-rate", "0.22 for 22%")),
        (("serve", "--elering-url", "dashboard.elering.ee"), ("elering-url", "https://")),
        (("serve", "--database-url", "tunnihind.db"), ("database-url", "sqlite:///")),
        (("serve", "--as-of", "2025-12-15T10:00:00"), ("--as-of", "no time zone", "2025-12-15T10:00:00Z")),
        (("forecast", "--as-of", "yesterday"), ("--as-of", "yesterday", "2025-12-15T10:00:00Z")),
        (("serve", "--demo", "--as-of", "2025-12-15T10:00:00Z"), ("--demo", "--as-of")),
        (("serve", "--sweep"), ("--sweep", "Usage: ./run serve", "'./run serve --help'")),
        (("import", "prices", "nowhere.csv"), ("nowhere.csv",)),
        (("serv",), ("No such command 'serv'. Did you mean 'serve'?",)),
        (("Status",), ("Did you mean 'status'?",)),
        (("import", "pricse", "nowhere.csv"), ("Did you mean 'prices'?",)),
        (("export", "forcast"), ("Did you mean 'forecast'?",)),
        (("xyz",), ("No such command 'xyz'.",)),
    ],
    ids=" ".join,
)
async def test_wrong_options_are_named_and_end_with_2(
    arguments: tuple[str, ...], told: tuple[str, ...], tunnihind: Tunnihind
) -> None:
    done = await tunnihind(*arguments)
    assert done.status == 2
    assert [word for word in told if word not in done.errors] == []
    assert "Traceback" not in done.errors


async def test_a_wrong_setting_in_the_environment_is_named_as_one(
    tunnihind: Tunnihind, environment: dict[str, str]
) -> None:
    environment["TUNNIHIND_PORT"] = "eighty"
    done = await tunnihind("serve")
    assert done.status == 2
    assert "TUNNIHIND_PORT" in done.errors


@pytest.mark.usefixtures("untouched")
async def test_nonsense_in_a_file_is_refused_whole_with_file_line_and_column(
    tunnihind: Tunnihind, tmp_path: Path
) -> None:
    prices, covariates = tmp_path / "prices.csv", tmp_path / "covariates.csv"
    prices.write_text("ts,ee\n1765753200,84.1\n1765756800,84.l\n")
    covariates.write_text("issued_ts,target_ts,ee_load_da_mw\n1765753200,1765756800,900\n1765753200,tomorrow,900\n")
    for kind, file, place in (("prices", prices, "column ee"), ("covariates", covariates, "column target_ts")):
        done = await tunnihind("import", kind, str(file))
        assert done.status == 1
        assert f"{file.name}, line 3, {place}" in done.errors
    binary = tmp_path / "binary.csv"
    binary.write_bytes(os.urandom(4096))
    done = await tunnihind("import", "prices", str(binary))
    assert done.status == 1
    assert "binary.csv" in done.errors
    assert "Traceback" not in done.errors


async def test_a_database_that_is_none_is_named_and_left_alone(
    tunnihind: Tunnihind, launch: Launch, no_database: Path
) -> None:
    server = launch()
    assert await server.ended() == 1
    assert str(no_database) in server.log
    assert "file is not a database" in server.log
    done = await tunnihind("status")
    assert done.status == 1
    assert "file is not a database" in done.errors

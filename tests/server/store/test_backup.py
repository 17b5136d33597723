"""Backups, made and restored by the commands of the guides, also while a server writes."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, select

from tests.support import documents
from tests.support.scripts import PROJECT
from tests.support.store.postgresql import PostgresqlServer
from tests.support.store.stores import DAY, HOURS, run, series, whole_day
from tunnihind.core.market import DAY_S, HOUR_S, day_start
from tunnihind.store.schema import leases, metadata
from tunnihind.store.store import Store

NOW = day_start(DAY) + 10 * HOUR_S


def command(program: str, guide: str = "docs/server.md") -> str:
    """Return a guide's code block that calls a program."""
    [block] = [code for _, code in documents.fences((PROJECT / guide).read_text()) if program in code]
    return block


def do(commands: str, folder: Path, **replaced: str) -> None:
    for old, new in replaced.items():
        assert old in commands
        commands = commands.replace(old, new)
    # Debian has a separate folder for each PostgreSQL version's programs.
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    path = ":".join([*map(str, programs[-1:]), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env={"PATH": path, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def fill(store: Store) -> None:
    for n in range(30):
        store.prices.add(whole_day(DAY - timedelta(days=n)), source="test", seen_ts=NOW - n * DAY_S)
    store.covariates.add({"wind_speed_100m@ee_west": [series(NOW, [1.0, float("nan")])]})
    store.runs.add(run(NOW), run(NOW + 1, level=60))
    store.state.record_refresh(NOW)


def rows(url: str) -> dict[str, list[Any]]:
    with Store(url, read_only=True) as store, store.database.reading() as connection:
        tables = [table for table in metadata.sorted_tables if table is not leases]
        return {table.name: sorted(map(repr, connection.execute(select(table)).all())) for table in tables}


def require_whole(url: str, before: dict[str, list[Any]]) -> None:
    """Assert that a server continues from the restored data as the same installation."""
    assert rows(url) == before
    with Store(url) as store:
        store.prices.add(whole_day(DAY + timedelta(days=1)), source="test", seen_ts=NOW + 9)
        store.runs.add(run(NOW + HOUR_S))
        newest = store.runs.newest(HOURS)
        assert newest is not None
        assert newest.made_at == NOW + HOUR_S


def test_an_sqlite_backup_made_beside_a_writer_is_restored(tmp_path: Path) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("needs sqlite3: Debian's package of that name")
    file = tmp_path / "tunnihind.db"
    url = f"sqlite:///{file}"
    with Store(url) as store:
        fill(store)
        before = rows(url)
        # The last write is not committed yet. After the commit, it is only in the log beside the file.
        with store.database.writing() as connection:
            connection.execute(metadata.tables["state"].insert().values(key="later", value="1"))
            do(command(".backup"), tmp_path)
        store.state.write("later", 2)
    for left in tmp_path.glob("tunnihind.db*"):
        left.unlink()
    (tmp_path / "backup.db").rename(file)
    require_whole(url, before)


def test_a_database_is_taken_out_of_home_assistants_backup_of_the_app(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "options.json").write_text("{}")
    with Store(f"sqlite:///{data / 'tunnihind.db'}") as store:
        fill(store)
        before = rows(f"sqlite:///{data / 'tunnihind.db'}")
    # The Supervisor packs an app this way, in `App.backup` and `Backup.create`.
    app = tmp_path / "a0d7b954_tunnihind.tar.gz"
    with tarfile.open(app, "w:gz") as archive:
        archive.add(data, "data")
    with tarfile.open(tmp_path / "backup.tar", "w") as archive:
        archive.add(data / "options.json", "./backup.json")
        archive.add(app, f"./{app.name}")
    shutil.rmtree(data)
    app.unlink()
    do(command("tar ", "docs/moving.md"), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"backup.tar", "tunnihind.db"}
    require_whole(f"sqlite:///{tmp_path / 'tunnihind.db'}", before)


@pytest.fixture
def restored(postgresql: PostgresqlServer) -> Iterator[str]:
    """Return the name of a database for the commands to restore into."""
    name = "restored"
    yield name
    postgresql.drop_database(name)


def test_a_postgresql_backup_made_beside_a_writer_is_restored(
    postgresql: PostgresqlServer, postgresql_url: str, restored: str, tmp_path: Path
) -> None:
    name = str(make_url(postgresql_url).database)
    where = f"host={postgresql.folder}"
    with Store(postgresql_url) as store:
        fill(store)
        before = rows(postgresql_url)
        with store.database.writing() as connection:
            connection.execute(metadata.tables["state"].insert().values(key="later", value="1"))
            do(command("pg_dump"), tmp_path, **{"@db.example/tunnihind": f"@/{name}?{where}"})
    do(
        command("pg_restore"),
        tmp_path,
        **{"@db.example/postgres": f"@/postgres?{where}", f"@db.example/{restored}": f"@/{restored}?{where}"},
    )
    require_whole(postgresql.url(restored), before)

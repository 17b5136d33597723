"""Upgrades from any older database to today's tables, but not from a newer one."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

import tunnihind.store.migrations
from tests.support.clocks import StillClock
from tests.support.store.stores import DAY, HOURS, run, whole_day
from tunnihind.api.snapshot import Snapshot
from tunnihind.core.market import DAY_S
from tunnihind.errors import SchemaError, StoreError
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.store.database import Database
from tunnihind.store.revision import HEAD, current_migration, has_newest_migration, upgrade
from tunnihind.store.schema import metadata
from tunnihind.store.store import Store

SEEN = 1_765_713_600
TODAY = Path(next(iter(tunnihind.store.migrations.__path__)))

NEXT, LAST = f"{int(HEAD) + 1:04}", f"{int(HEAD) + 2:04}"
"""Two made-up future steps."""

STEP = """
import sqlalchemy as sa
from alembic import op

revision = "{step}"
down_revision = "{before}"


def upgrade():
    op.add_column("runs", sa.Column("note_{step}", sa.Text))
    op.create_table("fresh_{step}", sa.Column("a", sa.Integer))
    op.execute("DELETE FROM runs WHERE made_at < {seen}")
    {more}
"""


@pytest.fixture
def steps_to_come(tmp_path: Path) -> Callable[..., str]:
    """Return a function that makes a folder with today's steps and two future ones.

    The last step may do `more`.
    """

    def make(more: str = "pass") -> str:
        folder = tmp_path / "migrations"
        shutil.copytree(TODAY, folder, ignore=shutil.ignore_patterns("__pycache__"))
        for step, before, last_words in [(NEXT, HEAD, "pass"), (LAST, NEXT, more)]:
            content = STEP.format(step=step, before=before, seen=SEEN, more=last_words)
            (folder / "versions" / f"{step}_to_come.py").write_text(content)
        return str(folder)

    return make


def fill(store: Store) -> None:
    store.prices.add(whole_day(DAY), source="a", seen_ts=SEEN)
    store.runs.add(run(SEEN))
    store.runs.add(run(SEEN - 1))
    store.close()


def step_of(database: Database) -> str | None:
    with database.reading() as connection:
        return current_migration(connection)


def tables(database: Database) -> set[str]:
    with database.reading() as connection:
        return set(inspect(connection).get_table_names())


def test_the_steps_lead_to_the_tables_that_the_code_describes(url: str) -> None:
    with Store(url) as store, store.database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata) == []


def test_the_newest_step_is_the_one_the_code_wants_and_steps_are_in_order() -> None:
    config = Config()
    config.set_main_option("script_location", str(TODAY))
    steps = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert steps[0] == HEAD
    assert steps == sorted(steps, reverse=True)


def test_opening_again_changes_nothing(url: str, path: Path) -> None:
    Store(url).close()
    before = path.read_bytes()
    Store(url).close()
    assert path.read_bytes() == before


def test_an_older_database_is_upgraded_with_what_it_holds(
    url: str, store: Store, steps_to_come: Callable[..., str]
) -> None:
    fill(store)
    database = Database(url)
    upgrade(database, steps_to_come())
    with database.reading() as connection:
        rows = connection.execute(text(f"SELECT made_at, tier, note_{LAST} FROM runs"))  # noqa: S608
        assert [tuple(row) for row in rows] == [(SEEN, "test", None)]
        assert connection.execute(text("SELECT count(*) FROM prices")).scalar_one() == 24 * 4
    assert step_of(database) == LAST
    assert {f"fresh_{NEXT}", f"fresh_{LAST}"} <= tables(database)
    database.close()


@pytest.mark.parametrize("more", ["op.execute('INSERT INTO nowhere VALUES (1)')", "raise MemoryError"])
def test_an_upgrade_that_fails_half_way_leaves_all_as_it_was(
    url: str, store: Store, steps_to_come: Callable[..., str], more: str
) -> None:
    fill(store)
    database = Database(url)
    before = tables(database)
    with pytest.raises((StoreError, MemoryError)):
        upgrade(database, steps_to_come(more))
    assert tables(database) == before
    assert has_newest_migration(database)
    database.close()
    with Store(url) as again:
        assert [one.made_at for one in again.runs.made_since(HOURS, 0)] == [SEEN, SEEN - 1]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_database_is_refused_in_plain_words_and_left_alone(
    url: str, store: Store, steps_to_come: Callable[..., str], read_only: bool
) -> None:
    fill(store)
    database = Database(url)
    upgrade(database, steps_to_come())
    before = tables(database)
    with pytest.raises(SchemaError, match="was written by a newer version of Tunnihind: update Tunnihind"):
        Store(url, read_only=read_only)
    assert (step_of(database), tables(database)) == (LAST, before)
    database.close()


@pytest.mark.parametrize(
    "change", ["op.drop_table('scenarios')", "op.alter_column('prices', 'source', new_column_name='src')"]
)
def test_a_replica_refuses_a_newer_database_that_it_can_not_read(
    url: str, store: Store, steps_to_come: Callable[..., str], change: str
) -> None:
    fill(store)
    database = Database(url)
    upgrade(database, steps_to_come(change))
    with pytest.raises(SchemaError, match="was written by a newer version of Tunnihind: update Tunnihind"):
        Store(url, read_only=True, is_replica=True)
    database.close()


async def test_a_running_server_goes_on_reading_and_writing_beside_a_newer_version_that_has_only_added(
    url: str, store: Store, steps_to_come: Callable[..., str]
) -> None:
    fill(store)
    snapshot = Snapshot(Settings(), StillClock(SEEN + 7200))
    with Store(url, read_only=True, is_replica=True) as replica, Store(url) as writer:
        updater = SnapshotUpdater(replica, [snapshot], StillClock(SEEN + 7200))
        await updater.refresh()
        before = snapshot.data
        lease = writer.lease_guarding_writes()
        assert lease.claim()
        database = Database(url)
        upgrade(database, steps_to_come())
        # The old version still runs the pipeline, and writes as before.
        writer.prices.add(whole_day(DAY + timedelta(days=1)), source="test", seen_ts=SEEN + 1)
        writer.runs.add(run(SEEN + 3600))
        replica.database.system.engine.dispose()  # the older replica also has to work with new connections
        await updater.refresh()
        assert list(updater.troubles) == []
        assert snapshot.data.newest_settled_ts == (before.newest_settled_ts or 0) + DAY_S
        assert snapshot.data.hours.run is not None
        assert snapshot.data.hours.run.made_at == SEEN + 3600
        with Store(url, read_only=True, is_replica=True) as started_later:
            assert started_later.runs.newest(HOURS) is not None
        database.close()


async def test_a_running_server_stops_reading_and_writing_what_a_newer_version_means_otherwise(
    url: str, store: Store, steps_to_come: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    fill(store)
    snapshot = Snapshot(Settings(), StillClock(SEEN))
    with Store(url, read_only=True, is_replica=True) as replica, Store(url) as writer:
        updater = SnapshotUpdater(replica, [snapshot], StillClock(SEEN))
        await updater.refresh()
        before = snapshot.data
        lease = writer.lease_guarding_writes()
        assert lease.claim()
        database = Database(url)
        upgrade(database, steps_to_come("op.alter_column('prices', 'eur_mwh', new_column_name='cents')"))
        # Answers still come from the earlier data, and /readyz reports it to the load balancer.
        await updater.refresh()
        assert snapshot.data is before
        assert list(updater.troubles) == ["the database was upgraded by a newer version: update this server"]
        assert "so this version can't read it: update Tunnihind" in caplog.text
        # No data is stored that the new version would misread.
        with pytest.raises(SchemaError, match="upgraded by a newer version"):
            writer.runs.add(run(SEEN + 3600))
        with database.reading() as connection:
            assert connection.scalar(text("SELECT count(*) FROM runs")) == 1
        database.close()
    with pytest.raises(SchemaError, match="was written by a newer version of Tunnihind: update Tunnihind"):
        Store(url, read_only=True, is_replica=True)


def test_a_replica_of_an_empty_database_says_so(postgresql_url: str) -> None:
    with pytest.raises(SchemaError, match=r"there are no tables in .* yet") as refused:
        Store(postgresql_url, read_only=True, is_replica=True)
    assert refused.value.may_pass


def test_an_older_database_is_not_upgraded_by_a_reader(url: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    monkeypatch.setattr("tunnihind.store.revision.HEAD", LAST)
    with pytest.raises(SchemaError, match=r"start `\./run serve` once"):
        Store(url, read_only=True)
    monkeypatch.undo()
    with Store(url, read_only=True) as again:
        assert has_newest_migration(again.database)

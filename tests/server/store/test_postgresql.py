"""PostgreSQL alone: its roles, and a server or connection that goes away and comes back."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

import psycopg
import pytest
from psycopg import sql

from tests.support.store.postgresql import PostgresqlServer, postgresql_server, silenced_proxy
from tests.support.store.stores import DAY, HOURS, run, whole_day
from tunnihind.errors import SettingsError, StoreError, StoreLost
from tunnihind.store.engines import postgresql as engine
from tunnihind.store.engines.postgresql_connection import ImpatientConnection
from tunnihind.store.revision import HEAD
from tunnihind.store.store import Store

SEEN = 1_765_713_600
PASSWORD = "s3cr&t/ [õ]"  # noqa: S105
IN_A_URL = "s3cr%26t%2F%20%5B%C3%B5%5D"


@pytest.fixture(scope="module")
def guarded(postgresql: PostgresqlServer) -> str:
    """Return the name of a role with a password and without rights."""
    with postgresql.superuser() as connection:
        connection.execute(sql.SQL("CREATE ROLE guarded LOGIN PASSWORD {}").format(PASSWORD))
    return "guarded"


@pytest.fixture
def database(postgresql_url: str) -> str:
    """Return the name of the database at `postgresql_url`."""
    return postgresql_url.partition("@/")[2].partition("?")[0]


@pytest.fixture
def own_server() -> Iterator[PostgresqlServer]:
    """Return a server that the test may stop and start."""
    with postgresql_server() as server:
        yield server


def lost(access: Callable[[], object]) -> StoreLost:
    with pytest.raises(StoreLost) as caught:
        access()
    return caught.value


def test_an_address_without_a_driver_takes_the_one_that_the_extra_installs(postgresql_url: str) -> None:
    for written in ("postgres", "postgresql"):
        with Store(postgresql_url.replace("postgresql+psycopg", written)) as store:
            assert store.prices.count() == 0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("guarded:{wrong}@/{database}?host={folder}", 'password authentication failed for user "guarded"'),
        ("guarded@/{database}?host={folder}&password={wrong}", 'password authentication failed for user "guarded"'),
        ("guarded@/{database}?host={folder}", ": no password supplied"),
        ("nobody:{wrong}@/{database}?host={folder}", 'role "nobody" does not exist'),
        ("guarded:{right}@/nosuch?host={folder}", 'database "nosuch" does not exist'),
        ("guarded:{right}@nosuch.invalid/{database}", "failed to resolve host 'nosuch.invalid'"),
        ("guarded:{right}@127.0.0.1:9/{database}", "Connection refused"),
        ("guarded:{right}@/{database}?host=/nosuch", "No such file or directory"),
        ("guarded:{right}@/{database}?host={folder}&sslmode=perhaps", 'invalid sslmode value: "perhaps"'),
        ("guarded:{right}@/{database}?host={folder}&colour=blue", 'invalid connection option "colour"'),
        ("guarded@/{database}?host={folder}&passwrd={wrong}", 'invalid connection option "passwrd"'),
        ("guarded:{right}@/{database}?host={folder}", "permission denied for schema public"),
    ],
)
def test_what_is_wrong_with_an_address_is_told_in_one_sentence_without_the_password(
    postgresql: PostgresqlServer, guarded: str, database: str, address: str, said: str
) -> None:
    parts = {"database": database, "folder": postgresql.folder, "right": IN_A_URL, "wrong": "wr%40ng"}
    with pytest.raises(StoreError) as caught:
        Store(f"postgresql+psycopg://{address.format(**parts)}")
    text = str(caught.value)
    assert said in text
    assert text.startswith("can't ")
    assert "\n" not in text
    assert "fe_sendauth" not in text
    assert database in text or "nosuch" in text
    for secret in ("wr%40ng", "wr@ng", IN_A_URL, PASSWORD):
        assert secret not in text


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://user:SECRET@host:port/name",
        "postgresql+psycopg://user:p:SECRET@more@host:port/name",
        "postgresql+psycopg:/user:SECRET@host/name",
        "postgresql+nosuch://user@host/name?password=SECRET&sslmode=require",
        "mysql://user:SECRET@host/name",
        "postgresql+psycopg2://user:SECRET@host/name",
        "postgresql+psycopg://user:part@SECRET@host/name",
        "postgresql+psycopg://user:part@host/SECRET@host/name",
    ],
)
def test_an_address_that_is_none_is_shown_without_its_password(address: str) -> None:
    with pytest.raises(SettingsError, match="database-url ") as caught:
        Store(address.replace("SECRET", "s3cret"))
    assert "s3cret" not in str(caught.value)


def test_the_password_of_an_address_is_shown_nowhere(
    postgresql: PostgresqlServer, guarded: str, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with postgresql.superuser(database) as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO guarded")
    for address in (f"guarded:{IN_A_URL}@/{database}?", f"guarded@/{database}?password={IN_A_URL}&"):
        with Store(f"postgresql+psycopg://{address}host={postgresql.folder}") as store:
            store.runs.add(run(SEEN))
            shown = str(store.database)
        assert "***" in shown
        assert PASSWORD not in shown + caplog.text
        assert IN_A_URL not in shown + caplog.text


def test_an_at_sign_in_a_password_is_told_how_to_be_written() -> None:
    with pytest.raises(SettingsError, match="with %40 for an @ in the password"):
        Store("postgresql+psycopg://user:s3@cret@host/name")


@pytest.mark.parametrize("driver", ["psycopg2", "asyncpg"])
def test_another_driver_than_psycopg_is_refused_whether_installed_or_not(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f"database-url names postgresql\\+{driver}: write postgresql\\+psycopg://"
    with pytest.raises(SettingsError, match=said):
        Store(f"postgresql+{driver}://user@host/name")
    monkeypatch.setattr("tunnihind.store.address.create_engine", lambda _: None)
    with pytest.raises(SettingsError, match=said):
        Store(f"postgresql+{driver}://user@host/name")


def test_a_system_that_is_not_used_is_said_to_be_none_rather_than_a_driver_to_be_missing() -> None:
    with pytest.raises(SettingsError, match="names mysql: data is kept in SQLite or PostgreSQL"):
        Store("mysql://user@host/name")


def test_options_in_an_address_of_sqlite_are_refused() -> None:
    with pytest.raises(SettingsError, match="only the path of a file"):
        Store("sqlite:///file:/var/lib/tunnihind.db?uri=true")


def test_a_driver_that_is_not_installed_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(*_: object) -> object:
        raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")

    monkeypatch.setattr("tunnihind.store.address.create_engine", not_installed)
    with pytest.raises(SettingsError, match=r"driver .* is not installed; .*--extra postgresql") as caught:
        Store("postgresql://user:s3cret@host/name")
    assert "s3cret" not in str(caught.value)


def test_a_role_that_may_only_read_can_do_that_and_is_told_so_as_a_writer(
    postgresql: PostgresqlServer, postgresql_url: str, database: str
) -> None:
    with Store(postgresql_url) as store:
        store.runs.add(run(SEEN))
    with postgresql.superuser(database) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN IN ROLE pg_read_all_data")
    address = postgresql.url(database, role="reader")
    with pytest.raises(StoreError, match="the role reader may not write to prices, witnesses, "):
        Store(address)
    with Store(address, read_only=True) as store:
        assert store.runs.newest(HOURS) is not None


def test_a_reader_can_not_be_talked_into_writing(postgresql_url: str) -> None:
    Store(postgresql_url).close()
    with Store(postgresql_url, read_only=True) as store:
        with pytest.raises(StoreError, match="opened for reading only"):
            store.runs.add(run(SEEN))
        with pytest.raises(StoreError, match="read-only transaction"), store.database.reading() as connection:
            connection.exec_driver_sql("DELETE FROM runs")


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("note", [None, "3f2a91bc04de", "0006", HEAD])
def test_a_database_of_another_program_is_refused_and_left_alone(
    postgresql: PostgresqlServer, postgresql_url: str, database: str, note: str | None, read_only: bool
) -> None:
    with postgresql.superuser(database) as connection:
        connection.execute("CREATE TABLE orders (id int)")
        if note is not None:  # also of Alembic, whose notices have the same name in all programs
            connection.execute("CREATE TABLE alembic_version (version_num text)")
            connection.execute("INSERT INTO alembic_version VALUES (%s)", (note,))
        with pytest.raises(StoreError, match=r"tables of another program \(orders\): name a database of Tunnihind"):
            Store(postgresql_url, read_only=read_only)
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert {name for (name,) in tables} - {"alembic_version"} == {"orders"}


def test_a_database_in_another_encoding_is_refused(postgresql: PostgresqlServer) -> None:
    name = postgresql.make_database(encoding="LATIN1")
    with pytest.raises(
        StoreError, match=r"it is encoded in LATIN1; make a new database with CREATE DATABASE .* 'UTF8'"
    ):
        Store(postgresql.url(name))
    postgresql.drop_database(name)


def test_a_server_that_is_too_old_is_refused(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "OLDEST_VERSION", 999)
    with pytest.raises(StoreError, match=r"its server is PostgreSQL \d+, and the oldest supported version is 999"):
        Store(postgresql_url)


def test_what_is_read_in_one_transaction_is_of_one_instant(postgresql_url: str) -> None:
    with Store(postgresql_url) as store, store.database.reading() as connection:
        before = connection.exec_driver_sql("SELECT count(*) FROM runs").scalar_one()
        store.runs.add(run(SEEN))
        assert connection.exec_driver_sql("SELECT count(*) FROM runs").scalar_one() == before
        assert len(store.runs.made_since(HOURS, 0)) == 1


def test_a_text_that_postgresql_cannot_hold_is_an_error_and_no_outage(postgresql_url: str) -> None:
    with Store(postgresql_url) as store:
        with pytest.raises(StoreError, match="NUL") as caught:
            store.health.record_success("half\0done", SEEN)
        assert not isinstance(caught.value, StoreLost)
        assert store.health.by_source() == {}


def test_a_connection_that_was_ended_is_replaced_unnoticed(
    postgresql: PostgresqlServer, postgresql_url: str, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(postgresql_url) as store:
        for number in range(3):
            postgresql.end_connections(database)
            store.runs.add(run(SEEN + number))
        assert len(store.runs.made_since(HOURS, 0)) == 3
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_transaction_whose_connection_is_ended_is_lost_whole_and_the_next_one_works(
    postgresql: PostgresqlServer, postgresql_url: str, database: str
) -> None:
    with Store(postgresql_url) as store:

        def write() -> None:
            with store.database.writing() as connection:
                connection.exec_driver_sql("DELETE FROM state")
                postgresql.end_connections(database)
                connection.exec_driver_sql("DELETE FROM runs")

        assert lost(write).reason == "the database server can't be reached"
        assert store.state.served_version() == 0
        store.runs.add(run(SEEN))
        assert store.state.served_version() == 1


def test_a_server_that_stops_is_told_once_and_used_on_as_soon_as_it_is_back(
    own_server: PostgresqlServer, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(own_server.url(own_server.make_database())) as store:
        store.runs.add(run(SEEN))
        own_server.stop("immediate")
        for _ in range(3):
            assert lost(store.state.served_version).reason == "the database server can't be reached"
            assert lost(lambda: store.state.record_refresh(SEEN)).reason == "the database server can't be reached"
        own_server.start()
        assert [one.made_at for one in store.runs.made_since(HOURS, 0)] == [SEEN]
        store.runs.add(run(SEEN + 3600))
    told = [(record.levelno, record.getMessage()) for record in caplog.records if record.levelno >= logging.WARNING]
    assert [level for level, _ in told] == [logging.ERROR, logging.WARNING]
    assert "the data read before are still served" in told[0][1]
    assert told[1][1].endswith("the database is back")


def test_another_database_in_its_place_is_neither_used_nor_changed(
    postgresql: PostgresqlServer, postgresql_url: str, database: str
) -> None:
    with Store(postgresql_url) as store:
        store.runs.add(run(SEEN))
        postgresql.drop_database(database)
        assert "does not exist" in str(lost(store.state.served_version))
        postgresql.make_database(name=database)
        assert (
            lost(store.state.served_version).reason
            == "the database has been replaced, and the new one is another server's"
        )
        with Store(postgresql_url) as other:
            other.prices.add(whole_day(DAY), source="a", seen_ts=SEEN)
            for access in (store.state.served_version, lambda: store.runs.add(run(SEEN))):
                assert "the new one is another server's" in lost(access).reason
            assert other.runs.made_since(HOURS, 0) == []


def test_a_copy_in_its_place_is_used_on_and_told_of(
    postgresql: PostgresqlServer, postgresql_url: str, database: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(postgresql_url) as store:
        store.runs.add(run(SEEN))
        postgresql.end_connections(database)
        backup = postgresql.make_database(like=database)
        store.runs.add(run(SEEN + 3600))
        postgresql.drop_database(database)
        postgresql.make_database(like=backup, name=database)
        store.runs.add(run(SEEN + 7200))
        assert [one.made_at for one in store.runs.made_since(HOURS, 0)] == [SEEN + 7200, SEEN]
        assert store.database.system.replacement_count == 1
    assert "another copy has replaced the database" in caplog.text
    postgresql.drop_database(backup)


@pytest.mark.parametrize("writes", [False, True])
def test_a_connection_on_which_a_proxy_passes_nothing_on_is_given_up_and_replaced(
    postgresql_url: str, postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch, writes: bool
) -> None:
    with silenced_proxy(postgresql.socket) as (folder, silence):
        url = postgresql_url.replace(str(postgresql.folder), f"{folder}&connect_timeout=2")
        with Store(url) as store:
            store.runs.add(run(SEEN))
            silence.set()
            monkeypatch.setattr(ImpatientConnection, "patience_s", 0.3)
            assert lost(
                lambda: store.state.record_refresh(SEEN) if writes else store.state.served_version()
            ).reason == ("the database server can't be reached")
            silence.clear()
            monkeypatch.undo()
            assert [one.made_at for one in store.runs.made_since(HOURS, 0)] == [SEEN]


def test_a_writer_that_is_frozen_is_given_up_by_the_server(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(postgresql_url) as frozen, Store(postgresql_url) as other:

        def freeze() -> None:
            with ExitStack() as stack:
                with monkeypatch.context() as impatient:
                    impatient.setattr(
                        engine, "_SET_WRITING_LIMITS", engine._SET_WRITING_LIMITS.replace("'10s'", "'100ms'")
                    )
                    connection = stack.enter_context(frozen.database.writing())
                connection.exec_driver_sql("DELETE FROM state")
                # This transaction stops here. The other write has to wait until PostgreSQL ends this transaction.
                other.runs.add(run(SEEN))
                connection.exec_driver_sql("DELETE FROM runs")

        lost(freeze)
        assert [one.made_at for one in frozen.runs.made_since(HOURS, 0)] == [SEEN]


_WAITED_FOR: Final = "SELECT wait_event FROM pg_stat_activity WHERE pid = %s"


@contextmanager
def in_the_middle_of_a_batch(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Hold the writers' lock in an active transaction whose next statement never comes."""
    address = url.replace("+psycopg", "")
    with psycopg.connect(address) as frozen, suppress(psycopg.OperationalError), frozen.pipeline():
        frozen.execute("SELECT pg_advisory_xact_lock(%s)", [engine._WRITER_LOCK_NUMBER]).fetchone()
        # The answer arrives a moment before the server waits for the next statement.
        with psycopg.connect(address, autocommit=True) as watching:
            while watching.execute(_WAITED_FOR, [frozen.info.backend_pid]).fetchone() != ("ClientRead",):
                pass
        yield frozen


def test_a_writer_that_is_frozen_in_the_middle_of_a_batch_is_ended(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SILENT_AFTER_S", 0.0)
    with Store(postgresql_url) as other, in_the_middle_of_a_batch(postgresql_url) as frozen:
        other.runs.add(run(SEEN))
        assert [one.made_at for one in other.runs.made_since(HOURS, 0)] == [SEEN]
        with pytest.raises(psycopg.OperationalError, match=r"server closed the connection|terminating connection"):
            frozen.execute("SELECT 1").fetchone()


def test_a_writer_that_has_sent_something_lately_is_waited_for(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SET_SESSION_LIMITS", engine._SET_SESSION_LIMITS.replace("'15s'", "'50ms'"))
    with Store(postgresql_url) as other, in_the_middle_of_a_batch(postgresql_url) as busy:
        with pytest.raises(
            StoreError, match=r"can't write the database .*: another process has been writing for too long"
        ):
            other.runs.add(run(SEEN))
        assert busy.execute("SELECT 1").fetchone() == (1,)

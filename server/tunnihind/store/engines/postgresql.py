"""Connects to PostgreSQL through psycopg. Several servers of Tunnihind can use the same database.

The store notices a lost connection within about ten seconds, or within 40 seconds behind a proxy. Behind a proxy,
`migrating` may never notice the loss. When the database server is back, the next access works again.
"""

import logging
import math
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, cast, override

import psycopg
from psycopg.types.string import TextLoader
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tunnihind.errors import SchemaError, StoreDamaged, StoreError, StoreLost, one_line
from tunnihind.store.address import address_without_passwords, without_secrets
from tunnihind.store.engines.base import DatabaseSystem, OutageLog
from tunnihind.store.engines.postgresql_connection import CHANNEL, ImpatientConnection, change_announcements

_LOG: Final = logging.getLogger(__name__)

OLDEST_VERSION: Final = 14
"""The oldest version of PostgreSQL that the store supports."""

_CONNECTION_PARAMETERS: Final[Mapping[str, Any]] = {
    "application_name": "tunnihind",
    "client_encoding": "utf8",
    "connect_timeout": 5,
    # The TCP limits below reveal a broken network connection within about ten seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Parameters of libpq. The address may override each parameter (`?connect_timeout=10`)."""

_WRITER_LOCK_NUMBER: Final = int.from_bytes(b"tunnihnd")
"""The number of the advisory lock that `writing` and `migrating` take, so that only one of these transactions is open
at a time. Each database has its own locks."""

_SET_SESSION_LIMITS: Final = (
    "SELECT set_config('lock_timeout', '15s', false), set_config('statement_timeout', '30s', false),"
    " set_config('idle_in_transaction_session_timeout', '60s', false)"
)
# With the time limit of `_SET_WRITING_LIMITS`, a writer that freezes between two statements delays others for at most
# 10 seconds.
_SET_WRITING_LIMITS: Final = "SELECT set_config('idle_in_transaction_session_timeout', '10s', true)"
_SET_MIGRATING_LIMITS: Final = (
    "SELECT set_config('lock_timeout', '10min', true), set_config('statement_timeout', '0', true)"
)
_LOCK: Final = text("SELECT pg_advisory_xact_lock(:number)").bindparams(number=_WRITER_LOCK_NUMBER)
_LOCK_IF_FREE: Final = text("SELECT pg_try_advisory_xact_lock(:number)").bindparams(number=_WRITER_LOCK_NUMBER)

_SILENT_AFTER_S: Final = 5.0
"""A writer counts as frozen if it exchanges nothing for this many seconds in the middle of a batch of statements."""
# The time limit for idle transactions does not end such a writer's transaction, because PostgreSQL does not count a
# transaction as idle in the middle of a batch.
_END_SILENT_WRITER: Final = text(
    "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)"
    " WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND datid = database AND datname = current_database()"
    " AND (CAST(CAST(classid AS bigint) << 32 AS bigint) | CAST(objid AS bigint)) = :number"
    " AND state = 'active' AND wait_event IN ('ClientRead', 'ClientWrite')"
    " AND clock_timestamp() - state_change > make_interval(secs => :silent_s)"
).bindparams(number=_WRITER_LOCK_NUMBER)

_SELECT_MISSING_RIGHTS: Final = text(
    "SELECT pg_is_in_recovery(), current_user, ARRAY("
    " SELECT name FROM unnest(CAST(:tables AS text[])) AS name WHERE NOT (has_table_privilege(name, 'INSERT')"
    " AND has_table_privilege(name, 'UPDATE') AND has_table_privilege(name, 'DELETE')))"
)

_SET_LEASE_LIMITS: Final = text(
    "SELECT set_config('lock_timeout', '5s', true), set_config('statement_timeout', '5s', true),"
    " set_config('idle_in_transaction_session_timeout', '5s', true)"
)
_SELECT_DATABASE_OID: Final = "SELECT oid FROM pg_database WHERE datname = current_database()"
"""Selects the database's object identifier, which changes if the database is deleted and made again."""
_NOW: Final = text("SELECT floor(extract(epoch FROM clock_timestamp()))")
_ANNOUNCE: Final = text("SELECT pg_notify(:channel, '')").bindparams(channel=CHANNEL)

_POOL_SIZE: Final = 5
_POOL_OVERFLOW: Final = 10
_POOL_WAIT_S: Final = 10
_RECYCLED_AFTER_S: Final = 1800

_IS_KNOWN: Final = "tunnihind_is_known"
"""Marks a connection after its database has been recognised."""

_SERVER_GONE: Final = re.compile("08...|57P0[1-5]|53300|25P03")
"""SQLSTATEs: the connection failed, the database was dropped, or the server stops, starts, has too many clients, or
ended an idle connection."""

_PLAIN_DESCRIPTIONS: Final = {
    "42501": "the role of this address has no right to do so",
    "55P03": "another process has been writing for too long",
    "57014": "it takes too long",
}
"""Maps SQLSTATEs to plain descriptions. The server's own error message follows in brackets."""
_MAY_PASS: Final = frozenset({"53100", "55P03", "57014"})
"""SQLSTATEs: the disk is full, another process has been writing for too long, or a statement took too long."""
_DAMAGED: Final = frozenset({"XX001", "XX002"})
"""SQLSTATEs: a table or an index is damaged."""

# This pattern matches the text that psycopg puts before the server's error message.
_PREAMBLE: Final = re.compile(
    r"connection (?:failed|is bad): (?:connection to server .*? failed: )?(?:FATAL: +|fe_sendauth: )?"
)
_NO_CONNECTION: Final = "the database server can't be reached"


class Postgresql(DatabaseSystem):
    """A database on a PostgreSQL server.

    `look_for_damage` does nothing, because PostgreSQL finds damage only when it reads a damaged row.
    """

    announces_changes = True

    def __init__(self, url: URL) -> None:
        """Prepare to connect."""
        super().__init__(address_without_passwords(url))
        self._url = url
        self.engine = _engine(url)
        self._reading = self.engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        # With READ COMMITTED, a writer reads everything that earlier writers have stored, even if it had to wait for
        # them.
        self._writing = self.engine.execution_options(isolation_level="READ COMMITTED", postgresql_readonly=False)
        self._database_oid: int | None = None
        self._outage = OutageLog(self.name, "the database")

    @override
    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._reading.connect() as connection:
            self._check_database(connection)
            yield connection

    @override
    def writing(self) -> AbstractContextManager[Connection]:
        return self._exclusive_transaction(_SET_WRITING_LIMITS)

    @override
    def migrating(self) -> AbstractContextManager[Connection]:
        return self._exclusive_transaction(_SET_MIGRATING_LIMITS, patience_s=math.inf)

    @contextmanager
    def _exclusive_transaction(self, limits: str, patience_s: float | None = None) -> Iterator[Connection]:
        with self._writing.begin() as connection, _driver_connection(connection).limiting_waits_to(patience_s):
            connection.exec_driver_sql(limits)
            if not connection.execute(_LOCK_IF_FREE).scalar_one():
                connection.execute(_END_SILENT_WRITER, {"silent_s": _SILENT_AFTER_S})
                connection.execute(_LOCK)
            self._check_database(connection)
            yield connection

    @override
    @contextmanager
    def writing_lease_row(self) -> Iterator[Connection]:
        with self._writing.begin() as connection:
            connection.execute(_SET_LEASE_LIMITS)
            self._check_database(connection)
            yield connection

    @override
    def now(self, connection: Connection) -> int:
        return int(connection.execute(_NOW).scalar_one())

    @override
    def announce(self, connection: Connection) -> None:
        connection.execute(_ANNOUNCE)

    @override
    async def change_announcements(self) -> AsyncGenerator[None]:
        try:
            async for _ in change_announcements(self.engine, _connection_parameters(self._url)):
                yield
        except (psycopg.Error, OSError) as error:
            words = one_line(without_secrets(str(error), self._url))
            raise StoreError(f"the database {self.name} announces no changes: {words}") from error

    @override
    def require_rights(self, tables: Iterable[str]) -> None:
        with self.reading() as connection:
            is_copy, role, refused = connection.execute(_SELECT_MISSING_RIGHTS, {"tables": list(tables)}).one()
        if is_copy:
            raise StoreError(f"can't write the database {self.name}: its server is a read replica")
        if refused:
            names = ", ".join(refused)
            raise StoreError(f"can't write the database {self.name}: the role {role} may not write to {names}")

    @override
    def size(self) -> int:
        """Return the size of the database in bytes, including PostgreSQL's own catalogue.

        Raises SQLAlchemyError, StoreError.
        """
        with self.reading() as connection:
            return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())

    @override
    def store_error(self, verb: str, error: SQLAlchemyError) -> StoreError:
        if isinstance(error, PoolTimeout):
            return StoreError(
                f"can't {verb} the database {self.name}: all connections are in use",
                reason="all connections to the database are in use",
                may_pass=True,
            )
        cause = error.orig if isinstance(error, DBAPIError) else error
        # Only the first line of PostgreSQL's error message is used, because the other lines give advice, or repeat the
        # error for other hosts.
        first, *_ = str(cause).strip().splitlines() or [type(cause).__name__]
        words = _PREAMBLE.sub("", one_line(without_secrets(first, self._url)), count=1)
        if isinstance(error, DBAPIError) and _is_connection_error(error):
            message = f"can't connect to the database {self.name}: {words}"
            if self._recognise is None:
                return StoreError(message, reason=_NO_CONNECTION, may_pass=True)
            self._outage.note(f"{_NO_CONNECTION}: {words}")
            return StoreLost(message, reason=_NO_CONNECTION)
        state = getattr(cause, "sqlstate", None) or ""
        plain = _PLAIN_DESCRIPTIONS.get(state)
        words = words if plain is None else f"{plain} ({words})"
        message = f"can't {verb} the database {self.name}: {words}"
        if state in _DAMAGED:
            self.file_damage = "a table of the database is damaged: stop the servers, and restore a backup"
            return StoreDamaged(message, reason=self.file_damage)
        done = "read" if verb == "read" else "written to"
        return StoreError(message, reason=f"the database can't be {done}", may_pass=state in _MAY_PASS)

    def _check_database(self, connection: Connection) -> None:
        """Make sure that a new connection leads to the opened database or a copy of it.

        The server's version and the database's encoding must be supported. Before `check_replacements_with` is called,
        nothing else is checked. Raises StoreError, StoreLost.
        """
        if _IS_KNOWN not in connection.info:
            _require_supported_server(connection, self.name)
            if self._recognise is None:
                return
            try:
                self._recognise(connection)
            except SchemaError:
                raise
            except StoreError as error:
                trouble = f"the database has been replaced, and {error.reason}"
                self._outage.note(trouble)
                raise StoreLost(f"can't use the database {self.name}: {trouble}", reason=trouble) from error
            connection.info[_IS_KNOWN] = True
            before = self._database_oid
            self._database_oid = connection.exec_driver_sql(_SELECT_DATABASE_OID).scalar_one()
            if before not in {None, self._database_oid}:
                self._note_replacement("the database")
        self._outage.note("")


def _require_supported_server(connection: Connection, name: str) -> None:
    info = _driver_connection(connection).info
    version = info.server_version // 10_000
    if version < OLDEST_VERSION:
        raise StoreError(
            f"can't use the database {name}: its server is PostgreSQL {version}, and the oldest supported version is "
            f"{OLDEST_VERSION}"
        )
    encoding = info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"can't use the database {name}: it is encoded in {encoding}; make a new database with "
            "CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'"
        )


def _driver_connection(connection: Connection) -> ImpatientConnection:
    return cast("ImpatientConnection", connection.connection.driver_connection)


def _is_connection_error(error: DBAPIError) -> bool:
    """Return whether an error comes from the connection rather than from the SQL statement."""
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        return error.connection_invalidated or isinstance(error.orig, psycopg.OperationalError)
    return error.connection_invalidated or _SERVER_GONE.fullmatch(state) is not None


def _connection_parameters(url: URL) -> dict[str, Any]:
    return {name: value for name, value in _CONNECTION_PARAMETERS.items() if name not in url.query}


def _engine(url: URL) -> Engine:
    engine = create_engine(
        url,
        connect_args=_connection_parameters(url),
        pool_size=_POOL_SIZE,
        max_overflow=_POOL_OVERFLOW,
        pool_timeout=_POOL_WAIT_S,
        pool_recycle=_RECYCLED_AFTER_S,
        pool_pre_ping=True,
        pool_use_lifo=True,
    )
    event.listen(engine, "do_connect", _connect)
    event.listen(engine, "connect", _set_up_connection)
    return engine


def _connect(_dialect: object, _record: object, arguments: Sequence[Any], parameters: Mapping[str, Any]) -> object:
    return ImpatientConnection.connect(*arguments, **parameters)


def _set_up_connection(connection: psycopg.Connection[Any], _record: object) -> None:
    # Dates are read as strings, because Python has no infinite dates, and one such date would stop the reading of all
    # rows.
    connection.adapters.register_loader("date", TextLoader)
    connection.execute(_SET_SESSION_LIMITS)
    connection.commit()

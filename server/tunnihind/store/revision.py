"""Checks whether this version of Tunnihind can read a database's tables, and creates or upgrades the tables."""

import json
import logging
import re
from typing import Final

from sqlalchemy import Connection, Inspector, delete, insert, inspect, select, text

from tunnihind.errors import SchemaError
from tunnihind.settings import COMMAND
from tunnihind.store.database import Database
from tunnihind.store.schema import metadata, state

_LOG: Final = logging.getLogger(__name__)

HEAD: Final = "0010"
"""The number of this version's newest migration. A new migration must have a higher number."""
_FIRST: Final = "0010"
"""The number of the first migration. Databases from before the first release have lower numbers and other tables."""
_MIGRATION_NUMBER: Final = re.compile("[0-9]{4}")
_VERSION_TABLE: Final = "alembic_version"
_READABLE_SINCE: Final = "readable_since"
_NEVER: Final = "9999"
_MAX_NAMED_TABLES: Final = 3
"""An error names at most this many tables of another program."""
_OWN_TABLES: Final = frozenset({"covariates", "source_health"})
"""Every version of Tunnihind creates these tables, and hardly any other program does. The table `alembic_version`
proves less, because other programs use Alembic too."""


def current_migration(connection: Connection) -> str | None:
    """Return the number of the last migration that was applied.

    If the database has no tables, or only the table `alembic_version`, return None.

    Raises SchemaError if the tables belong to another program or to a version from before the first release, or if the
    last migration can't be determined.
    """
    found = inspect(connection)
    tables = set(found.get_table_names())
    if not tables & _OWN_TABLES:
        if strangers := sorted(tables - {_VERSION_TABLE}):
            raise SchemaError(
                f"the database holds tables of another program ({', '.join(strangers[:_MAX_NAMED_TABLES])}): "
                "name a database of Tunnihind with --database-url"
            )
        return None
    recorded = _recorded_migrations(connection)
    only = recorded[0] if len(recorded) == 1 else None
    number = only if isinstance(only, str) and _MIGRATION_NUMBER.fullmatch(only) else None
    if number is not None and number >= _FIRST:
        return number
    # The recorded migration is missing, damaged or too old, so the tables are compared with `schema`.
    if all(
        name in tables and _column_names(found, name) == {*table.c.keys()} for name, table in metadata.tables.items()
    ):
        return number or HEAD
    if number is not None:
        raise SchemaError(
            "the database is from an older version of Tunnihind and can't be read: name another database with "
            "--database-url"
        )
    raise SchemaError(
        f"the database's alembic_version is damaged: it holds {recorded}, which is not a version of its tables"
    )


def has_newest_migration(database: Database) -> bool:
    """Return whether the database records the newest migration as applied. Raises StoreError."""
    with database.reading() as connection:
        return _has_newest_migration_in(connection)


def _has_newest_migration_in(connection: Connection) -> bool:
    return current_migration(connection) == HEAD and _recorded_migrations(connection) == [HEAD]


def _record_newest_migration(connection: Connection) -> None:
    connection.execute(text("DELETE FROM alembic_version"))
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:step)"), {"step": HEAD})


def _recorded_migrations(connection: Connection) -> list[object]:
    if not inspect(connection).has_table(_VERSION_TABLE):
        return []
    return [row[0] for row in connection.execute(text("SELECT version_num FROM alembic_version"))]


def _column_names(found: Inspector, table: str) -> set[str]:
    return {column["name"] for column in found.get_columns(table)}


def is_readable(connection: Connection) -> bool:
    """Return whether this version of Tunnihind can read the tables. Raises SchemaError as `current_migration` does.

    If the database has no tables, return False. This version can't read the tables of an older version before they are
    upgraded. This version can read the tables of a newer version if they have all columns of `schema`, and if no newer
    migration has set `readable_since`.
    """
    step = current_migration(connection)
    if step is None or step <= HEAD:
        return step == HEAD
    return _has_all_columns(connection) and _readable_since(connection) <= HEAD


def is_too_new(connection: Connection) -> bool:
    """Return whether only a newer version of Tunnihind can read the tables.

    Raises SchemaError as `current_migration` does.
    """
    step = current_migration(connection)
    return step is not None and step > HEAD and not is_readable(connection)


def _record_readable_since(connection: Connection, step: str) -> None:
    """Record that a version of Tunnihind without the migration `step` would misread the data."""
    connection.execute(delete(state).where(state.c.key == _READABLE_SINCE))
    connection.execute(insert(state).values(key=_READABLE_SINCE, value=json.dumps(step)))


def _readable_since(connection: Connection) -> str:
    """Return the `readable_since` that the database records.

    If no migration has set `readable_since`, return an empty string. If the recorded value is damaged, return `_NEVER`.
    """
    recorded = connection.execute(select(state.c.value).where(state.c.key == _READABLE_SINCE)).scalar()
    if recorded is None:
        return ""
    found = re.fullmatch('"([0-9]{4})"', str(recorded))
    return found[1] if found else _NEVER


def _has_all_columns(connection: Connection) -> bool:
    found = inspect(connection)
    tables = set(found.get_table_names())
    return all(
        name in tables and _column_names(found, name) >= {*table.c.keys()} for name, table in metadata.tables.items()
    )


def require_readable(database: Database, *, newer_too: bool) -> None:
    """Make sure that this version of Tunnihind can read the tables. Raises SchemaError, StoreError.

    If `newer_too` is false, the tables of a newer version of Tunnihind are refused.
    """
    with database.reading() as connection:
        found, readable = current_migration(connection), is_readable(connection)
    if found == HEAD:
        return
    if found is None:
        raise no_tables_error(database)
    if found > HEAD and not (readable and newer_too):
        raise newer_version_error(database)
    if not readable:
        raise SchemaError(
            f"the tables of {database} are from an older version: to upgrade them, start `{COMMAND} serve` once"
        )
    _LOG.warning(
        "the database %s was upgraded by a newer version of Tunnihind. This version can still read the database",
        database,
    )


def upgraded_meanwhile_error(database: Database) -> SchemaError:
    """Return the error for a database that only a newer version of Tunnihind can read."""
    return SchemaError(
        f"the database {database} was upgraded by a newer version of Tunnihind, so this version can't read it: "
        "update Tunnihind",
        reason="the database was upgraded by a newer version: update this server",
    )


def no_tables_error(database: Database) -> SchemaError:
    """Return the error for a database that no server has set up yet."""
    return SchemaError(
        f"there are no tables in {database} yet: start `{COMMAND} serve` once",
        reason="the database has no tables yet",
        may_pass=True,
    )


def newer_version_error(database: Database) -> SchemaError:
    """Return the error for a database that a newer version of Tunnihind has written."""
    return SchemaError(
        f"the database {database} was written by a newer version of Tunnihind: update Tunnihind, "
        "or name another database with --database-url"
    )


_MIGRATIONS: Final = "tunnihind.store:migrations"


def upgrade(database: Database, migrations: str = _MIGRATIONS) -> None:
    """Create or upgrade the tables in one transaction. Raises SchemaError, StoreError.

    `migrations` is a folder, or `package:folder` in Alembic's notation. If a migration sets `readable_since`, versions
    of Tunnihind that lack this migration stop using the database.
    """
    from alembic import command  # noqa: PLC0415  slow to load and rarely needed
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", migrations)
    steps = {step.revision: step for step in ScriptDirectory.from_config(config).walk_revisions()}
    with database.migrating() as connection:
        if migrations == _MIGRATIONS and _has_newest_migration_in(connection):
            return  # another process may have upgraded the tables while this process waited
        revision = current_migration(connection)
        if revision is not None and (revision == HEAD or revision < _FIRST) and migrations == _MIGRATIONS:
            _LOG.warning(
                "the row of alembic_version is damaged, and is written again because the tables are up to date"
            )
            _record_newest_migration(connection)
            return
        if revision is not None and revision not in steps:
            raise newer_version_error(database)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        if since := max(getattr(step.module, "readable_since", "") for step in steps.values()):
            _record_readable_since(connection, since)

"""Checks whether this version of Tunnihind can read a database's tables, and creates or upgrades the tables."""

import logging
import re
from typing import Final

from sqlalchemy import Connection, inspect, text

from tunnihind.errors import SchemaError
from tunnihind.settings import COMMAND
from tunnihind.store.database import Database
from tunnihind.store.schema import metadata

_LOG: Final = logging.getLogger(__name__)

HEAD: Final = "0010"
"""The number of this version's newest migration. A new migration must have a higher number."""
_MIGRATION_NUMBER: Final = re.compile("[0-9]{4}")
VERSION_TABLE: Final = "alembic_version"
_MAX_NAMED_TABLES: Final = 3
"""An error names at most this many tables of another program."""
_OWN_TABLES: Final = frozenset({"covariates", "source_health"})
"""Every version of Tunnihind creates these tables, and hardly any other program does. The table `alembic_version`
proves less, because other programs use Alembic too."""


def current_migration(connection: Connection) -> str | None:
    """Return the number of the last migration that was applied.

    If the database has no tables, or only the table `alembic_version`, return None.

    Raises SchemaError if the tables belong to another program, or if the last migration can't be determined.
    """
    tables = set(inspect(connection).get_table_names())
    if not tables & _OWN_TABLES:
        if strangers := sorted(tables - {VERSION_TABLE}):
            raise SchemaError(
                f"the database holds tables of another program ({', '.join(strangers[:_MAX_NAMED_TABLES])}): "
                "name a database of Tunnihind with --database-url"
            )
        return None
    number = recorded_migration(connection)
    if number is None and not _has_all_columns(connection):
        raise SchemaError("the database's alembic_version is damaged: restore a backup")
    return number or HEAD


def recorded_migration(connection: Connection) -> str | None:
    """Return the number in the table `alembic_version`, or None if the table is missing or damaged."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = [row[0] for row in connection.execute(text("SELECT version_num FROM alembic_version"))]
    return found[0] if len(found) == 1 and _MIGRATION_NUMBER.fullmatch(str(found[0])) else None


def has_newest_migration(database: Database) -> bool:
    """Return whether the tables are those of the newest migration. Raises StoreError."""
    with database.reading() as connection:
        return current_migration(connection) == HEAD


def is_readable(connection: Connection) -> bool:
    """Return whether this version of Tunnihind can read the tables. Raises SchemaError as `current_migration` does.

    If the database has no tables, return False. This version can't read the tables of an older version before they are
    upgraded. This version can read the tables of a newer version if they have all columns of `schema`.
    """
    step = current_migration(connection)
    return step == HEAD or (step is not None and step > HEAD and _has_all_columns(connection))


def is_too_new(connection: Connection) -> bool:
    """Return whether only a newer version of Tunnihind can read the tables.

    Raises SchemaError as `current_migration` does.
    """
    step = current_migration(connection)
    return step is not None and step > HEAD and not _has_all_columns(connection)


def _has_all_columns(connection: Connection) -> bool:
    found = inspect(connection)
    tables = set(found.get_table_names())
    return all(
        name in tables and {column["name"] for column in found.get_columns(name)} >= {*table.c.keys()}
        for name, table in metadata.tables.items()
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


def upgrade(database: Database, migrations: str = "tunnihind.store:migrations") -> None:
    """Create or upgrade the tables in one transaction. Raises SchemaError, StoreError.

    `migrations` is a folder, or `package:folder` in Alembic's notation.
    """
    from alembic import command  # noqa: PLC0415  slow to load and rarely needed
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", migrations)
    with database.migrating() as connection:
        current_migration(connection)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise newer_version_error(database) from error  # it records a migration that this version doesn't know

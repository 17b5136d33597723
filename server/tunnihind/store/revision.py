"""Which step of `migrations` a database has reached.

Apart from `upgrade`, so that a start on an up-to-date database need not load Alembic.
"""

from typing import Final

from sqlalchemy import Connection, inspect, text

from tunnihind.errors import SchemaError
from tunnihind.store.database import Database

HEAD: Final = "0003"
"""The newest step; steps are numbered in their order."""


def current(connection: Connection) -> str | None:
    """Return the step a database has reached, None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return None if found is None else str(found)


def is_current(database: Database) -> bool:
    """Return whether the tables are today's. Raises StoreError."""
    with database.reading() as connection:
        return current(connection) == HEAD


def require_current(database: Database) -> None:
    """Make sure that the tables are today's without touching them. Raises SchemaError, StoreError."""
    with database.reading() as connection:
        found = current(connection)
    if found is not None and found > HEAD:
        raise newer(database)
    if found != HEAD:
        raise SchemaError(f"the tables of {database} are not this version's: start `tunnihind serve` once")


def newer(database: Database) -> SchemaError:
    """Return the error that a database from the future is refused with."""
    return SchemaError(
        f"the database {database} was written by a newer version of Tunnihind: update Tunnihind, "
        "or name another database with --database-url"
    )

"""Which step of `migrations` a database has reached, and how it comes to today's."""

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

HEAD: Final = "0001"
"""The newest step; steps are numbered in their order."""
_STEP: Final = re.compile("[0-9]{4}")
_NOTE: Final = "alembic_version"
_READABLE_SINCE: Final = "readable_since"
_NEVER: Final = "9999"
_NAMED: Final = 3
"""So many tables of another program are named."""
_TELLING: Final = frozenset({"covariates", "source_health"})
"""Tables of every version that hardly another program has; other programs have an `alembic_version` too."""


def current(connection: Connection) -> str | None:
    """Return the step a database has reached, None for an empty one. Raises SchemaError where that is unclear."""
    found = inspect(connection)
    tables = set(found.get_table_names())
    if not tables & _TELLING:
        if strangers := sorted(tables - {_NOTE}):
            raise SchemaError(
                f"the database holds tables of another program ({', '.join(strangers[:_NAMED])}): "
                "name one of Tunnihind's own with --database-url"
            )
        return None
    noted = _noted(connection)
    if len(noted) == 1 and isinstance(noted[0], str) and _STEP.fullmatch(noted[0]):
        return noted[0]
    # The note is missing or damaged, so the tables themselves decide.
    if all(name in tables and _columns(found, name) == {*table.c.keys()} for name, table in metadata.tables.items()):
        return HEAD
    raise SchemaError(f"the database's alembic_version is damaged: it holds {noted}, which is no version of its tables")


def is_current(database: Database) -> bool:
    """Return whether the tables are noted to be today's. Raises StoreError."""
    with database.reading() as connection:
        return is_noted_current(connection)


def is_noted_current(connection: Connection) -> bool:
    """Return whether the tables are noted to be today's."""
    return current(connection) == HEAD and _noted(connection) == [HEAD]


def note_current(connection: Connection) -> None:
    """Note within a transaction that the tables are today's."""
    connection.execute(text("DELETE FROM alembic_version"))
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:step)"), {"step": HEAD})


def _noted(connection: Connection) -> list[object]:
    if not inspect(connection).has_table(_NOTE):
        return []
    return [row[0] for row in connection.execute(text("SELECT version_num FROM alembic_version"))]


def _columns(found: Inspector, table: str) -> set[str]:
    return {column["name"] for column in found.get_columns(table)}


def is_readable(connection: Connection) -> bool:
    """Return whether this version reads the tables rightly: they are today's, or a newer version's that only has more.

    A step that gives what is there another meaning says so, because columns don't tell (`note_readable_since`).
    """
    step = current(connection)
    if step is None or step <= HEAD:
        return step == HEAD
    return _has_all_columns(connection) and _readable_since(connection) <= HEAD


def is_beyond(connection: Connection) -> bool:
    """Return whether the tables are a newer version's that this one can't read."""
    step = current(connection)
    return step is not None and step > HEAD and not is_readable(connection)


def note_readable_since(connection: Connection, step: str) -> None:
    """Note within a transaction that versions from before a step would misread what is there now."""
    connection.execute(delete(state).where(state.c.key == _READABLE_SINCE))
    connection.execute(insert(state).values(key=_READABLE_SINCE, value=json.dumps(step)))


def _readable_since(connection: Connection) -> str:
    """Return the first step whose version understands what is there; where that is damaged, one yet to come."""
    noted = connection.execute(select(state.c.value).where(state.c.key == _READABLE_SINCE)).scalar()
    if noted is None:
        return ""
    found = re.fullmatch('"([0-9]{4})"', str(noted))
    return found[1] if found else _NEVER


def _has_all_columns(connection: Connection) -> bool:
    found = inspect(connection)
    tables = set(found.get_table_names())
    return all(name in tables and _columns(found, name) >= {*table.c.keys()} for name, table in metadata.tables.items())


def require_readable(database: Database, *, newer_too: bool) -> None:
    """Make sure that this version can read the tables, without touching them. Raises SchemaError, StoreError.

    Those of a newer version are refused unless `newer_too`.
    """
    with database.reading() as connection:
        found, readable = current(connection), is_readable(connection)
    if found == HEAD:
        return
    if found is None:
        raise empty(database)
    if found > HEAD and not (readable and newer_too):
        raise newer(database)
    if not readable:
        raise SchemaError(f"the tables of {database} are not this version's: start `{COMMAND} serve` once")
    _LOG.warning("the database %s was upgraded by a newer version of Tunnihind; this one reads it on", database)


def upgraded(database: Database) -> SchemaError:
    """Return the error that a running server meets where a newer version has upgraded the tables past its reach."""
    return SchemaError(
        f"the database {database} was upgraded by a newer version of Tunnihind, which this one can't read: update it",
        reason="the database was upgraded by a newer version: update this server",
    )


def empty(database: Database) -> SchemaError:
    """Return the error that a reader meets where no server has made the tables yet."""
    return SchemaError(
        f"there are no tables in {database} yet: start `{COMMAND} serve` once",
        reason="the database has no tables yet",
        may_pass=True,
    )


def newer(database: Database) -> SchemaError:
    """Return the error that a database from the future is refused with."""
    return SchemaError(
        f"the database {database} was written by a newer version of Tunnihind: update Tunnihind, "
        "or name another database with --database-url"
    )


_MIGRATIONS: Final = "tunnihind.store:migrations"


def upgrade(database: Database, migrations: str = _MIGRATIONS) -> None:
    """Create or upgrade the tables, all steps in one transaction. Raises SchemaError, StoreError.

    `migrations` is the folder of the steps, or the package as Alembic names it. Versions from before a step's
    `readable_since`, where it has one, then stop using the database.
    """
    from alembic import command  # noqa: PLC0415  slow to load and rarely needed
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", migrations)
    steps = {step.revision: step for step in ScriptDirectory.from_config(config).walk_revisions()}
    with database.migrating() as connection:
        if migrations == _MIGRATIONS and is_noted_current(connection):
            return  # another process was quicker
        revision = current(connection)
        if revision is not None and revision not in steps:
            raise newer(database)
        if revision == HEAD and migrations == _MIGRATIONS:
            _LOG.warning("the row of alembic_version is damaged; the tables are today's, so it is written again")
            note_current(connection)
            return
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        if since := max(getattr(step.module, "readable_since", "") for step in steps.values()):
            note_readable_since(connection, since)

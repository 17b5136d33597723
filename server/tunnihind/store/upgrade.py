"""Brings a database to today's tables."""

import logging
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from tunnihind.store.database import Database
from tunnihind.store.revision import HEAD, current, is_noted_current, newer, note_current, note_readable_since

_LOG: Final = logging.getLogger(__name__)

_MIGRATIONS: Final = "tunnihind.store:migrations"


def upgrade(database: Database, migrations: str = _MIGRATIONS) -> None:
    """Create or upgrade the tables, all steps in one transaction. Raises SchemaError, StoreError.

    `migrations` is the folder of the steps, or the package as Alembic names it. Versions from before a step's
    `readable_since`, where it has one, then stop using the database.
    """
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

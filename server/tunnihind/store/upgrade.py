"""Brings a database to today's tables."""

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from tunnihind.errors import SchemaError
from tunnihind.store.database import Database
from tunnihind.store.revision import current


def upgrade(database: Database) -> None:
    """Create or upgrade the tables, all steps in one transaction. Raises SchemaError, StoreError."""
    config = Config()
    config.set_main_option("script_location", "tunnihind.store:migrations")
    steps = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    with database.writing() as connection:
        revision = current(connection)
        if revision is not None and revision not in steps:
            raise SchemaError(
                f"the database {database} was written by a newer version of Tunnihind: update Tunnihind, "
                "or name another database with --database-url"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

"""Alembic runs this module to apply the migrations through the connection that `revision.upgrade` has opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

"""The entry point for Alembic. It runs the steps on the connection that `upgrade` passes in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

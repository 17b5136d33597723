"""The entry point for Alembic. The steps run on the connection that `upgrade` passes in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

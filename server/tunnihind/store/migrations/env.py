"""Alembic's entry: runs the steps on the connection that `upgrade` hands over."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

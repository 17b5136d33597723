"""Adds the table of observations to databases that were made before it."""

from alembic import op

from tunnihind.store.schema import observations

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table, unless `0010` has created it in a new database."""
    observations.create(op.get_bind(), checkfirst=True)

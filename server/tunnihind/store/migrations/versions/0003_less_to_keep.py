"""Runs that repeat another, and series packed as short integers."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add runs.repeats and covariates.scale; rows from before have neither, and stay as they are."""
    op.add_column("runs", sa.Column("repeats", sa.Integer))
    op.add_column("covariates", sa.Column("scale", sa.Integer))

"""The kind of a source's last failure, which used to be read from its text."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add source_health.fault and .status. They are empty until the next failure."""
    op.add_column("source_health", sa.Column("fault", sa.Text))
    op.add_column("source_health", sa.Column("status", sa.Integer))

"""The zone of a run, and how long its periods last."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add runs.zone and runs.step_s; all runs from before are of Estonia's hours."""
    op.add_column("runs", sa.Column("zone", sa.Text, nullable=False, server_default="ee"))
    op.add_column("runs", sa.Column("step_s", sa.Integer, nullable=False, server_default="3600"))

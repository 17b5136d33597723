"""The price paths of the newest run."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the table of scenarios. It is empty until the next run."""
    op.create_table(
        "scenarios",
        sa.Column("made_at", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("start_ts", sa.BigInteger, nullable=False),
        sa.Column("paths", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("made_at", name="pk_scenarios"),
    )

"""How forecasts did, by the day of issue and the days ahead."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add day_scores, which is filled from all runs that are there when the next scores are made."""
    op.create_table(
        "day_scores",
        sa.Column("issued_on", sa.Date, nullable=False),
        sa.Column("days_ahead", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("figures", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("issued_on", "days_ahead", name="pk_day_scores"),
        sqlite_with_rowid=False,
    )

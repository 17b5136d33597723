"""The forecasts of past days that the model is scored by, kept from day to day."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create backtest_forecasts."""
    op.create_table(
        "backtest_forecasts",
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("issued_ts", sa.BigInteger, nullable=False),
        sa.Column("start_ts", sa.BigInteger, nullable=False),
        sa.Column("p10", sa.LargeBinary, nullable=False),
        sa.Column("p50", sa.LargeBinary, nullable=False),
        sa.Column("p90", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("model", "issued_ts", name="pk_backtest_forecasts"),
    )

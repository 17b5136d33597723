"""Percentiles packed as hundredths, compressed inputs, and forecasts of past quarters beside those of past hours."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add runs.scale and runs.packed_inputs, and step_s to the key of backtest_forecasts.

    Runs from before have neither, and stay as they are. The forecasts of past days are made again: that is so with
    every new version of the model.
    """
    op.add_column("runs", sa.Column("scale", sa.Integer))
    op.add_column("runs", sa.Column("packed_inputs", sa.LargeBinary))
    op.drop_table("backtest_forecasts")
    op.create_table(
        "backtest_forecasts",
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("issued_ts", sa.BigInteger, nullable=False),
        sa.Column("step_s", sa.Integer, nullable=False),
        sa.Column("start_ts", sa.BigInteger, nullable=False),
        sa.Column("p10", sa.LargeBinary, nullable=False),
        sa.Column("p50", sa.LargeBinary, nullable=False),
        sa.Column("p90", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("model", "issued_ts", "step_s", name="pk_backtest_forecasts"),
    )

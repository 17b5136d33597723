"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "prices",
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("ts", sa.BigInteger, nullable=False),
        sa.Column("step_s", sa.Integer, nullable=False),
        sa.Column("seen_ts", sa.BigInteger, nullable=False),
        sa.Column("known_ts", sa.BigInteger, nullable=False),
        sa.Column("eur_mwh", sa.Float(53), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("zone", "ts", "step_s", "seen_ts", name="pk_prices"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "witnesses",
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("prices", sa.Text, nullable=False),
        sa.Column("since_ts", sa.BigInteger, nullable=False),
        sa.Column("heard_ts", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("source", "zone", "day", name="pk_witnesses"),
    )
    op.create_table(
        "covariates",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("issued_ts", sa.BigInteger, nullable=False),
        sa.Column("start_ts", sa.BigInteger, nullable=False),
        sa.Column("run_ts", sa.BigInteger),
        sa.Column("scale", sa.Integer, nullable=False),
        sa.Column("series", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("name", "issued_ts", name="pk_covariates"),
    )
    op.create_index("ix_covariates_issued_ts", "covariates", ["issued_ts"])
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("step_s", sa.Integer, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("start_ts", sa.BigInteger, nullable=False),
        sa.Column("p10", sa.LargeBinary, nullable=False),
        sa.Column("p50", sa.LargeBinary, nullable=False),
        sa.Column("p90", sa.LargeBinary, nullable=False),
        sa.Column("repeats", sa.Integer),
        sa.Column("inputs", sa.LargeBinary),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_made_at", "runs", ["made_at"])
    op.create_table(
        "scenarios",
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("start_ts", sa.BigInteger, nullable=False),
        sa.Column("paths", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("zone", name="pk_scenarios"),
    )
    op.create_table(
        "backtest_forecasts",
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("issued_ts", sa.BigInteger, nullable=False),
        sa.Column("step_s", sa.Integer, nullable=False),
        sa.Column("start_ts", sa.BigInteger, nullable=False),
        sa.Column("p10", sa.LargeBinary, nullable=False),
        sa.Column("p50", sa.LargeBinary, nullable=False),
        sa.Column("p90", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("model", "zone", "issued_ts", "step_s", name="pk_backtest_forecasts"),
    )
    op.create_table(
        "day_scores",
        sa.Column("zone", sa.Text, nullable=False),
        sa.Column("issued_on", sa.Date, nullable=False),
        sa.Column("days_ahead", sa.Integer, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("figures", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("zone", "issued_on", "days_ahead", name="pk_day_scores"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "source_health",
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("tried_ts", sa.BigInteger, nullable=False),
        sa.Column("ok_ts", sa.BigInteger),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("fault", sa.Text),
        sa.Column("status", sa.Integer),
        sa.PrimaryKeyConstraint("source", name="pk_source_health"),
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("beat_ts", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )
    op.create_table(
        "state",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_state"),
    )

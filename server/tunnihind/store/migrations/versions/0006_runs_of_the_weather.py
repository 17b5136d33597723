"""Which run of a weather model a series comes from."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add covariates.run_ts, and note until when weather was issued whose run isn't known: it is of an older model.

    It stays until the runs of its days have come.
    """
    op.add_column("covariates", sa.Column("run_ts", sa.BigInteger))
    covariates = sa.table("covariates", sa.column("name", sa.Text), sa.column("issued_ts", sa.BigInteger))
    state = sa.table("state", sa.column("key", sa.Text), sa.column("value", sa.Text))
    newest = sa.select(sa.func.max(covariates.c.issued_ts)).where(covariates.c.name.like("%@%"))
    until = op.get_bind().execute(newest).scalar()
    if isinstance(until, int):
        op.execute(sa.insert(state).values(key="weather of an older model until", value=json.dumps(until)))

"""Creates the table of the months' records in databases of before."""

from alembic import op

from tunnihind.store.schema import accuracy_records

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table, unless step 0010 has just created it."""
    accuracy_records.create(op.get_bind(), checkfirst=True)

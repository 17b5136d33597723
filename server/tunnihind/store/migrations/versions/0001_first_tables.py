"""Makes the first tables. They are taken from `schema`. The first change after a release must write them out here."""

from alembic import op

from tunnihind.store.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())

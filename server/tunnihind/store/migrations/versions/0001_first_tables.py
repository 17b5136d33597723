"""The first tables: those of `schema`, written out here by the first step that changes them after a release."""

from alembic import op

from tunnihind.store.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())

"""Creates the first tables as `schema` describes them.

Before you change `schema` for the first time after a release, copy its tables into this module.
"""

from alembic import op

from tunnihind.store.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())

"""Creates the first tables as `schema` describes them.

Before the first change of `schema` after the first release, copy the tables of `schema` into this module.
"""

from alembic import op

from tunnihind.store.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())

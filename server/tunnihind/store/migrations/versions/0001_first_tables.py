"""Creates the first tables as `schema` describes them.

The first change after a release must write the tables out here.
"""

from alembic import op

from tunnihind.store.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())

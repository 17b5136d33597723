"""Creates the first tables as `schema` describes them.

After a release, the first change to `schema` must also write the earlier tables out in this module.
"""

from alembic import op

from tunnihind.store.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())

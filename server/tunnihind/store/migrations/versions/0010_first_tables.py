"""Creates the tables that `schema` describes.

After the first release, copy the tables of `schema` into this module before you change `schema`.
"""

from alembic import op

from tunnihind.store.schema import metadata

revision = "0010"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    metadata.create_all(op.get_bind())

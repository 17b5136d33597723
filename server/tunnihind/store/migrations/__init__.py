"""The way from any older database to today's tables, by Alembic."""

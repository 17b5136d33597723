"""Upgrades any older database to the newest tables, with Alembic."""

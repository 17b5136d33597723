"""Upgrades the tables of an older database to the newest tables, with Alembic."""

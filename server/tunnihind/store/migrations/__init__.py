"""Creates the tables of a new database and upgrades the tables of an older database, with Alembic."""

"""The migrations of the tables. Each module is one migration, and names the migration before it."""

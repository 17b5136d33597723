"""The migrations of the tables.

Each module is one migration. `down_revision` is the number of the migration before it, or None for the first migration.
"""

"""Connects the store to SQLite or PostgreSQL.

Only this package deals with the differences between SQLite and PostgreSQL.
"""

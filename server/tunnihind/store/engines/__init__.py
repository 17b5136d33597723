"""Connects the store to SQLite or PostgreSQL.

This package handles most differences between SQLite and PostgreSQL. `store/address.py` handles the differences between
their addresses.
"""

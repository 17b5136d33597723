"""Keeps all known data, and when they became known, in an SQL database."""

"""Databases, functions that fill them, and the pipeline from sources into a store."""

"""Databases, what fills them, and the pipeline from sources into a store."""

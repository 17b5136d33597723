"""Tunnihind: electricity prices of Estonia, Latvia, Lithuania and Finland, with a probabilistic forecast."""

__version__ = "1.0.0"

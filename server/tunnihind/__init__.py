"""Tunnihind: hourly electricity prices of the Estonian day-ahead zone, with a probabilistic forecast."""

__version__ = "0.1.0"

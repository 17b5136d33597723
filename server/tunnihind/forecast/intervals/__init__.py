"""Intervals around a point forecast, from its own past errors."""

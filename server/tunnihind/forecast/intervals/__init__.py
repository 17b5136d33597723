"""Intervals around a point forecast, computed from the model's past errors."""

"""Arranges the known data on a day grid: one row for each delivery day, one column for each clock hour."""

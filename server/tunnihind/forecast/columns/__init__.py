"""Computes the named columns from which a point model forecasts prices."""

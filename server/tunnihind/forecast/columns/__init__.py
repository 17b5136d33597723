"""The named columns that a point model reads."""

"""The columns that a point model reads, by name."""

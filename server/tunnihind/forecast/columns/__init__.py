"""The columns that a point model reads, each under its name."""

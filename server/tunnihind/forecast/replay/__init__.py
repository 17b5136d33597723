"""A point model taken through the past day by day, as if it had run all along."""

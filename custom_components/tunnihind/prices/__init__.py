"""The household's price of an hour: pure functions over plain values."""

"""An hour's price for the household: pure functions over plain values."""

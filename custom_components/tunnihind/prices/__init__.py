"""What an hour costs the household: pure functions over plain values."""

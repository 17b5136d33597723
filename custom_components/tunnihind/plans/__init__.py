"""When to run what can wait: pure functions over plain values."""

"""When to run a device that can wait: pure functions over plain values."""

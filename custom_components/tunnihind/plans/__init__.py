"""Pure functions that decide when a device runs."""

"""One module a step; each names the one before it."""

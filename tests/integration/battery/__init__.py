"""The plan of a home battery."""

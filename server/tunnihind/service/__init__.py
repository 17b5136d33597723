"""Runs the server, the pipeline or both, and checks the sources."""

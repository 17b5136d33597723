"""Runs the server, with or without the pipeline, and checks the sources."""

"""Runs the server, with or without the pipeline."""

"""The command line."""

from tunnihind.cli.main import main

__all__ = ["main"]

"""Requests to a server, and its known prices."""

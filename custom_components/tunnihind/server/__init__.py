"""Requests to a server, and the server's known prices."""

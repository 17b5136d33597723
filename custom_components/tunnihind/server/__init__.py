"""Talking to a server, and keeping what is known of its prices."""

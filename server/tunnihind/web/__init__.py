"""The server's web pages."""

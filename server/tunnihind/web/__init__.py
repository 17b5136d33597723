"""The server's web pages: the dashboard, the small view, the accuracy page and the API reference."""

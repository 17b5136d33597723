"""A server to ask for its pages."""

from tests.server.api.conftest import serve, server

__all__ = ["serve", "server"]

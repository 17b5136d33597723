"""Real Home Assistant beside a real server on the loopback."""

from tests.server.api.conftest import serve

__all__ = ["serve"]

"""What the tests of the pipeline share with those of the sources: a session, and retries that don't wait."""

from tests.server.sources.conftest import _no_backoff, session

__all__ = ["_no_backoff", "session"]

"""How many files and connections the process may have open."""

import sys
from typing import Final

from tunnihind.api.server import MOST_CONNECTIONS

MOST_DESCRIPTORS: Final = 65_536
_KEPT_FREE: Final = 256
"""For the database, the sources, the process of the model, and connections that come while others are being closed."""


def raise_limit() -> int:
    """Raise the limit of open descriptors as far as is allowed; return how many connections that leaves room for."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    import resource  # noqa: PLC0415  not on every platform

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    return connections_within(MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft)


def connections_within(descriptors: int) -> int:
    """Return how many of so many descriptors clients may take: all but some, and half of them where there are few."""
    return min(max(descriptors - _KEPT_FREE, descriptors // 2), MOST_CONNECTIONS)

"""How often a server is asked, and how often again where it failed."""

from typing import Final

POLL_S: Final = 60
# What is down for long is asked for ever less often, but often enough to be back soon after it is.
LONGEST_PAUSE_S: Final = 15 * 60


def pause_s(failures: int) -> int:
    """Return the pause after so many failures before this one: a minute, then twice as long each time."""
    return int(min(POLL_S * 2**failures, LONGEST_PAUSE_S))

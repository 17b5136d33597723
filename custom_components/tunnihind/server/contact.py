"""How it stands with a server: when it last answered, and what may be wrong with it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..prices.timeline import HOUR_S

# A server makes a new answer every hour. An older one comes from a cache in front of a dead server.
ANSWER_LIFE_S: Final = HOUR_S


class Problem(StrEnum):
    """Why the prices are not what they should be."""

    SERVER_UNREACHABLE = "server_unreachable"
    PRICES_LATE = "prices_late"
    FORECAST_STALE = "forecast_stale"
    FORECAST_MISSING = "forecast_missing"
    HISTORY_MISSING = "history_missing"
    QUARTERS_MISSING = "quarters_missing"
    SERVER_CLOCK = "server_clock"
    SERVER_IS_REHEARSAL = "server_is_rehearsal"
    REHEARSAL_OVER = "rehearsal_over"
    RATE_MISSING = "rate_missing"
    NO_PRICE = "no_price"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """When the server last answered, and how. Instants are UTC seconds by the entry's clock.

    `answered_at` is when the last answer came, 0 if none ever did; `answer_made_at` is when the server made it. The
    server's clock is `clock_ahead_s` ahead of the entry's. `are_quarters_missing` where the household is billed or paid
    by the quarter and the server has hours only. `wrong_mode` is the problem where a rehearsal answers in place of a
    live server, or the other way round.
    """

    answered_at: int
    answer_made_at: int
    clock_ahead_s: int
    is_history_missing: bool
    are_quarters_missing: bool
    wrong_mode: Problem | None

    def silence_s(self, now: int) -> int:
        """Return for how long nothing new has come from the server itself: a cache may still answer for it."""
        return now - min(self.answered_at, self.answer_made_at + ANSWER_LIFE_S)

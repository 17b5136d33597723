"""How the data sources last answered, as far as everybody may know it.

A source's own words stay in the log and in `tunnihind status`: they may name machines of the operator's network.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal, Self

from tunnihind.market import DAY_S
from tunnihind.store.health import SourceHealth

_WITH_TOKEN: Final = frozenset({"entsoe", "entsoe-forecasts"})

_NOT_ASKED_S: Final = DAY_S
"""A source that was last asked so long before another one was is no longer among the operator's settings."""

type Fault = Literal["unreachable", "token", "refused", "busy", "error", "answer"]
"""It can't be reached, refuses the token, refuses the server, limits requests, reports an error, or makes no sense."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """When a source last gave a usable answer (unix seconds), and why it hasn't since; `status` is that of HTTP."""

    name: str
    answered_ts: int | None
    fault: Fault | None
    status: int | None

    @classmethod
    def of(cls, health: SourceHealth) -> Self:
        """Read what the store knows of a source."""
        if not health.failures:
            return cls(health.source, health.ok_ts, None, None)
        found = re.match(r"[^:]*: HTTP (\d{3})\b", health.error)
        status = int(found[1]) if found else None
        return cls(health.source, health.ok_ts, _fault(health, status), status)


def source_states(sources: Iterable[SourceHealth]) -> tuple[SourceState, ...]:
    """Return the states of the sources that are being asked."""
    known = tuple(sources)
    newest = max((source.tried_ts for source in known), default=0)
    return tuple(SourceState.of(source) for source in known if source.tried_ts > newest - _NOT_ASKED_S)


def _fault(health: SourceHealth, status: int | None) -> Fault:
    """Tell what kind of failure the text of a SourceError is about."""
    match status:
        case None:
            problem = health.error.partition(": ")[2]
            return "unreachable" if problem.startswith(("no answer within", "the connection failed")) else "answer"
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return "token" if health.source in _WITH_TOKEN else "refused"
        case HTTPStatus.TOO_MANY_REQUESTS:
            return "busy"
        case _:
            return "error"

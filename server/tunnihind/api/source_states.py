"""How the data sources last answered, as far as everybody may know it.

A source's own words stay in the log and in `tunnihind status`: they may name machines of the operator's network.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, Self, cast, get_args

from tunnihind.errors import SourceFault
from tunnihind.store.health import SourceHealth

type Fault = SourceFault | Literal["unknown"]
"""Unknown is what an older version has noted, or one that is newer than this."""

_FAULTS: Final = frozenset(get_args(SourceFault.__value__))


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
        fault = cast("SourceFault", health.fault) if health.fault in _FAULTS else "unknown"
        return cls(health.source, health.ok_ts, fault, health.status)


def source_states(sources: Iterable[SourceHealth]) -> tuple[SourceState, ...]:
    """Return the states of sources."""
    return tuple(SourceState.of(source) for source in sources)

"""Reads from the store what only pages show: the weather, and how the sources last answered."""

from typing import Final, cast, get_args

from tunnihind.api.served_data import CLOCKS_DIFFER_S
from tunnihind.errors import SourceFault
from tunnihind.store.health import SourceHealth
from tunnihind.store.store import Store
from tunnihind.web.notices import SourceState
from tunnihind.web.weather import FRESH_S, SUN, WIND, BalticWeather

_FAULTS: Final = frozenset(get_args(SourceFault.__value__))


def read_weather(store: Store, now: int) -> BalticWeather | None:
    """Read the newest forecast of wind and sun; None where none is fresh. Raises StoreError."""
    made_until = now + CLOCKS_DIFFER_S
    return BalticWeather.of(store.covariates.newest((*WIND, *SUN), now - FRESH_S, made_until), made_until)


def read_sources(store: Store) -> tuple[SourceState, ...]:
    """Read how each source last answered. Raises StoreError."""
    return tuple(source_state(health) for health in store.health.all().values())


def source_state(health: SourceHealth) -> SourceState:
    """Return what everybody may know of a source's health."""
    if not health.failures:
        return SourceState(health.source, health.ok_ts, None, None)
    fault = cast("SourceFault", health.fault) if health.fault in _FAULTS else "unknown"
    return SourceState(health.source, health.ok_ts, fault, health.status)

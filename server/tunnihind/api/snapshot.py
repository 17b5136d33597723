"""The answers, made from the served data at most once a second, and only when somebody asks.

An answer depends on the data, on `now` and on nothing else. `now` counts in whole seconds, so a body made
for one second is right for all requests within it and never spans the top of an hour.
"""

from email.utils import formatdate
from typing import Final, Literal

import msgspec

from tunnihind import __version__
from tunnihind.api.answers import accuracy_response, forecast_response, series_response
from tunnihind.api.health import Troubles
from tunnihind.api.http import Coding, Representation, opaque_tag, represent
from tunnihind.api.served_data import ServedData
from tunnihind.clock import Clock
from tunnihind.errors import StoreError
from tunnihind.market import HOUR_S, floor_hour
from tunnihind.settings import Settings

_EDGE_CACHING_S: Final = 60

type _Resource = int | Literal["forecast", "accuracy"]
"""What is asked for; a number is the days of a series."""


def cache_control(now: int) -> str:
    """Return how long an answer made at `now` may be reused.

    It is fresh for at most a minute and may be served stale while a new one is fetched. Both together end
    exactly at the full UTC hour, when another hour becomes the current one; only `stale-if-error`, with the
    origin failing, passes it.
    """
    left = floor_hour(now) + HOUR_S - now
    fresh = min(_EDGE_CACHING_S, left)
    return f"public, max-age={fresh}, stale-while-revalidate={left - fresh}, stale-if-error=86400"


class Snapshot:
    """Holds the served data and the answers made of it. For the event loop's thread only."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self.troubles = Troubles()
        self._data: ServedData | None = None
        self._second = 0
        self._ready: dict[tuple[_Resource, Coding], Representation] = {}

    @property
    def data(self) -> ServedData:
        """The data that is served. Raises StoreError before there is any."""
        if self._data is None:
            raise StoreError("nothing has been read from the store yet")
        return self._data

    def show(self, data: ServedData) -> None:
        """Answer from these data from now on."""
        self._data = data
        self._ready.clear()

    def forecast(self, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/forecast`. Raises StoreError before there is data."""
        return self._current("forecast", coding)

    def series(self, days: int, coding: Coding) -> Representation:
        """Return the answer to `GET /api/series`, `days` being 2 to 14. Raises StoreError before there is data."""
        return self._current(days, coding)

    def accuracy(self, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/accuracy`. Raises StoreError before there is data."""
        return self._current("accuracy", coding)

    def _current(self, resource: _Resource, coding: Coding) -> Representation:
        second = int(self._clock.now())
        if second != self._second:
            self._second = second
            self._ready.clear()
        ready = self._ready.get((resource, coding))
        if ready is None:
            ready = self._ready[resource, coding] = self._make(resource, coding)
        return ready

    def _make(self, resource: _Resource, coding: Coding) -> Representation:
        return represent(
            self._body(resource),
            coding,
            tag=self._tag(resource),
            cache_control=cache_control(self._second),
            # The machine's time even when a past day is rehearsed: caches reckon with it.
            date=formatdate(usegmt=True),
        )

    def _body(self, resource: _Resource) -> bytes:
        plain = self._ready.get((resource, "identity"))
        if plain is not None:
            return plain.body
        match resource:
            case "forecast":
                return msgspec.json.encode(forecast_response(self.data, self._second, self._settings))
            case "accuracy":
                return msgspec.json.encode(accuracy_response(self.data, self._second))
            case days:
                return msgspec.json.encode(series_response(self.data, self._second, self._settings, days))

    def _tag(self, resource: _Resource) -> str:
        """Tag all that a body shows but `now` and a `freeUntil` that moves with it."""
        settings = self._settings
        hour = floor_hour(self._second)
        return opaque_tag(__version__, self.data.version, hour, resource, settings.vat_rate, settings.base_url)

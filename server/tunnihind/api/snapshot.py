"""The answers, made from the served data at most once a second, and only on request.

An answer depends only on the data and on `now`. `now` counts whole seconds, so a body made for one second is right for
all requests within it. A body never spans the start of an hour or a quarter.
"""

from collections.abc import Callable, Hashable, Mapping
from email.utils import formatdate
from functools import partial
from typing import Final

import msgspec

from tunnihind import __version__
from tunnihind.api.accuracy import accuracy_response
from tunnihind.api.answers import forecast_response, quarters_response, series_response
from tunnihind.api.feeds import Feed, FeedAnswer, feed_answer
from tunnihind.api.health import Troubles
from tunnihind.api.http.headers import Coding
from tunnihind.api.http.representation import Representation, opaque_tag, represent
from tunnihind.api.scenarios import scenarios_response
from tunnihind.api.served_data import ServedData
from tunnihind.clock import Clock
from tunnihind.errors import StoreError
from tunnihind.market import HOUR_S, QUARTER_S
from tunnihind.settings import Settings

_EDGE_CACHING_S: Final = 60

type Answer = Callable[[ServedData, int, Settings], object]
"""Returns the content to write as JSON, from the data at an instant."""


def cache_control(now: int, step_s: int = HOUR_S) -> str:
    """Return how long an answer made at `now` may be reused.

    It is fresh for at most a minute, and may be served stale while a new one is fetched. Both times together end
    exactly at the full UTC hour, when the current hour changes. For a step of 900 s they end at the full quarter. Only
    `stale-if-error`, for a failing origin, lasts longer.
    """
    left = step_s - now % step_s
    fresh = min(_EDGE_CACHING_S, left)
    return f"public, max-age={fresh}, stale-while-revalidate={left - fresh}, stale-if-error=86400"


class Snapshot:
    """Holds the served data of a market and the answers made from them. Use it only in the event loop's thread."""

    def __init__(self, settings: Settings, clock: Clock, troubles: Troubles | None = None) -> None:
        """Serve the market of the settings. Snapshots of several zones of one server share its `troubles`."""
        self.market = settings.market
        self.settings = settings
        self._clock = clock
        self.troubles = troubles or Troubles()
        self._data: ServedData | None = None
        self._second = 0
        self._bodies: dict[Hashable, tuple[bytes, Mapping[str, str]]] = {}
        self._ready: dict[tuple[Hashable, Coding], Representation] = {}
        self.made = 0
        """The number of answers that were made."""
        self.from_memory = 0
        """The number of answers that were given again from memory."""

    @property
    def data(self) -> ServedData:
        """The served data. Raises StoreError before there are any."""
        if self._data is None:
            raise StoreError("nothing has been read from the store yet")
        return self._data

    @property
    def has_data(self) -> bool:
        """Whether there are data to serve."""
        return self._data is not None

    @property
    def data_so_far(self) -> ServedData:
        """The served data, empty before there are any."""
        return self._data or ServedData("nothing", self.market)

    def show(self, data: ServedData) -> None:
        """Answer from these data from now on."""
        self._data = data
        self._forget()

    def forecast(self, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/forecast`. Raises StoreError before there is data."""
        return self._current("forecast", coding, forecast_response)

    def quarters(self, days: int, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/quarters`, `days` being 0 to 14. Raises StoreError before there is data."""
        return self._current(("quarters", days), coding, partial(quarters_response, days=days), step_s=QUARTER_S)

    def scenarios(self, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/scenarios`. Raises StoreError before there is data."""
        return self._current("scenarios", coding, scenarios_response)

    def series(self, days: int, coding: Coding) -> Representation:
        """Return the answer to `GET /api/series`, `days` being 2 to 14. Raises StoreError before there is data."""
        return self._current(days, coding, partial(series_response, days=days))

    def feed(self, feed: Feed, coding: Coding) -> Representation:
        """Return the answer to `GET /api/feeds/…`. Raises StoreError before there is data, NoPriceAhead."""
        return self._current(feed, coding, partial(feed_answer, feed=feed), step_s=feed.step_s)

    def accuracy(self, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/accuracy`. Raises StoreError before there is data."""
        return self._current("accuracy", coding, lambda data, now, _settings: accuracy_response(data, now))

    def _current(self, resource: Hashable, coding: Coding, answer: Answer, *, step_s: int = HOUR_S) -> Representation:
        """Return the answer for a resource, made for this second. The answer changes with each period of a step."""
        second = int(self._clock.now())
        if second != self._second:
            self._second = second
            self._forget()
        ready = self._ready.get((resource, coding))
        if ready is not None:
            self.from_memory += 1
        else:
            if resource not in self._bodies:
                made = answer(self.data, self._second, self.settings)
                content, fields = made if isinstance(made, FeedAnswer) else (made, {})
                self._bodies[resource] = msgspec.json.encode(content), fields
            body, fields = self._bodies[resource]
            ready = self._ready[resource, coding] = represent(
                body,
                coding,
                tag=self._tag(resource, step_s),
                cache_control=cache_control(self._second, step_s),
                # This is the machine's time even when a past day is rehearsed, because caches use it.
                date=formatdate(usegmt=True),
                more_fields=fields,
            )
            self.made += 1
        return ready

    def _forget(self) -> None:
        self._bodies.clear()
        self._ready.clear()

    def _tag(self, resource: Hashable, step_s: int) -> str:
        """Return a tag of everything that a body shows, except `now` and a `freeUntil` that moves with `now`."""
        settings = self.settings
        period = self._second - self._second % step_s
        return opaque_tag(
            __version__,
            self.data.version,
            self.data.change_id,
            period,
            resource,
            settings.api_vat_rates,
            settings.base_url,
            settings.full_horizon,
        )

"""Makes answers from the served data, on request.

An answer depends only on the request, the data, the settings and the current second. So the answer is used again until
the second ends or the data change.
"""

from collections.abc import Callable, Hashable, Mapping
from email.utils import formatdate
from functools import partial
from typing import Final

import msgspec

from tunnihind import __version__
from tunnihind.api.accuracy import accuracy_response
from tunnihind.api.answers import forecast_response, quarters_response, series_response
from tunnihind.api.feeds import FeedAnswer, FeedRequest, feed_answer
from tunnihind.api.health import Troubles
from tunnihind.api.http.headers import Coding
from tunnihind.api.http.representation import Representation, opaque_tag, represent
from tunnihind.api.scenarios import scenarios_response
from tunnihind.api.served_data import ServedData
from tunnihind.clock import Clock
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.errors import StoreError
from tunnihind.settings import Settings

_EDGE_CACHING_S: Final = 60

type AnswerMaker = Callable[[ServedData, int, Settings], object]
"""Makes the content of an answer, or for a feed a `FeedAnswer`, from the data, an instant in unix seconds, and the
settings."""


def cache_control(now: int, step_s: int = HOUR_S) -> str:
    """Return the Cache-Control field of an answer made at `now` (unix seconds).

    The answer is fresh for at most a minute. Until the current period of `step_s` seconds ends, a cache may serve the
    stale answer while it fetches a new answer. If the server fails, a cache may serve the stale answer for a day.
    """
    left = step_s - now % step_s
    fresh = min(_EDGE_CACHING_S, left)
    return f"public, max-age={fresh}, stale-while-revalidate={left - fresh}, stale-if-error=86400"


class Snapshot:
    """A market's served data, and the answers made from these data.

    Only the event loop's thread may call a snapshot's methods.
    """

    def __init__(self, settings: Settings, clock: Clock, troubles: Troubles | None = None) -> None:
        """Make a snapshot for the settings' market. A server's snapshots can share one `troubles` object."""
        self.market = settings.market
        self.settings = settings
        self._clock = clock
        self.troubles = troubles or Troubles()
        self._data: ServedData | None = None
        self._served: tuple[int, ServedData] | None = None
        self._second = 0
        self._bodies: dict[Hashable, tuple[bytes, Mapping[str, str]]] = {}
        self._representations: dict[tuple[Hashable, Coding], Representation] = {}
        self.answers_made = 0
        """The number of answers made so far. An answer in two content codings counts twice."""
        self.answers_reused = 0
        """The number of times that an answer was used again so far."""

    @property
    def data(self) -> ServedData:
        """The data that are served now. Raises StoreError if there are no data yet."""
        if self._data is None:
            raise StoreError("nothing has been read from the store yet")
        now = int(self._clock.now())
        if self._served is None or self._served[0] != now:
            self._served = now, self._data.as_of(now)
        return self._served[1]

    @property
    def has_data(self) -> bool:
        """True once `replace_data` has been called."""
        return self._data is not None

    @property
    def data_or_empty(self) -> ServedData:
        """The data that are served now. Before the store has been read, the data are empty."""
        return self.data if self.has_data else ServedData("nothing", self.market)

    def replace_data(self, data: ServedData) -> None:
        """Make all answers from `data` from now on."""
        self._data, self._served = data, None
        self._forget_answers()

    def forecast_answer(self, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/forecast`. Raises StoreError."""
        return self._current_representation("forecast", coding, forecast_response)

    def quarters_answer(self, days: int, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/quarters` with 0 to 14 `days` of history. Raises StoreError."""
        return self._current_representation(
            ("quarters", days), coding, partial(quarters_response, days=days), step_s=QUARTER_S
        )

    def scenarios_answer(self, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/scenarios`. Raises StoreError."""
        return self._current_representation("scenarios", coding, scenarios_response)

    def series_answer(self, days: int, coding: Coding) -> Representation:
        """Return the answer to `GET /api/series` with 2 to 14 `days` of history. Raises StoreError."""
        return self._current_representation(days, coding, partial(series_response, days=days))

    def feed_answer(self, feed: FeedRequest, coding: Coding) -> Representation:
        """Return the answer to `GET /api/feeds/…`. Raises StoreError, NoPriceAhead."""
        return self._current_representation(feed, coding, partial(feed_answer, feed=feed), step_s=feed.step_s)

    def accuracy_answer(self, coding: Coding) -> Representation:
        """Return the answer to `GET /api/v1/accuracy`. Raises StoreError."""
        return self._current_representation(
            "accuracy", coding, lambda data, now, _settings: accuracy_response(data, now)
        )

    def _current_representation(
        self, resource: Hashable, coding: Coding, answer: AnswerMaker, *, step_s: int = HOUR_S
    ) -> Representation:
        """Return a resource's answer for the current second, from memory or made by `answer`.

        Raises StoreError, and for a feed NoPriceAhead.
        """
        second = int(self._clock.now())
        if second != self._second:
            self._second = second
            self._forget_answers()
        ready = self._representations.get((resource, coding))
        if ready is not None:
            self.answers_reused += 1
        else:
            if resource not in self._bodies:
                made = answer(self.data, self._second, self.settings)
                content, fields = made if isinstance(made, FeedAnswer) else (made, {})
                self._bodies[resource] = msgspec.json.encode(content), fields
            body, fields = self._bodies[resource]
            ready = self._representations[resource, coding] = represent(
                body,
                coding,
                tag=self._entity_tag(resource, step_s),
                cache_control=cache_control(self._second, step_s),
                # Even in a rehearsal, Date is the machine's time, because caches compare this time with their clocks.
                date=formatdate(usegmt=True),
                more_fields=fields,
            )
            self.answers_made += 1
        return ready

    def _forget_answers(self) -> None:
        self._bodies.clear()
        self._representations.clear()

    def _entity_tag(self, resource: Hashable, step_s: int) -> str:
        """Return an entity tag that changes when the data change, and when a new period of `step_s` seconds begins.

        A new `last_refresh` alone does not change the tag.
        """
        settings = self.settings
        period = self._second - self._second % step_s
        return opaque_tag(
            __version__,
            self.data.version,
            self.data.change_id,
            self.data.made_at,
            period,
            resource,
            settings.api_vat_rates,
            settings.base_url,
            settings.full_horizon,
        )

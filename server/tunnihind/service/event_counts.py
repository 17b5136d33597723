"""Counts the pipeline's events in the metrics, and shows the progress of long work."""

import logging
from typing import Final, override

from tunnihind.api.metrics import Metrics
from tunnihind.pipeline.observer import Observer
from tunnihind.store.copying import ShowProgress

_LOG: Final = logging.getLogger(__name__)


def log_progress(what: str, done: int, total: int) -> None:
    """Whenever another tenth of the work named `what` is finished, log it, for servers and commands without a terminal.

    `done` of the `total` parts of the work are finished.
    """
    if done * 10 // total > (done - 1) * 10 // total:
        _LOG.info("%s: %d of %d done", what, done, total)


class ServerObserver(Observer):
    """Counts events in the server's metrics, and shows the back-fill's progress."""

    def __init__(self, metrics: Metrics, show: ShowProgress) -> None:
        self._metrics = metrics
        self._show = show

    @override
    def request_ended(self, source: str, *, answered: bool) -> None:
        self._metrics.source_outcomes.labels(source, "answered" if answered else "failed").inc()

    @override
    def day_held(self, source: str, reason: str) -> None:
        self._metrics.held_days.labels(source, reason).inc()

    @override
    def back_fill_progressed(self, what: str, done: int, total: int) -> None:
        self._show(f"filling in the history of {what}", done, total)

"""Counts the pipeline's events in the metrics, and shows the progress of long work."""

import logging
from typing import Final, Protocol, override

from tunnihind.api.metrics import Metrics
from tunnihind.pipeline.observer import Observer

_LOG: Final = logging.getLogger(__name__)


class Progress(Protocol):
    """Shows the progress of long work."""

    def show(self, what: str, done: int, total: int) -> None:
        """Show that `done` of the `total` parts of the work named `what` are finished."""


class LoggedProgress:
    """Logs the progress of long work, for servers and commands without a terminal."""

    def show(self, what: str, done: int, total: int) -> None:
        """Whenever another tenth of the work is finished, log `what`, `done` and `total`."""
        if done * 10 // total > (done - 1) * 10 // total:
            _LOG.info("%s: %d of %d done", what, done, total)


class ServerObserver(Observer):
    """Counts events in the server's metrics, and shows the back-fill's progress."""

    def __init__(self, metrics: Metrics, progress: Progress) -> None:
        self._metrics = metrics
        self._progress = progress

    @override
    def request_ended(self, source: str, *, answered: bool) -> None:
        self._metrics.source_outcomes.labels(source, "answered" if answered else "failed").inc()

    @override
    def day_held(self, source: str, reason: str) -> None:
        self._metrics.held_days.labels(source, reason).inc()

    @override
    def back_fill_progressed(self, what: str, done: int, total: int) -> None:
        self._progress.show(f"filling in the history of {what}", done, total)

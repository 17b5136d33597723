"""Shows the progress of long work, as a bar on a terminal and as log lines elsewhere."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.progress import Progress as Bar
from rich.progress import TaskID

from tunnihind.cli.logs import STDERR
from tunnihind.store.copying import ShowProgress

_LOG: Final = logging.getLogger(__name__)


class ProgressBars:
    """Progress bars, one for each named work that is not finished."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}

    def show(self, what: str, done: int, total: int) -> None:
        """Show a bar for the work named `what`, of which `done` of `total` parts are finished.

        When `done` reaches `total`, remove the bar.
        """
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=total)
        self._bar.update(self._tasks[what], completed=done, total=total)
        if done == total:
            self._bar.remove_task(self._tasks.pop(what))


def log_progress(what: str, done: int, total: int) -> None:
    """Whenever another tenth of the work named `what` is finished, log it, for servers and commands without a terminal.

    `done` of the `total` parts of the work are finished.
    """
    if done * 10 // total > (done - 1) * 10 // total:
        _LOG.info("%s: %d of %d done", what, done, total)


@contextmanager
def progress_display() -> Iterator[ShowProgress]:
    """Yield a function that shows progress as bars, or in the log if standard error is not a terminal."""
    if not STDERR.is_terminal:
        yield log_progress
        return
    with Bar(console=STDERR, transient=True) as bar:
        yield ProgressBars(bar).show

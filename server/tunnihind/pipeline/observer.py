"""The base class of the pipeline's observers, which count events or show progress."""


class Observer:
    """An observer that ignores all events of the pipeline. Methods of subclasses must not raise errors."""

    def request_ended(self, source: str, *, answered: bool) -> None:
        """Take note of a request to a source. `answered` is true if the source gave a usable answer."""

    def day_held(self, source: str, reason: str) -> None:
        """Take note that a source's prices of a delivery day are held back for a new reason."""

    def back_fill_progressed(self, what: str, done: int, total: int) -> None:
        """Take note that `done` of the `total` years, months or days of a history are filled.

        `what` is "prices", or the name of the covariate source whose history is filled. Years, months and days that the
        back-fill skips at present also count as filled.
        """

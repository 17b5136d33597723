"""The base class of the pipeline's observers, such as metrics or a progress bar."""


class Observer:
    """An observer that does nothing. At each event, the pipeline calls a method of its observer.

    A subclass overrides the methods that it needs. An override must not raise an error.
    """

    def source_asked(self, source: str, *, answered: bool) -> None:
        """Note whether a source gave a usable answer."""

    def day_held(self, source: str, reason: str) -> None:
        """Note that a source's prices of a delivery day have just been held back."""

    def history_filled(self, what: str, done: int, total: int) -> None:
        """Record that `done` of the `total` parts of a history are filled."""

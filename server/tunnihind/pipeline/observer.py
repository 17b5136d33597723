"""The base class of the pipeline's observers, such as metrics or a progress bar."""


class Observer:
    """Gets a call for each event of the pipeline, and ignores it. Subclasses use these calls. They must not raise."""

    def source_asked(self, source: str, *, answered: bool) -> None:
        """Note whether a source gave a usable answer."""

    def day_held(self, source: str, reason: str) -> None:
        """Note that a source's prices of a delivery day are newly held back."""

    def history_filled(self, what: str, done: int, total: int) -> None:
        """Note how many parts of a history are filled."""

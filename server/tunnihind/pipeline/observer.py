"""Who watches the pipeline at work: metrics, or a progress bar."""

from typing import Protocol


class Observer(Protocol):
    """Is told what happens; must not raise."""

    def source_asked(self, source: str, *, answered: bool) -> None:
        """Note whether a source gave a usable answer."""

    def gate_refused(self, source: str, reason: str) -> None:
        """Note that a delivery day was newly put into quarantine."""

    def history_filled(self, what: str, done: int, total: int) -> None:
        """Note how many chunks of a back-fill are done."""


class Nobody:
    """Looks away."""

    def source_asked(self, source: str, *, answered: bool) -> None:
        """Do nothing."""

    def gate_refused(self, source: str, reason: str) -> None:
        """Do nothing."""

    def history_filled(self, what: str, done: int, total: int) -> None:
        """Do nothing."""

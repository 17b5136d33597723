"""A plan's decision, and its stored form."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mashumaro.codecs import BasicDecoder

from .saving import Cost, Saving
from .solver import Piece
from .spans import Span


class Reason(StrEnum):
    """Why a plan has no window."""

    NO_PRICES = "no_prices"
    """Too few hours of the span have a known price."""
    TOO_LITTLE_TIME = "too_little_time"
    """The span, or the rest of it, is shorter than the plan."""
    ABOVE_CAP = "above_cap"
    """Enough hours are known, but too few of them, or none in a row, at or below the price cap."""
    BELOW_CAP = "below_cap"
    """Like `ABOVE_CAP`, for a plan that looks for high prices: too few hours are at or above its limit."""
    NOTHING_NEEDED = "nothing_needed"
    """The plan goes by energy and needs 0 kWh."""
    SWITCHED_OFF = "switched_off"
    """The plan is turned off by its switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The window that a plan has in one span.

    `pieces` are [start, end) in UTC seconds, in the order of time, within `span`, with gaps between them. `average` is
    the expected price of the window's hours, EUR/kWh, weighted by time. `saving` is the saving against starting at
    once. It is None if unknown, or if the plan does not look for the cheapest hours. `cost` is the expected cost of a
    plan by energy. It is None if unknown; any other plan has None. `forecast_share` (0 to 1) is the part of the
    window's time with predicted prices. A window that is shorter than the plan's duration is `shortened`.

    A window that has begun is `locked`: neither its pieces nor its figures change. There are two exceptions. A
    shortened window may get more pieces; then its saving is unknown. A plan by its price limit keeps only the pieces
    that have begun. `asked_s` is the duration that the plan asked for when it decided. `last_run` is the newest window
    that ran before this one.
    """

    pieces: tuple[Piece, ...]
    span: Span
    average: float
    saving: Saving | None
    cost: Cost | None = None
    forecast_share: float
    shortened: bool
    asked_s: int
    locked: bool = False
    last_run: Decision | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if there is no piece."""
        if not self.pieces:
            raise ValueError("a window has at least one piece")

    @property
    def start(self) -> int:
        """The start of the first piece."""
        return self.pieces[0][0]

    @property
    def end(self) -> int:
        """The end of the last piece."""
        return self.pieces[-1][1]

    def runs_at(self, instant: int) -> bool:
        """Return whether the plan runs at `instant`; between two pieces it doesn't."""
        return any(start <= instant < end for start, end in self.pieces)

    def started_by(self, instant: int) -> bool:
        """Return whether the first piece has begun at `instant`. From then on the window no longer moves."""
        return self.locked or self.start <= instant


@dataclass(frozen=True, slots=True)
class NoWindow:
    """The reason why a plan has no window. `last_run` is the newest window that ran.

    `rest` has the pieces of `last_run` that were still ahead when the plan was switched off.
    """

    reason: Reason
    last_run: Decision | None = None
    rest: tuple[Piece, ...] = ()


type Outcome = Decision | NoWindow

_DECODER: Final[BasicDecoder[Outcome]] = BasicDecoder(Decision | NoWindow)


def outcome_from_dict(kept: object) -> Outcome:
    """Rebuild the outcome from the result of `asdict`, even if stored as JSON.

    Raises ValueError if `kept` is no outcome.
    """
    return _DECODER.decode(kept)

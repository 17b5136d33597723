"""A plan's decision, and how it is kept over a restart."""

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
    """Not enough hours of the span are known yet."""
    TOO_LITTLE_TIME = "too_little_time"
    """The span, or what is left of it, is shorter than the plan."""
    ABOVE_CAP = "above_cap"
    """Enough hours are known, but too few of them, or none in a row, at or below the price cap."""
    BELOW_CAP = "below_cap"
    """The same for a plan that looks for high prices: too few are at or above its limit."""
    NOTHING_NEEDED = "nothing_needed"
    """The plan goes by energy, and needs none."""
    SWITCHED_OFF = "switched_off"
    """The plan is turned off by its switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The window of one occurrence.

    `pieces` are in the order of time, [start, end) in UTC seconds, never touching, all within `span`. `average` is the
    expected price of the window's hours, EUR/kWh, weighted by time. `saving` is against starting at once, None where
    that is not known and where the plan does not look for the cheapest hours. `cost` is the expected cost of a plan by
    energy, None for others and where that is not known. `forecast_share` (0 to 1) is the part of its time that rests on
    predicted prices. It is `shortened` where it is less than the plan's duration.

    Once it has begun it is `locked`: neither it nor its figures change. Two kinds of plan differ. A shortened window
    may get more pieces, and its saving is then not known. A plan by its price limit keeps only the pieces that have
    begun. `asked_s` is the duration that was asked for when it was decided, `last_run` the newest window that ran
    before it.
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
        """Raise ValueError where it has no piece."""
        if not self.pieces:
            raise ValueError("a window has at least one piece")

    @property
    def start(self) -> int:
        """When the first piece starts."""
        return self.pieces[0][0]

    @property
    def end(self) -> int:
        """When the last piece ends."""
        return self.pieces[-1][1]

    def runs_at(self, instant: int) -> bool:
        """Return whether the plan runs at `instant`; between two pieces it doesn't."""
        return any(start <= instant < end for start, end in self.pieces)

    def started_by(self, instant: int) -> bool:
        """Return whether the first piece has begun at `instant`, so that the window no longer moves."""
        return self.locked or self.start <= instant


@dataclass(frozen=True, slots=True)
class NoWindow:
    """A plan that has nothing to run, and why. `last_run` is the newest window that ran.

    `rest` are the pieces that were still to come of `last_run` when the plan was switched off.
    """

    reason: Reason
    last_run: Decision | None = None
    rest: tuple[Piece, ...] = ()


type Outcome = Decision | NoWindow

_DECODER: Final[BasicDecoder[Outcome]] = BasicDecoder(Decision | NoWindow)


def outcome_from_dict(kept: object) -> Outcome:
    """Undo `asdict`, also after JSON. Raises ValueError where `kept` is no outcome."""
    return _DECODER.decode(kept)

"""The decision about a plan: a window, or the reason why there is no window."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mashumaro.codecs import BasicDecoder

from .saving import Cost, Saving
from .solver import Piece
from .spans import Span


class NoWindowReason(StrEnum):
    """The reason why a plan has no window."""

    NO_PRICES = "no_prices"
    """The plan's shortest possible window needs more prices in a row that are known and that `horizon` allows.

    NO_PRICES is also the reason if the plan has no span for a window in the next 8 days.
    """
    TOO_LITTLE_TIME = "too_little_time"
    """What is left of each open time of the span is shorter than the plan's shortest possible window."""
    ABOVE_CAP = "above_cap"
    """The plan's shortest possible window needs more prices in a row at or below the price limit."""
    BELOW_CAP = "below_cap"
    """The shortest possible window of a plan for high prices needs more prices in a row at or above the price limit."""
    NOTHING_NEEDED = "nothing_needed"
    """The plan's device needs 0 kWh."""
    SWITCHED_OFF = "switched_off"
    """The plan's switch is off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The window that was chosen for a plan in one span.

    `pieces` are the pieces of the window in chronological order, each as [start, end) in UTC seconds. All pieces lie
    within `span`, with gaps between them. If the plan has no fixed duration, the last piece may run on after `span`.
    `average` is the time-weighted mean of the window's expected prices, in EUR/kWh. `saving` is the expected saving
    compared with starting the device at once, or at the start of `span` if that is later. `saving` is None if a price
    is unknown, or if the plan does not look for the cheapest hours. `cost` is the expected cost of the energy that the
    device uses in the window. `cost` is None if a price is unknown, or if the plan's settings don't say how much energy
    the device needs. `forecast_share` (0 to 1) is the fraction of the window's time for which prices are only
    predicted. `asked_s` is the length in seconds that the window should have, and `shortened` is true if the window is
    shorter.

    If the plan has an energy, `asked_kwh` is the energy that the device should use in the window, and `missing_kwh` is
    the part of this energy for which the window is too short. If a surplus of sun counts for the plan, all prices count
    with it (see the module `sun`), and `sun_kwh` is the part of the window's energy that it gives.

    `locked` is true once the window has begun. If the pieces of a locked window change, its saving becomes None. If the
    plan is switched off during a window, the window's saving and cost become None. If the plan has no fixed duration,
    new prices may end the running piece of a locked window and change the later pieces. A smaller need of a plan by
    energy doesn't end a piece before `kept_until` (UTC seconds): the end that the first piece had when the window
    began. `may_repeat` is true if the window is over and the plan chose its
    time again, so that another window may follow in the same span. `last_run` is the plan's previous window that ran,
    if there is one. In a locked window, `last_run` is None.
    """

    pieces: tuple[Piece, ...]
    span: Span
    average: float
    saving: Saving | None
    cost: Cost | None = None
    forecast_share: float
    shortened: bool
    asked_s: int
    asked_kwh: float | None = None
    missing_kwh: float | None = None
    sun_kwh: float | None = None
    locked: bool = False
    kept_until: int = 0
    may_repeat: bool = False
    last_run: Window | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if `pieces` is empty."""
        if not self.pieces:
            raise ValueError("a window has at least one piece")

    @property
    def start(self) -> int:
        """The start of the first piece in UTC seconds."""
        return self.pieces[0][0]

    @property
    def end(self) -> int:
        """The end of the last piece in UTC seconds."""
        return self.pieces[-1][1]

    def runs_at(self, instant: int) -> bool:
        """Return whether a piece of the window runs at `instant` (UTC seconds)."""
        return any(start <= instant < end for start, end in self.pieces)

    def has_started_by(self, instant: int) -> bool:
        """Return whether the window has begun by `instant` (UTC seconds).

        A locked window counts as begun, even if the clock was set back to a time before the window.
        """
        return self.locked or self.start <= instant


@dataclass(frozen=True, slots=True)
class NoWindow:
    """The decision that a plan has no window, with the reason.

    `last_run` is the plan's newest window that ran, if there is one. If a plan was switched off during a window, `rest`
    contains the remaining pieces of this window.
    """

    reason: NoWindowReason
    last_run: Window | None = None
    rest: tuple[Piece, ...] = ()


type Outcome = Window | NoWindow

_DECODER: Final[BasicDecoder[Outcome]] = BasicDecoder(Window | NoWindow)


def outcome_from_dict(kept: object) -> Outcome:
    """Rebuild an outcome from a dictionary that `asdict` made.

    Lists from JSON are accepted in place of tuples. Raises ValueError if `kept` can't be read as an outcome.
    """
    return _DECODER.decode(kept)

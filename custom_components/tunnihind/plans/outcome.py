"""What a plan decided, and how that is kept over a restart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

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

    `pieces` are in the order of time, [start, end) in UTC seconds, never touching, all within `span`. `average` is what
    the window's hours are expected to cost, EUR/kWh, weighted by time; `saving` is against starting at once, None where
    that is not known and where the plan does not look for the cheapest hours. `cost` is what a plan by energy is
    expected to pay, None for others and where that is not known. `forecast_share` (0 to 1) is the part of its time that
    rests on predicted prices. It is `shortened` where it is less than the plan's duration.

    Once it has begun it is `locked`: neither it nor its figures change, except that a shortened one may get more
    pieces; then its saving is not known. Of a plan that goes by its price limit only the pieces that have begun stay.
    `asked_s` is the duration that was asked for when it was decided, None if an older version stored it. `last_run` is
    the newest window that ran before it.
    """

    pieces: tuple[Piece, ...]
    span: Span
    average: float
    saving: Saving | None
    cost: Cost | None = None
    forecast_share: float
    shortened: bool
    asked_s: int | None = None
    locked: bool = False
    last_run: Decision | None = None

    @property
    def start(self) -> int:
        """When the first piece starts."""
        return self.pieces[0][0]

    @property
    def end(self) -> int:
        """When the last piece ends."""
        return self.pieces[-1][1]

    def runs_at(self, instant: int) -> bool:
        """Tell whether the plan runs at `instant`; between two pieces it doesn't."""
        return any(start <= instant < end for start, end in self.pieces)

    def started_by(self, instant: int) -> bool:
        """Tell whether the first piece has begun at `instant`, and so the window no longer moves."""
        return self.locked or self.start <= instant

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can keep it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Decision:
        """Undo `as_dict`, also after JSON. Raises ValueError where `kept` is nothing of the kind."""
        try:
            return _decision_from(kept)
        except (AttributeError, KeyError, TypeError, IndexError) as error:
            raise ValueError(f"this is no decision that was kept: {error!r}") from error


@dataclass(frozen=True, slots=True)
class NoWindow:
    """A plan that has nothing to run, and why. `last_run` is the newest window that ran.

    `rest` are the pieces that were still to come of `last_run` when the plan was switched off.
    """

    reason: Reason
    last_run: Decision | None = None
    rest: tuple[Piece, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can keep it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> NoWindow:
        """Undo `as_dict`, also after JSON. Raises ValueError where `kept` is nothing of the kind."""
        try:
            run = kept["last_run"]
            return cls(
                Reason(kept["reason"]),
                None if run is None else Decision.from_dict(run),
                _pieces_from(kept.get("rest", ())),
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"this is no reason that was kept: {error!r}") from error


type Outcome = Decision | NoWindow


def outcome_from_dict(kept: Mapping[str, Any]) -> Outcome:
    """Undo the `as_dict` of either. Raises ValueError where `kept` is nothing of the kind."""
    return NoWindow.from_dict(kept) if "reason" in kept else Decision.from_dict(kept)


def _decision_from(kept: Mapping[str, Any]) -> Decision:
    saving, cost, run = kept["saving"], kept.get("cost"), kept["last_run"]
    if not kept["pieces"]:
        raise ValueError("this is no decision that was kept: it has no piece")
    return Decision(
        pieces=_pieces_from(kept["pieces"]),
        span=Span(int(kept["span"]["opens"]), int(kept["span"]["closes"])),
        average=float(kept["average"]),
        saving=None if saving is None else Saving(**{name: float(saving[name]) for name in Saving.__slots__}),
        cost=None if cost is None else Cost(**{name: float(cost[name]) for name in Cost.__slots__}),
        forecast_share=float(kept["forecast_share"]),
        shortened=bool(kept["shortened"]),
        asked_s=kept.get("asked_s"),
        locked=bool(kept["locked"]),
        last_run=None if run is None else _decision_from(run),
    )


def _pieces_from(kept: Iterable[Sequence[float]]) -> tuple[Piece, ...]:
    return tuple((int(start), int(end)) for start, end in kept)

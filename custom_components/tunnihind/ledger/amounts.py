"""Sums of energy, cost and saving."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Final, Self

# A thousandth of a watt-hour, a ten-thousandth of a cent.
_DECIMALS: Final = 6
_FIGURES: Final = 4


@dataclass(frozen=True, slots=True)
class Amounts:
    """What some energy, kWh, cost and saved, EUR.

    `saved` is against starting at once, `below_mean` against the mean price of its day. Both are negative where it cost
    more.
    """

    kwh: float = 0.0
    cost: float = 0.0
    saved: float = 0.0
    below_mean: float = 0.0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def per_kwh(self) -> Amounts | None:
        """The same of one kWh; None of nothing."""
        if not self.kwh:
            return None
        return Amounts(1.0, self.cost / self.kwh, self.saved / self.kwh, self.below_mean / self.kwh)


NOTHING: Final = Amounts()


@dataclass(frozen=True, slots=True)
class Total:
    """The time that windows ran, and what was used in it.

    `even` is of a device of 1 kW, so that its kWh are hours: it is there also where no energy is known. `used` is of
    the device's own energy, which is not known of `unread_h` hours.
    """

    even: Amounts = field(default_factory=Amounts)
    used: Amounts = field(default_factory=Amounts)
    unread_h: float = 0.0

    def __add__(self, other: Total) -> Total:
        return Total(self.even + other.even, self.used + other.used, self.unread_h + other.unread_h)

    def as_list(self) -> list[float]:
        """Return it as JSON can keep it, in few characters."""
        figures = (*astuple(self.even), *astuple(self.used), self.unread_h)
        return [round(figure, _DECIMALS) or 0.0 for figure in figures]  # `or` turns -0.0 into 0.0

    @classmethod
    def from_list(cls, kept: Sequence[Any]) -> Self:
        """Undo `as_list`. Raises ValueError or TypeError where `kept` is nothing of the kind."""
        *figures, unread_h = (float(figure) for figure in kept)
        if len(figures) != 2 * _FIGURES:
            raise ValueError(f"expected {2 * _FIGURES + 1} figures, not {len(figures) + 1}")
        return cls(Amounts(*figures[:_FIGURES]), Amounts(*figures[_FIGURES:]), unread_h)

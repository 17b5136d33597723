"""The scale of colours, made from the last 30 days. All prices of a page and of Home Assistant's card use it."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final, Literal, get_args

from tunnihind.web.display import Display

type Tint = Literal["t0", "t1", "t2", "t3", "t4", "negative"]
"""From cheap to expensive; a price below zero has its own colour."""

_TINTS: Final[tuple[Tint, ...]] = get_args(Tint.__value__)
_FAR_EUR_MWH: Final = 1000.0


def as_shown(scale: Sequence[float], hours: Iterable[int], display: Display) -> tuple[float, ...]:
    """Convert market prices, EUR/MWh, to the reader's unit, on average over some hours.

    With fees that change by the hour, a market price gives different amounts in different hours.
    """
    starts = list(hours)
    if not starts:
        return ()
    least, most = (fmean(display.amount(eur_mwh, ts) for ts in starts) for eur_mwh in (0.0, _FAR_EUR_MWH))
    return tuple(round(least + (most - least) * bound / _FAR_EUR_MWH, 2) for bound in scale)


def tint(amount: float, scale: Sequence[float]) -> Tint:
    """Return the colour of a price; `scale` are the prices between the colours, in the same unit."""
    return "negative" if amount < 0 else _TINTS[bisect_right(scale, amount)]

"""Adds fees and VAT to the price scale, converts the scale to the reader's unit, and finds colours and words."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final, Literal, get_args

from tunnihind.core.levels import colour
from tunnihind.web.display import Display

type Tint = Literal["t0", "t1", "t2", "t3", "t4", "negative"]
"""A colour, from cheap (`t0`) to expensive (`t4`). Prices below zero have their own colour."""

type PriceWord = Tint | Literal["free"]
"""What a price is called: by its colour, or "nearly free"."""

_TINTS: Final[tuple[Tint, ...]] = get_args(Tint.__value__)
_REFERENCE_EUR_MWH: Final = 1000.0


def scale_in_unit(scale: Sequence[float], hours: Iterable[int], display: Display) -> tuple[float, ...]:
    """Add fees and VAT to the scale's market prices (EUR/MWh), and convert the result to the reader's unit.

    Fees and VAT may differ between hours, so each result is the mean over all `hours`, the starts of hours in unix
    seconds. If `hours` is empty, return an empty scale.
    """
    starts = list(hours)
    if not starts:
        return ()
    least, most = (fmean(display.shown_amount(eur_mwh, ts) for ts in starts) for eur_mwh in (0.0, _REFERENCE_EUR_MWH))
    return tuple(round(least + (most - least) * bound / _REFERENCE_EUR_MWH, 2) for bound in scale)


def tint(amount: float, scale: Sequence[float]) -> Tint:
    """Return the colour of a price. `scale` lists the prices at which the colour changes, in the unit of `amount`."""
    return _TINTS[colour(amount, scale)]


def price_word(amount: float, scale: Sequence[float], cent: float) -> PriceWord | None:
    """Return what a price is called. If the scale is empty, return None.

    `cent` is 1 c/kWh in the unit of `amount`. A price from zero to below 1 c/kWh is nearly free on any scale.
    """
    if not scale:
        return None
    return "free" if 0 <= amount < cent else tint(amount, scale)

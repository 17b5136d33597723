"""What a device's energy costs while the home's sun gives more than the home uses.

A kWh that the device takes from this surplus costs what it would have sold for, and any other its buying price. At the
power P of the device and the surplus S, both in kW, the price of a period is

    share x selling price + (1 - share) x buying price, where share = min(S, P) / P.

Prices of the same kind are mixed: a low price (p10) is the mean of the low selling price and the low buying price,
because both follow the same market price.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ..core.market import HOUR_S, floor_hour
from ..prices.timeline import Period, Timeline
from .saving import used_pieces
from .settings import PlanSettings
from .solver import Piece

# Mixed prices have as many decimals as the means of prices in a timeline.
_PRICE_DECIMALS: Final = 6
_ENERGY_DECIMALS: Final = 3


@dataclass(frozen=True, slots=True)
class Sun:
    """The home's surplus of sun, and the prices for which it would be sold.

    `surplus_kw` is what the sun gives beyond the home's usual use, by the start of the UTC hour. Hours without a
    surplus may be left out. `selling` is None if the home has no selling contract: then its surplus earns nothing.
    """

    surplus_kw: Mapping[int, float] = field(default_factory=dict)
    selling: Timeline | None = None


NO_SUN: Final = Sun()


def prices_with_sun(settings: PlanSettings, buying: Timeline, sun: Sun) -> Timeline:
    """Return the prices that count for a plan, of periods as long as the shorter ones of both prices.

    Without a surplus, these are the buying prices, and so they are for a plan for high prices or without a power. A
    period keeps its buying price if its selling price is unknown.
    """
    power_kw = _power_kw(settings)
    if power_kw is None:
        return buying
    shares = {hour: min(kw, power_kw) / power_kw for hour, kw in sun.surplus_kw.items() if kw > 0}
    if not any(floor_hour(period.start) in shares for period in buying.periods):
        return buying
    selling = _free(buying) if sun.selling is None else sun.selling
    step_s = min(buying.step_s, selling.step_s)
    sold = {period.start: period for period in selling.with_step(step_s).periods}
    return Timeline(
        step_s,
        (
            _mixed(period, sold[period.start], share)
            if (share := shares.get(floor_hour(period.start))) and period.start in sold
            else period
            for period in buying.with_step(step_s).periods
        ),
    )


def sun_kwh(settings: PlanSettings, pieces: Sequence[Piece], energy_kwh: float | None, sun: Sun) -> float | None:
    """Return the part of a window's energy that the surplus gives, or None if the sun doesn't count for the plan.

    While the window runs, the device is assumed to use its power until it has used `energy_kwh`.
    """
    if _power_kw(settings) is None or energy_kwh is None or not sun.surplus_kw:
        return None
    total = sum(_taken_kwh(settings, pieces, energy_kwh, sun).values())
    # The device's time is rounded up to whole seconds, and must not add energy.
    return round(min(total, energy_kwh), _ENERGY_DECIMALS)


def sun_left(sun: Sun, windows: Iterable[tuple[PlanSettings, Sequence[Piece], float | None]]) -> Sun:
    """Return the surplus that the windows of other plans leave, each given with its settings, pieces and energy."""
    for settings, pieces, energy_kwh in windows:
        taken = _taken_kwh(settings, pieces, energy_kwh, sun)
        if taken:
            left = {hour: kw - taken.get(hour, 0.0) for hour, kw in sun.surplus_kw.items()}
            sun = replace(sun, surplus_kw=left)
    return sun


def _taken_kwh(
    settings: PlanSettings, pieces: Sequence[Piece], energy_kwh: float | None, sun: Sun
) -> Mapping[int, float]:
    """Return what the device takes from the surplus, in kWh by the start of the UTC hour."""
    power_kw, taken = _power_kw(settings), defaultdict[int, float](float)
    if power_kw is None:
        return {}
    used = pieces if energy_kwh is None else used_pieces(pieces, energy_kwh=energy_kwh, power_kw=power_kw)
    for start, end in used:
        for hour in range(floor_hour(start), end, HOUR_S):
            if (kw := sun.surplus_kw.get(hour, 0.0)) > 0:
                taken[hour] += min(kw, power_kw) * (min(end, hour + HOUR_S) - max(start, hour)) / HOUR_S
    return taken


def _power_kw(settings: PlanSettings) -> float | None:
    """Return the device's power, or None if the sun doesn't count for the plan."""
    return None if settings.kind.looks_for_high_prices else settings.power_kw


def _free(buying: Timeline) -> Timeline:
    return Timeline(buying.step_s, (replace(period, price=0.0, low=0.0, high=0.0) for period in buying.periods))


def _mixed(bought: Period, sold: Period, share: float) -> Period:
    price, low, high = (
        round(share * for_sun + (1 - share) * for_grid, _PRICE_DECIMALS) + 0.0  # never -0.0
        for for_sun, for_grid in ((sold.price, bought.price), (sold.low, bought.low), (sold.high, bought.high))
    )
    return Period(bought.start, bought.end, price, low, high, settled=bought.settled and sold.settled)

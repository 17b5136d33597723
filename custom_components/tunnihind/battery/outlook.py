"""What a battery's plan knows of the time ahead: prices, the home's use and the sun's power."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.market import Market
from ..prices.timeline import Timeline
from .battery import Battery, Steps


@dataclass(frozen=True, slots=True)
class Outlook:
    """The time ahead of a plan.

    `end_worth` is the worth of a kWh stored at the end, in EUR, before the loss of discharging. `sun_known_until` (UTC
    seconds) is the end of the sun's forecast within the steps. After it, the usual sun stands in. If the forecast
    covers all steps, `sun_known_until` is None.
    """

    steps: Steps
    end_worth: float
    sun_known_until: int | None


def outlook(
    battery: Battery,
    buying: Timeline,
    selling: Timeline | None,
    now: int,
    *,
    load_kwh: Mapping[int, float],
    sun_kwh: Mapping[int, float],
    usual_sun_kwh: Mapping[int, float],
) -> Outlook | None:
    """Return the time ahead of `now` (UTC seconds), or None if the price or the load of the present hour is unknown.

    `selling` is None if the home has no selling contract: then its surplus earns nothing. The energies are in kWh by
    the start of the UTC hour. `sun_kwh` is the sun's forecast, and `usual_sun_kwh` stands in where the forecast has no
    value. A home without sun has neither. The steps are as long as the shorter periods of both prices, and the first
    step is the rest of the present period. The steps end where a price or the load is unknown.
    """
    raise NotImplementedError


def usual_load(past_kwh: Mapping[int, float], zone: Market, first: int, end: int) -> dict[int, float]:
    """Return the expected load in kWh of each hour from the hour of `first` to `end` (UTC seconds).

    `past_kwh` is the home's past load by the start of the UTC hour. The expected load is the mean of the same hour of
    the zone's clock on the same kind of day, working days or days off, in the four weeks before `first`. If such an
    hour is missing, both kinds of days count. Hours of which nothing is known are left out.
    """
    raise NotImplementedError


def usual_sun(past_kwh: Mapping[int, float], zone: Market, first: int, end: int) -> dict[int, float]:
    """Return the mean of the past two weeks' sun by hour of the day, for the hours from `first` to `end` (UTC seconds).

    `past_kwh` is the energy that the sun gave, by the start of the UTC hour. Hours of which nothing is known are left
    out.
    """
    raise NotImplementedError

"""What a battery's plan knows of the time ahead: prices, the home's use and the sun's power."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import Final

import numpy as np

from ..core.market import DAY_S, HOUR_S, WEEK_S, Market, floor_hour
from ..core.public_holidays import is_working_day
from ..plans.group import Room
from ..prices.timeline import Period, Timeline
from .battery import Battery, Steps

_LOAD_PAST_S: Final = 4 * WEEK_S
_SUN_PAST_S: Final = 2 * WEEK_S
_CHEAP_PART: Final = 0.4


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
    room: Room | None = None,
) -> Outlook | None:
    """Return the time ahead of `now` (UTC seconds), or None if the price or the load of the present hour is unknown.

    `selling` is None if the home has no selling contract: then its surplus earns nothing. The energies are in kWh by
    the start of the UTC hour. `sun_kwh` is the sun's forecast, and `usual_sun_kwh` stands in where the forecast has no
    value. A home without sun has neither. `room` is what the plans of devices leave. The steps are as long as the
    shorter periods of both prices, and the first step is the rest of the present period. The steps end where a price or
    the load is unknown.
    """
    step_s = min(timeline.step_s for timeline in (buying, selling) if timeline is not None)
    sun_until = max(sun_kwh, default=floor_hour(now) - HOUR_S) + HOUR_S
    sold_for = {} if selling is None else {period.start: period.price for period in _ahead(selling, step_s, now)}
    use_kwh = expected_use(load_kwh, sun_kwh, usual_sun_kwh)
    starts, rows = [], []
    end = now
    for period in _ahead(buying, step_s, now):
        use = use_kwh.get(floor_hour(period.start))
        sold = 0.0 if selling is None else sold_for.get(period.start)
        if period.start != end or use is None or sold is None:
            break
        rows.append((period.price, sold, use))
        end = period.end
        starts.append(period.start)
    if not rows:
        return None
    buying_prices, selling_prices, use_kw = np.array(rows).T
    steps = Steps(np.array(starts), end, buying_prices, selling_prices, use_kw)
    if room is not None:
        room_kw = np.array([room.least_kw(*times) for times in pairwise((*starts, end))])
        steps = replace(steps, room_kw=room_kw)
    has_sun = bool(sun_kwh or usual_sun_kwh)
    return Outlook(steps, end_worth(battery, steps), sun_until if has_sun and sun_until < end else None)


def end_worth(battery: Battery, steps: Steps) -> float:
    """Return the worth of a kWh stored at the end of the steps, in EUR: what it costs to store another.

    A kWh from the home's surplus costs its selling price, and any other its buying price. Of these costs, the 40th
    percentile was among the best of ten rules. With a forecast ahead, all rules save the same within .1 %. With only
    the published prices, they differ by up to 2 % for a big battery with sun.
    """
    price = np.where(steps.use_kw < 0, steps.selling, steps.buying)
    return max(float(np.quantile(price, _CHEAP_PART)), 0.0) / math.sqrt(battery.efficiency)


def _ahead(timeline: Timeline, step_s: int, now: int) -> Sequence[Period]:
    steps = timeline.with_step(step_s)
    return steps.within([(now, steps.known_until or now)]).periods


def expected_use(
    load_kwh: Mapping[int, float], sun_kwh: Mapping[int, float], usual_sun_kwh: Mapping[int, float]
) -> dict[int, float]:
    """Return what the home uses beyond its sun in each hour with a known load, in kWh. A surplus is negative.

    The arguments have the same meaning as those of `outlook`.
    """
    return {hour: load - sun_kwh.get(hour, usual_sun_kwh.get(hour, 0.0)) for hour, load in load_kwh.items()}


def usual_load(past_kwh: Mapping[int, float], zone: Market, first: int, end: int) -> dict[int, float]:
    """Return the expected load in kWh of each hour from the hour of `first` to `end` (UTC seconds).

    `past_kwh` is the home's past load by the start of the UTC hour. The expected load is the mean of the same hour of
    the zone's clock on the same kind of day, working days or days off, in the four weeks before `first`. If such an
    hour is missing, both kinds of days count. Hours of which nothing is known are left out.
    """

    def classes(hour: int) -> Iterator[tuple[int, bool | None]]:
        local = zone.local_time(hour)
        yield local.hour, is_working_day(local.date(), zone.country)
        yield local.hour, None

    return _means(past_kwh, classes, _LOAD_PAST_S, first, end)


def usual_sun(past_kwh: Mapping[int, float], first: int, end: int) -> dict[int, float]:
    """Return the expected sun in kWh of each hour from the hour of `first` to `end` (UTC seconds).

    `past_kwh` is the energy that the sun gave, by the start of the UTC hour. The expected energy is the mean of the
    same UTC hour in the two weeks before `first`, because the sun follows no clock. Hours of which nothing is known are
    left out.
    """
    return _means(past_kwh, lambda hour: (hour % DAY_S,), _SUN_PAST_S, first, end)


def _means[Class: Hashable](
    past_kwh: Mapping[int, float], classes: Callable[[int], Iterable[Class]], past_s: int, first: int, end: int
) -> dict[int, float]:
    """Return the mean of the past hours that share the first possible class with each hour ahead."""
    grouped: dict[Class, list[float]] = {}
    for hour, energy in past_kwh.items():
        if first - past_s <= hour < first:
            for name in classes(hour):
                grouped.setdefault(name, []).append(energy)
    means = {name: fmean(energies) for name, energies in grouped.items()}
    expected = {
        hour: next((means[name] for name in classes(hour) if name in means), None)
        for hour in range(floor_hour(first), end, HOUR_S)
    }
    return {hour: energy for hour, energy in expected.items() if energy is not None}

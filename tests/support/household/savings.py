"""Expected savings of plans, and their actual savings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S
from custom_components.tunnihind.core.network_clock import WEEKDAYS
from custom_components.tunnihind.plans.outcome import Window
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.saving import Saving, window_saving
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.solver import Piece, round_up_to_quarter
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.support.household.timelines import DAY_S

PUBLIC_H = 48
"""The number of hours in the public forecast after the newest settled hour."""
BINS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)

_BOUNDS: Sequence[dict[str, object]] = (
    {},
    {"deadline": "07:00:00"},
    {"deadline": "07:00:00", "days": 2},
    {"days": 3},
    {"earliest": "22:00:00", "deadline": "08:00:00"},
    {"earliest": "10:00:00"},
    {"deadline": "18:00:00", "days": 2},
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A window's expected saving and its actual saving, EUR/kWh, against starting `at_once`."""

    pieces: tuple[Piece, ...]
    at_once: int
    saving: Saving
    realised: float

    def on(self, prices: Timeline) -> float:
        """Return the saving at these prices, EUR/kWh. Raises ValueError if a price is missing."""
        saving = window_saving(prices, self.pieces, self.at_once)
        if saving is None:
            raise ValueError("an hour that the saving rests on has no price")
        return saving.expected

    @property
    def inside(self) -> bool:
        return self.saving.low <= self.realised <= self.saving.high


@dataclass(frozen=True, slots=True)
class Bin:
    """Savings with about the same expected chance: the mean chance, and the share of savings that came true."""

    count: int
    chance: float
    came: float


def judged(timeline: Timeline, truth: Timeline, now: int) -> Iterator[Judged]:
    """Yield all uncertain savings: of plans of many kinds, for today, tomorrow and the day after."""
    for plan in _plans(now):
        window = next_outcome(plan, timeline, now)
        if not isinstance(window, Window) or window.saving is None or window.saving.low == window.saving.high:
            continue
        at_once = round_up_to_quarter(max(now, window.span.opens))
        came = window_saving(truth, window.pieces, at_once)
        if came is not None:
            yield Judged(window.pieces, at_once, window.saving, came.expected)


def as_issued(settled: Mapping[int, float], bands: Mapping[int, tuple[float, float, float]], now: int) -> Timeline:
    """Return a server's answer at `now`: a day of settled hours, then the public hours of the forecast."""
    first = min(bands)
    return Timeline(
        HOUR_S,
        [
            *(_hour(start, settled[start]) for start in range(now // HOUR_S * HOUR_S, first, HOUR_S)),
            *(
                Period(start, start + HOUR_S, p50, p10, p90, settled=False)
                for start, (p10, p50, p90) in bands.items()
                if start < first + PUBLIC_H * HOUR_S
            ),
        ],
    )


def as_came(prices: Mapping[int, float]) -> Timeline:
    """Return the actual prices of the hours."""
    return Timeline(HOUR_S, (_hour(start, price) for start, price in prices.items()))


def as_on_path(known: Timeline, path: Mapping[int, float]) -> Timeline:
    """Return the prices of hours, EUR/kWh. Hours that aren't settled have the prices of a path."""
    return as_came({hour.start: hour.price if hour.settled else path[hour.start] for hour in known.periods})


def share_inside(savings: Iterable[Judged]) -> float:
    """Return the share of savings between their p10 and p90."""
    inside = [one.inside for one in savings]
    return sum(inside) / len(inside)


def reliability(savings: Sequence[Judged]) -> Iterator[Bin]:
    """Yield the bins of `BINS` that are not empty."""
    for low, high in pairwise(BINS):
        held = [one for one in savings if low <= one.saving.chance < high or one.saving.chance == high == BINS[-1]]
        if held:
            yield Bin(
                count=len(held),
                chance=sum(one.saving.chance for one in held) / len(held),
                came=sum(one.realised > 0 for one in held) / len(held),
            )


def _plans(now: int) -> Iterator[PlanSettings]:
    days = [WEEKDAYS[ESTONIA.local_time(now + later * DAY_S).weekday()] for later in range(3)]
    kinds = product((60, 180, 360), (False, True), ("expected", "cautious"), days, _BOUNDS)
    for duration, split, horizon, day, bounds in kinds:
        yield PlanSettings.from_mapping(
            {"duration": duration, "split": split, "horizon": horizon, "weekdays": [day], **bounds}
        )


def _hour(start: int, price: float) -> Period:
    return Period(start, start + HOUR_S, price, price, price, settled=True)

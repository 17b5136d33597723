"""A week of a house: two cars, a boiler, laundry in the sun, and a heat pump, as the plans' guide describes them.

The next day's prices are published at two in the afternoon. The days have a change of the clocks and a restart. What
the cars need is said when they come home.
"""

from dataclasses import dataclass, field
from datetime import date, time, timedelta
from itertools import pairwise
from typing import Any, Final

import pytest
from homeassistant.core import HomeAssistant

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from tests.integration.household.test_sun import put_roof_on
from tests.support.household.automations import restart
from tests.support.household.battery import forecast_sun
from tests.support.household.home import Home, MakeHome, instant
from tests.support.household.plan_days import noise
from tests.support.household.steering import call, window_of

pytestmark = [
    pytest.mark.usefixtures("recorder_mock"),
    pytest.mark.timeout(600),
]

FIRST: Final = date(2026, 10, 21)
DAYS: Final = 7
FUSE: Final = {"group": "fuse", "group_limit": 9}
"""The cars need more together."""
CALM_DAYS: Final = (3, 4)
"""The clocks go back on the last of these days."""
COMES_HOME: Final = time(17, 30)
SUNNY_HOURS: Final = (12, 13)
MORE_BELOW: Final = 3.0
PLANS: Final[dict[str, dict[str, Any]]] = {
    "laundry": {"energy": 4, "power": 2, "split": True, "min_piece": 60, "start_cost": 3, "earliest": "08:00:00"},
    "commuter": {
        "energy": 0,
        "energy_full": 0,
        "power": 7.4,
        "priority": 1,
        **FUSE,
        "split": True,
        "min_piece": 30,
        "deadline": "07:00:00",
        "horizon": "expected",
    },
    "camper": {
        "energy": 0,
        "energy_full": 0,
        "power": 3.7,
        **FUSE,
        "split": True,
        "min_piece": 30,
        "deadline": "07:00:00",
        "weekdays": ["mon"],
        "days": 7,
        "horizon": "expected",
    },
    "boiler": {"duration": 120, "split": True, "min_piece": 30, "max_pause": 720},
    "water tank": {"duration": 60, "min_piece": 30, "deadline": "06:30:00", "deadline_2": "18:00:00"},
    "floor": {"duration": 180, "split": True, "min_piece": 30, "more_below": MORE_BELOW},
    "heat pump": {"duration": 240, "earliest": "14:00:00", "deadline": "22:00:00"},
}
CAPACITY_KWH: Final = {"commuter": 60.0, "camper": 40.0}
NEEDED_KWH: Final = {"commuter": 40.0, "camper": 30.0}
"""What each car must have at its deadline."""
DRIVEN_KWH: Final = (18, 7, 25, 0, 12, 30, 5, 9)
"""What the commuter's car used on each day until it came home."""


def market(start: int) -> float:
    """A market by the hour with a wave a day and chance, EUR/MWh. Two days in the middle are calm and expensive."""
    local = ESTONIA.local_time(start)
    calm = 100 if (local.date() - FIRST).days in CALM_DAYS else 0
    return round(60 + 45 * (1 - abs(local.hour - 17) / 8.5) + 60 * (noise(start) - 0.5) + calm, 2)


def by_quarter(start: int) -> float:
    """The same market by the quarter, with the hour's price as the mean of its quarters."""
    return round(market(start - start % HOUR_S) + (-6, 9, 2, -5)[start % HOUR_S // QUARTER_S], 2)


@dataclass
class Diary:
    """What was seen at each quarter of an hour."""

    running: dict[str, list[int]] = field(default_factory=lambda: {plan: [] for plan in PLANS})
    heat_pump_starts: set[int] = field(default_factory=set)
    announced: set[int] = field(default_factory=set)
    """The starts that were last said of the heat pump's next windows."""
    stored: dict[str, dict[int, float]] = field(default_factory=lambda: {car: {} for car in CAPACITY_KWH})
    prices: dict[int, float] = field(default_factory=dict)
    is_above_usual: dict[int, bool] = field(default_factory=dict)


class Week:
    """The house and its cars."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.diary = Diary()
        self.stored = {"commuter": 35.0, "camper": 12.0}
        self.said: dict[str, tuple[float, float]] = {}
        self.has_restarted = False

    async def live(self) -> None:
        """Let the days pass, quarter by quarter."""
        home = self.home
        end = ESTONIA.instant(FIRST + timedelta(days=DAYS), time.min)
        for start in range(home.now, end, QUARTER_S):
            await home.at(start)
            day, clock = (ESTONIA.local_time(start).date() - FIRST).days, ESTONIA.local_time(start).time()
            if clock == time(14):
                await home.publish(ESTONIA.instant(FIRST + timedelta(days=day + 2), time(1)))
            elif clock.minute == 0:
                await home.poll()
            if clock == COMES_HOME:
                self.stored["commuter"] -= DRIVEN_KWH[day]
            for car in CAPACITY_KWH:
                await self.say_needs(car)
            if day == 3 and not self.has_restarted and home.is_on("window", "boiler"):
                self.has_restarted = True
                await restart(home)
            self.note()
            self.charge()

    async def say_needs(self, car: str) -> None:
        need = max(NEEDED_KWH[car] - self.stored[car], 0)
        full = CAPACITY_KWH[car] - self.stored[car]
        if (need, full) == self.said.get(car):
            return
        self.said[car] = need, full
        await call(
            self.home,
            "tunnihind.update_plan",
            entity_id=window_of(self.home, car),
            energy=round(need, 2),
            energy_full=round(full, 2),
        )

    def charge(self) -> None:
        """Charge the cars whose plans run, for a quarter of an hour."""
        for car, capacity in CAPACITY_KWH.items():
            if self.home.is_on("window", car):
                kwh = min(PLANS[car]["power"] * QUARTER_S / HOUR_S, capacity - self.stored[car])
                self.stored[car] += kwh

    def note(self) -> None:
        """Note all present states."""
        home, diary, now = self.home, self.diary, self.home.now
        coordinator = home.entry.runtime_data
        usual = coordinator.ledger.usual_price(coordinator.prices.timeline, now)
        diary.prices[now] = float(home.value("current_price"))
        diary.is_above_usual[now] = usual is None or diary.prices[now] > usual
        for car, stored in self.stored.items():
            diary.stored[car][now] = stored
        for plan in PLANS:
            if home.is_on("window", plan):
                diary.running[plan].append(now)
        pieces = home.state("binary_sensor", "window", "heat pump").attributes.get("pieces", [])
        if home.is_on("window", "heat pump"):
            diary.heat_pump_starts.add(instant(pieces[0]["start"]))
        following = coordinator.planner.next_window("heat pump", coordinator.prices.timeline)
        if following is not None and instant(pieces[-1]["end"]) == now + QUARTER_S:
            diary.announced.add(following.start)


async def test_a_week_of_a_house(hass: HomeAssistant, make_home: MakeHome) -> None:
    begins, published_until = ESTONIA.instant(FIRST, time(10)), ESTONIA.instant(FIRST + timedelta(days=1), time(1))
    home = await make_home(
        ESTONIA.local_time(begins).isoformat(), ESTONIA.local_time(published_until).isoformat(), price_of=market
    )
    home.known_for_s = 8 * 24 * HOUR_S
    home.forecast_of = lambda start: market(start) + 30 * (noise(7 * start) - 0.5)
    home.serve_quarters(by_quarter)
    await put_roof_on(home)
    days = [FIRST + timedelta(days=day) for day in range(DAYS + 1)]
    forecast_sun(hass, {ESTONIA.instant(day, time(hour)): 3_000 for day in days for hour in SUNNY_HOURS})
    entry = await home.add(plans=PLANS, options={"billed_by": "quarter"})
    # One poll an hour is enough here, because most polls of a week would bring nothing new.
    hass.config_entries.async_update_entry(entry, pref_disable_polling=True)
    await hass.config_entries.async_reload(entry.entry_id)
    await home.settle()
    week = Week(home)
    await week.live()
    assert week.has_restarted

    _cars_had_what_they_needed(week.diary)
    _cars_were_filled_only_at_usual_prices(week.diary)
    _water_was_never_cold(week.diary)
    assert not {*week.diary.running["commuter"]} & {*week.diary.running["camper"]}
    _water_is_hot_twice_a_day(week.diary)
    _the_floor_took_all_cheap_hours(week.diary)
    assert all(map(_has_sun, week.diary.running["laundry"]))
    _each_day_has(week.diary.running["laundry"], 2 * HOUR_S)
    announced = {at for at in week.diary.announced if at < home.now}
    assert announced
    assert announced <= week.diary.heat_pump_starts


def _has_sun(at: int) -> bool:
    return ESTONIA.local_time(at).hour in SUNNY_HOURS


def _cars_had_what_they_needed(diary: Diary) -> None:
    deadlines: dict[str, list[int]] = {car: [] for car in CAPACITY_KWH}
    for day in range(1, DAYS):
        morning = FIRST + timedelta(days=day)
        deadlines["commuter"].append(ESTONIA.instant(morning, time(7)))
        if morning.weekday() == 0:
            deadlines["camper"].append(ESTONIA.instant(morning, time(7)))
    for car, instants in deadlines.items():
        assert instants
        assert all(diary.stored[car][at] >= NEEDED_KWH[car] - 0.01 for at in instants), car


def _cars_were_filled_only_at_usual_prices(diary: Diary) -> None:
    for car, needed in NEEDED_KWH.items():
        # The need may end within a quarter of an hour.
        quarter_kwh = PLANS[car]["power"] * QUARTER_S / HOUR_S
        dear = [at for at in diary.running[car] if diary.is_above_usual[at] and not _has_sun(at)]
        assert all(diary.stored[car][at] < needed + quarter_kwh for at in dear), car
        assert max(diary.stored[car].values()) == CAPACITY_KWH[car]
    mornings = [ESTONIA.instant(FIRST + timedelta(days=day), time(7)) for day in CALM_DAYS]
    assert all(diary.stored["commuter"][at] < CAPACITY_KWH["commuter"] for at in mornings)


def _water_was_never_cold(diary: Diary) -> None:
    heated = diary.running["boiler"]
    assert all(
        later - (earlier + QUARTER_S) <= PLANS["boiler"]["max_pause"] * 60 for earlier, later in pairwise(heated)
    )
    _each_day_has(heated, PLANS["boiler"]["duration"] * 60)


def _water_is_hot_twice_a_day(diary: Diary) -> None:
    deadlines = [
        ESTONIA.instant(FIRST + timedelta(days=day), wall) for day in range(DAYS) for wall in (time(6, 30), time(18))
    ]
    for opens, closes in pairwise(deadlines[1:]):
        assert sum(QUARTER_S for at in diary.running["water tank"] if opens <= at < closes) == HOUR_S, closes


def _the_floor_took_all_cheap_hours(diary: Diary) -> None:
    heated = {*diary.running["floor"]}
    for day in range(1, DAYS):
        first, end = (ESTONIA.instant(FIRST + timedelta(days=day + later), time.min) for later in range(2))
        assert sum(first <= at < end for at in heated) * QUARTER_S >= PLANS["floor"]["duration"] * 60, day
        for hour in range(first, end, HOUR_S):
            quarters = range(hour, hour + HOUR_S, QUARTER_S)
            is_cheap = all(diary.prices[at] * 100 <= MORE_BELOW for at in quarters)
            assert not is_cheap or heated.issuperset(quarters), hour


def _each_day_has(running: list[int], seconds: int) -> None:
    for day in range(1, DAYS):
        midnights = [ESTONIA.instant(FIRST + timedelta(days=day + later), time.min) for later in range(2)]
        assert sum(QUARTER_S for at in running if midnights[0] <= at < midnights[1]) == seconds, day

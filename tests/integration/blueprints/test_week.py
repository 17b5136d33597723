"""A week of a household with plans of every kind, and blueprints that switch its devices.

The prices of the next day are published at two in the afternoon. Once the server is lost over a publication and most of
an evening, and once the integration restarts within a window. The weeks have a change of the clocks in them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Any, Final

import pytest
from aiohttp import web
from homeassistant.core import HomeAssistant

from custom_components.tunnihind.core.market import ESTONIA
from tests.support.household.automations import Run, automate, restart
from tests.support.household.blueprints import automation_of, window_of
from tests.support.household.home import Home, MakeHome, PriceOf
from tests.support.household.plan_days import noise
from tunnihind.core.market import HOUR_S, QUARTER_S

DAYS: Final = 8
"""The days in the calendar. The week begins on the first day's morning and ends on the last day's afternoon."""
LIMIT: Final = 10.0
"""The limit of the plans by price, c/kWh."""
PLANS: Final[dict[str, dict[str, Any]]] = {
    "boiler": {"duration": 180, "split": True, "min_piece": 30, "earliest": "22:00:00", "deadline": "07:00:00"},
    "car": {
        "energy": 10,
        "power": 3.7,
        "split": True,
        "min_piece": 30,
        "max_starts": 3,
        "earliest": "18:00:00",
        "deadline": "07:00:00",
        "horizon": "expected",
    },
    "dishwasher": {
        "duration": 120,
        "split": False,
        "tolerance": 1,
        "prefer": "latest",
        "earliest": "19:00:00",
        "deadline": "06:00:00",
    },
    "floor": {"kind": "dearest", "duration": 240, "split": True, "min_piece": 60},
    "pool": {"kind": "below", "price_cap": LIMIT},
    "sauna": {"kind": "above", "price_cap": LIMIT},
}
DEVICES: Final = {plan: f"input_boolean.{plan}" for plan in ("boiler", "car", "floor")}
CHARGE: Final = "sensor.car_charge"
CAPACITY_KWH: Final = 60
ENOUGH_PERCENT: Final = 80
LOSSES_PERCENT: Final = 10


def hourly(start: int) -> float:
    """A market with a wave a day and chance, EUR/MWh."""
    hour = ESTONIA.local_time(start).hour
    return round(70 + 45 * (1 - abs(hour - 17) / 8.5) + 90 * (noise(start) - 0.5), 2)


def quarterly(start: int) -> float:
    """The same market by the quarter, with the hour's price as the mean of its quarters."""
    return round(hourly(start - start % HOUR_S) + (-6, 9, 2, -5)[start % HOUR_S // QUARTER_S], 2)


@dataclass
class Diary:
    """The states at each quarter of an hour."""

    running: dict[str, dict[int, bool]] = field(default_factory=lambda: {plan: {} for plan in PLANS})
    switched_on: dict[str, dict[int, bool]] = field(default_factory=lambda: {plan: {} for plan in DEVICES})
    starts: dict[str, set[int]] = field(default_factory=lambda: {plan: set() for plan in PLANS})
    prices: dict[int, float] = field(default_factory=dict)
    charges: dict[int, float] = field(default_factory=dict)

    def note(self, home: Home, charge: float) -> None:
        """Note all present states."""
        now = home.now
        for plan in PLANS:
            window = home.state("binary_sensor", "window", plan)
            self.running[plan][now] = window.state == "on"
            if window.state == "on":
                self.starts[plan].add(_start_of_piece(window.attributes["pieces"], now))
        for plan, device in DEVICES.items():
            self.switched_on[plan][now] = home.hass.states.is_state(device, "on")
        self.prices[now] = float(home.value("current_price"))
        self.charges[now] = charge

    def seconds(self, on: dict[int, bool], start: int, end: int) -> int:
        """Return for how long it was on in [start, end)."""
        return sum(QUARTER_S for at, is_on in on.items() if is_on and start <= at < end)

    def ends(self, plan: str) -> list[int]:
        """Return the times at which the plan stopped running."""
        seen = self.running[plan]
        return [after for before, after in pairwise(sorted(seen)) if seen[before] and not seen[after]]


def _start_of_piece(pieces: list[dict[str, str]], now: int) -> int:
    bounds = [[int(datetime.fromisoformat(piece[end]).timestamp()) for end in ("start", "end")] for piece in pieces]
    [start] = [start for start, end in bounds if start <= now < end]
    return start


class Week:
    """The household and its car."""

    def __init__(self, home: Home, first: date) -> None:
        self.home = home
        self.first = first
        self.diary = Diary()
        self.percent = float(ENOUGH_PERCENT)
        self.has_restarted = False

    async def live(self) -> None:
        """Let the week pass, quarter by quarter."""
        home, port = self.home, self.home.server.port
        end = ESTONIA.instant(self.first + timedelta(days=DAYS - 1), time(17))
        for start in range(home.now + QUARTER_S, end, QUARTER_S):
            self.charge()
            await home.at(start)
            day, clock = (ESTONIA.local_time(start).date() - self.first).days, ESTONIA.local_time(start).time()
            if clock == time(14):
                await home.publish(self.published_until(day + 1))
            elif clock.minute == 0:
                await home.poll()
            if clock == time(17, 30):
                self.percent = 50.0 + 4 * day
            if (day, clock) == (2, time(12)):
                await home.server.runner.cleanup()
            if (day, clock) == (2, time(23)):
                await home.server.runner.setup()
                await web.TCPSite(home.server.runner, "127.0.0.1", port).start()
                await home.poll()
            if day == 4 and not self.has_restarted and home.is_on("window", "boiler"):
                self.has_restarted = True
                await restart(home)
            await self.tell_charge()
            self.diary.note(home, self.percent)

    def charge(self) -> None:
        """Add the charger's energy of a quarter of an hour to the car."""
        if self.home.hass.states.is_state(DEVICES["car"], "on"):
            energy = PLANS["car"]["power"] * QUARTER_S / HOUR_S * (1 - LOSSES_PERCENT / 100)
            self.percent = min(100.0, self.percent + energy / CAPACITY_KWH * 100)

    async def tell_charge(self) -> None:
        self.home.hass.states.async_set(CHARGE, f"{self.percent:.2f}")
        await self.home.settle()

    def midnight(self, days_later: int) -> int:
        return ESTONIA.instant(self.first + timedelta(days=days_later), time.min)

    def published_until(self, days_later: int) -> int:
        """Return the end of the market's day: an hour after midnight of the day after."""
        return ESTONIA.instant(self.first + timedelta(days=days_later + 1), time(1))

    def nights(self, plan: str) -> Iterator[tuple[int, int]]:
        """Yield the span of a plan with both bounds, for each whole night of the week."""
        earliest, deadline = (time.fromisoformat(PLANS[plan][bound]) for bound in ("earliest", "deadline"))
        for day in range(DAYS - 1):
            evening, morning = (self.first + timedelta(days=later) for later in (day, day + 1))
            yield ESTONIA.instant(evening, earliest), ESTONIA.instant(morning, deadline)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("billed_by", "first"),
    [("hour", date(2026, 3, 25)), ("quarter", date(2026, 10, 21))],
    ids=["by the hour, in spring", "by the quarter, in autumn"],
)
async def test_a_week_by_plans(hass: HomeAssistant, make_home: MakeHome, billed_by: str, first: date) -> None:
    begins, published_until = ESTONIA.instant(first, time(10)), ESTONIA.instant(first + timedelta(days=1), time(1))
    home = await make_home(
        ESTONIA.local_time(begins).isoformat(), ESTONIA.local_time(published_until).isoformat(), price_of=hourly
    )
    home.forecast_of = lambda start: hourly(start) + 30 * (noise(7 * start) - 0.5)
    home.serve_quarters(quarterly)
    entry = await home.add(plans=PLANS, options={"billed_by": billed_by})
    # One poll an hour is enough here, because most polls of a week would bring nothing new.
    hass.config_entries.async_update_entry(entry, pref_disable_polling=True)
    await hass.config_entries.async_reload(entry.entry_id)
    await home.settle()
    week = Week(home, first)
    await week.tell_charge()
    announced = await automate(hass, _window_triggers(home), beside=_automations(home))
    await week.live()
    assert week.has_restarted

    _devices_ran_as_long_as_asked(week)
    _devices_ran_only_where_they_may(week)
    _limits_followed_the_price(week.diary)
    _each_window_was_announced_once(week.diary, announced)
    _the_ledger_adds_up(week, home.consumer_price if billed_by == "hour" else home.consumer_quarter_price)


def _window_triggers(home: Home) -> dict[str, dict[str, Any]]:
    return {
        f"{plan} {what}": {"trigger": f"tunnihind.window_{what}", "target": {"entity_id": window_of(home, plan)}}
        for plan in PLANS
        for what in ("started", "ended")
    }


def _automations(home: Home) -> list[dict[str, Any]]:
    car = {
        "window": window_of(home, "car"),
        "charger": DEVICES["car"],
        "charge": CHARGE,
        "capacity": CAPACITY_KWH,
        "enough": ENOUGH_PERCENT,
        "losses": LOSSES_PERCENT,
    }
    floor = {"window": window_of(home, "floor"), "heating": [DEVICES["floor"]]}
    boiler = {"window": window_of(home, "boiler"), "heater": {"entity_id": DEVICES["boiler"]}}
    return [
        automation_of("charge_car_by_energy", car, alias="Car"),
        automation_of("heat_floor", floor, alias="Floor"),
        automation_of("heat_water", boiler, alias="Boiler"),
    ]


def _devices_ran_as_long_as_asked(week: Week) -> None:
    diary = week.diary
    for plan in ("boiler", "dishwasher"):
        for night in week.nights(plan):
            assert diary.seconds(diary.running[plan], *night) == PLANS[plan]["duration"] * 60, (plan, night)
    for night in week.nights("boiler"):
        assert diary.seconds(diary.switched_on["boiler"], *night) == 180 * 60
    for _, deadline in week.nights("car"):
        assert diary.charges[deadline] >= ENOUGH_PERCENT
    for day in range(1, DAYS - 1):
        midnights = week.midnight(day), week.midnight(day + 1)
        assert diary.seconds(diary.running["floor"], *midnights) == 240 * 60


def _devices_ran_only_where_they_may(week: Week) -> None:
    diary = week.diary
    for plan in ("boiler", "car", "dishwasher"):
        allowed = list(week.nights(plan))
        until = allowed[-1][1]
        ran = {at for at, is_on in diary.running[plan].items() if is_on and at < until}
        ran |= {at for at, is_on in diary.switched_on.get(plan, {}).items() if is_on and at < until}
        assert all(any(start <= at < end for start, end in allowed) for at in ran), plan
    heats, dear = diary.switched_on["floor"], diary.running["floor"]
    first = next(at for at, is_on in dear.items() if is_on)
    assert [at for at in dear if at >= first and heats[at] is dear[at]] == []


def _limits_followed_the_price(diary: Diary) -> None:
    for at, price in diary.prices.items():
        cents = price * 100
        assert diary.running["pool"][at] is (cents <= LIMIT), at
        assert diary.running["sauna"][at] is (cents >= LIMIT), at


def _each_window_was_announced_once(diary: Diary, announced: list[Run]) -> None:
    began = min(diary.prices)
    for plan in PLANS:
        starts = sorted(at for what, at in announced if what == f"{plan} started" and at > began)
        assert starts == sorted(at for at in diary.starts[plan] if at > began), plan
        ends = sorted(at for what, at in announced if what == f"{plan} ended" and at > began)
        assert ends == diary.ends(plan), plan


def _the_ledger_adds_up(week: Week, price_of: PriceOf) -> None:
    """Each window cost the published prices of its quarters, even if it was planned by a forecast."""
    step_s = HOUR_S if price_of == week.home.consumer_price else QUARTER_S
    for plan in ("boiler", "car", "dishwasher"):
        ran = [at for at, is_on in week.diary.running[plan].items() if is_on]
        cost = sum(price_of(at - at % step_s) for at in ran) * QUARTER_S / HOUR_S
        account = week.home.entry.runtime_data.ledger.account(plan)
        assert account.total.at_one_kw.kwh == pytest.approx(len(ran) * QUARTER_S / HOUR_S), plan
        assert account.total.at_one_kw.cost == pytest.approx(cost, rel=0.001), plan
        # A plan by energy may not need the whole last quarter.
        power, nights = PLANS[plan].get("power", 0), len(list(week.nights(plan)))
        used, whole = account.total.used, account.total.at_one_kw.kwh * power
        assert whole - nights * power * QUARTER_S / HOUR_S <= used.kwh <= whole + 0.001, plan
        assert used.cost == pytest.approx(cost * power, rel=0.1), plan
    saved = float(week.home.value("saved_total", "car"))
    assert saved == pytest.approx(week.home.entry.runtime_data.ledger.account("car").total.used.saved, abs=0.0001)

"""Three days of a household whose inverter follows the battery's plan, with an uncertain sun and a noisy load.

The days have a change of the clocks, a noon with negative prices, hours without the server, a restart, and hours in
which the state of charge is not known. Electricity is bought by the hour and sold by the quarter. The load is worked
out from the meters of the Energy dashboard.
"""

import math
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from aiohttp import web
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.tunnihind.battery.battery import Steps
from custom_components.tunnihind.battery.outlook import end_worth
from custom_components.tunnihind.battery.settings import BatterySettings
from custom_components.tunnihind.battery.solver import cheapest_course
from custom_components.tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S
from tests.support.household.automations import restart
from tests.support.household.battery import (
    BATTERY,
    BATTERY_ID,
    GRID,
    ROOF,
    STORE,
    attributes,
    charge,
    entity,
    forecast_sun,
    set_up_dashboard,
)
from tests.support.household.blueprints import BLUEPRINTS, use
from tests.support.household.energy_meter import read_counter
from tests.support.household.home import Home, MakeHome, iso
from tests.support.household.plan_days import noise

FIRST: Final = date(2026, 3, 28)
"""The day before the clocks go forward."""
DAYS: Final = 3
CAPACITY_KWH: Final = 10.0
RESERVE_KWH: Final = 2.0
FIRST_KWH: Final = 5.0
POWER_KW: Final = 5.0
WEAR: Final = 0.01
FORM: Final = {name: value for name, value in BATTERY.items() if name != "load"} | {"wear": WEAR * 100}
"""The battery's form: 10 kWh with a reserve of 20 %, and 5 kW both ways."""
ONE_WAY: Final = math.sqrt(0.9)
METERS: Final = ("import", "export", "sun", "charged", "discharged")
MODES: Final = {name: f"mode {name}" for name in ("charge", "store_sun", "hold", "discharge", "sell")}
MODE: Final = "input_select.mode"
CHARGE, DISCHARGE = "input_number.charge", "input_number.discharge"
SELLING: Final = {"resolution": "quarter", "rows": [{"margin": 0.5}]}


def market(start: int) -> float:
    """Return the market's price of a quarter, EUR/MWh: two peaks a day, and a sunny noon that costs nothing or less."""
    hour = start - start % HOUR_S
    local = ESTONIA.local_time(hour)
    peak = 60 * math.exp(-(((local.hour - 19) / 2.5) ** 2)) + 40 * math.exp(-(((local.hour - 8) / 2) ** 2))
    windy_noon = 150 if local.date() == FIRST and 11 <= local.hour < 15 else 0
    quarter = (-6, 9, 2, -5)[start % HOUR_S // QUARTER_S]
    return round(60 + peak + 50 * (noise(hour) - 0.5) - windy_noon + quarter, 2)


def market_of_hour(start: int) -> float:
    return round(sum(market(start + quarter * QUARTER_S) for quarter in range(4)) / 4, 2)


def bought_for(start: int) -> float:
    """Return what the household pays for a kWh in this quarter, EUR: the hour's market price with 24 % VAT."""
    return round(market_of_hour(start - start % HOUR_S) / 1000 * 1.24, 4)


def sold_for(start: int) -> float:
    """Return what the household gets for a kWh in this quarter, EUR: the quarter's market price less half a cent."""
    return round(market(start) / 1000 - 0.005, 4)


def usual_load(start: int) -> float:
    """Return the home's mean load in kW."""
    return 0.3 + 1.1 * math.exp(-(((ESTONIA.local_time(start).hour - 19) / 2.5) ** 2))


def load(start: int) -> float:
    return usual_load(start - start % HOUR_S) * (0.3 + 1.4 * noise(start))


def expected_sun(start: int) -> float:
    """Return the sun's expected power in kW."""
    clear = math.sin((start - start % HOUR_S + 2 * HOUR_S) % DAY_S / DAY_S * 2 * math.pi - math.pi / 2)
    return 4 * max(clear, 0.0) * (0.3 + 0.7 * noise(start // DAY_S))


def sun(start: int) -> float:
    return expected_sun(start) * (0.5 + noise(3 * start))


@dataclass
class Diary:
    """What happened in each quarter of an hour."""

    starts: list[int] = field(default_factory=list)
    use_kw: list[float] = field(default_factory=list)
    power_kw: list[float] = field(default_factory=list)
    stored_kwh: list[float] = field(default_factory=list)
    prices: list[tuple[float, float]] = field(default_factory=list)
    is_planned: list[bool] = field(default_factory=list)


class Household:
    """A home whose inverter does what its mode says."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.stored_kwh = FIRST_KWH
        self.diary = Diary()
        self.totals = dict.fromkeys(METERS, 1_000.0)

    async def live(self) -> None:
        """Let the days pass, quarter by quarter."""
        home, port = self.home, self.home.server.port
        end = ESTONIA.instant(FIRST + timedelta(days=DAYS - 1), time(23))
        for start in range(home.now, end, QUARTER_S):
            self.pass_quarter(start)
            later = start + QUARTER_S
            home.set_clock(later - 1)
            day, clock = (ESTONIA.local_time(later).date() - FIRST).days, ESTONIA.local_time(later).time()
            charge(home.hass, "unavailable" if day == 0 and time(20) <= clock < time(22) else self.percent)
            if later % HOUR_S == 0:
                await self.read_meters(later - HOUR_S)
            await home.at(later)
            if clock == time(14):
                await home.publish(ESTONIA.instant(FIRST + timedelta(days=day + 2), time(1)))
            if (day, clock) == (1, time(10)):
                await home.server.runner.cleanup()
            if (day, clock) == (1, time(19)):
                await home.server.runner.setup()
                await web.TCPSite(home.server.runner, "127.0.0.1", port).start()
                await home.poll()
            if (day, clock) == (1, time(20, 15)):
                await restart(home)

    @property
    def percent(self) -> str:
        return f"{self.stored_kwh / CAPACITY_KWH * 100:.1f}"

    def pass_quarter(self, start: int) -> None:
        """Let the inverter do for a quarter of an hour what its mode and its numbers say."""
        home, diary = self.home, self.diary
        use_kw = load(start) - sun(start)
        charge_kw, discharge_kw = number(home, CHARGE), number(home, DISCHARGE)
        by_mode = {
            MODES["charge"]: charge_kw,
            MODES["store_sun"]: min(max(-use_kw, 0.0), charge_kw),
            MODES["hold"]: 0.0,
            MODES["discharge"]: min(-use_kw, charge_kw) if use_kw < 0 else -min(use_kw, discharge_kw),
            MODES["sell"]: -discharge_kw,
        }
        # The inverter keeps to its own limits, and knows of no reserve.
        room_kw, left_kw = (CAPACITY_KWH - self.stored_kwh) / ONE_WAY * 4, self.stored_kwh * ONE_WAY * 4
        power_kw = max(min(by_mode[state_of(home, MODE)], POWER_KW, room_kw), -POWER_KW, -left_kw)
        self.stored_kwh += power_kw / 4 * (ONE_WAY if power_kw > 0 else 1 / ONE_WAY)
        diary.starts.append(start)
        diary.use_kw.append(use_kw)
        diary.power_kw.append(power_kw)
        diary.stored_kwh.append(self.stored_kwh)
        diary.prices.append((float(home.value("current_price")), float(home.value("selling_price"))))
        diary.is_planned.append("reason" not in attributes(home))

    async def read_meters(self, hour: int) -> None:
        """Store in the recorder what the meters counted in the hour."""
        await self.store({hour: self.count(hour, self.diary.power_kw[-4:])})

    async def remember(self, days: int) -> None:
        """Store in the recorder what the meters counted in the past days, while the battery did nothing."""
        hours = range(self.home.now - days * DAY_S, self.home.now, HOUR_S)
        await self.store({hour: self.count(hour, [0.0] * 4) for hour in hours})

    def count(self, hour: int, power_kw: list[float]) -> dict[str, float]:
        """Count the energy of an hour, and return the totals of all meters. `power_kw` is the battery's by quarter."""
        for start, power in zip(range(hour, hour + HOUR_S, QUARTER_S), power_kw, strict=True):
            grid_kw = load(start) - sun(start) + power
            powers = max(grid_kw, 0.0), max(-grid_kw, 0.0), sun(start), max(power, 0.0), max(-power, 0.0)
            for meter, kw in zip(METERS, powers, strict=True):
                self.totals[meter] += kw / 4
        return dict(self.totals)

    async def store(self, totals: dict[int, dict[str, float]]) -> None:
        for meter in METERS:
            readings = {hour: (counted[meter], counted[meter]) for hour, counted in totals.items()}
            await read_counter(self.home.hass, f"sensor.{meter}", readings)


def state_of(home: Home, entity_id: str) -> str:
    state = home.hass.states.get(entity_id)
    assert state is not None
    return state.state


def number(home: Home, entity_id: str) -> float:
    """Return the power in kW that a number of the inverter shows in watts."""
    return float(state_of(home, entity_id)) / 1000


def forecast_of_sun(now: int) -> dict[str, Any]:
    """Return the forecast of today and tomorrow, as Forecast.Solar gives it."""
    hours = range(now - now % DAY_S, now - now % DAY_S + 2 * DAY_S, HOUR_S)
    return {"wh_hours": {iso(hour): 1000 * expected_sun(hour) for hour in hours}}


@pytest.fixture
def recorder_config() -> dict[str, Any]:
    """Let the recorder store statistics only, because its states take much time and no test reads them."""
    return {"exclude": {"domains": ["automation", "binary_sensor", "input_number", "input_select", "sensor"]}}


@pytest.fixture
async def household(
    recorder_mock: object, hass: HomeAssistant, make_home: MakeHome, tmp_path: Path
) -> AsyncIterator[Household]:
    (tmp_path / "blueprints").symlink_to(BLUEPRINTS)
    hass.config.config_dir = str(tmp_path)
    await hass.config.async_set_time_zone("Europe/Tallinn")
    begins = ESTONIA.instant(FIRST, time(0))
    published = ESTONIA.instant(FIRST + timedelta(days=1), time(1))
    home = await make_home(
        ESTONIA.local_time(begins).isoformat(), ESTONIA.local_time(published).isoformat(), price_of=market_of_hour
    )
    home.forecast_of = lambda start: market_of_hour(start) + 40 * (noise(7 * start) - 0.5)
    home.forecast_for_s = 3 * DAY_S
    home.serve_quarters(market)
    numbers = {name: {"min": 0, "max": 5_000, "step": 1, "initial": 5_000} for name in ("charge", "discharge")}
    assert await async_setup_component(hass, "input_number", {"input_number": numbers})
    assert await async_setup_component(hass, "input_select", {"input_select": {"mode": {"options": [*MODES.values()]}}})
    await set_up_dashboard(hass, GRID, ROOF, STORE)
    forecast_sun(hass, {}).side_effect = lambda *_: forecast_of_sun(home.now)
    household = Household(home)
    await household.remember(days=14)
    charge(hass, household.percent)
    entry = await home.add(batteries={BATTERY_ID: FORM}, options={"selling": SELLING})
    # One poll a day is enough here, because most polls would bring nothing new.
    hass.config_entries.async_update_entry(entry, pref_disable_polling=True)
    await hass.config_entries.async_reload(entry.entry_id)
    await home.settle()
    inverter = {"mode": MODE, **MODES, "charge_power": CHARGE, "discharge_power": DISCHARGE}
    await use(home, "follow_battery_by_mode", {"action": entity(home, "sensor", "action"), **inverter})
    yield household
    await hass.services.async_call("automation", "turn_off", {"entity_id": "all"}, blocking=True)


@pytest.mark.timeout(600)
async def test_days_by_a_battery_plan_save_nearly_what_perfect_knowledge_would(household: Household) -> None:
    await household.live()
    diary = household.diary
    _the_reserve_was_kept(diary)
    _nothing_was_bought_or_sold_from_the_battery_without_a_plan(diary)
    _the_shown_prices_were_those_of_the_market(diary)
    _the_battery_was_filled_while_buying_was_paid_for(diary)
    assert _part_of_perfect_saving(diary) > 0.9


def _the_reserve_was_kept(diary: Diary) -> None:
    rounding = 0.001 * CAPACITY_KWH
    assert min(diary.stored_kwh) > RESERVE_KWH - rounding


def _nothing_was_bought_or_sold_from_the_battery_without_a_plan(diary: Diary) -> None:
    unplanned = [place for place, is_planned in enumerate(diary.is_planned) if not is_planned]
    assert len(unplanned) == 2 * 4
    assert all(0 <= diary.power_kw[place] <= max(-diary.use_kw[place], 0.0) for place in unplanned)


def _the_shown_prices_were_those_of_the_market(diary: Diary) -> None:
    assert diary.prices == [(bought_for(start), sold_for(start)) for start in diary.starts]


def _the_battery_was_filled_while_buying_was_paid_for(diary: Diary) -> None:
    paid = [place for place, (buying, _) in enumerate(diary.prices) if buying < 0]
    assert diary.stored_kwh[paid[-1]] > 0.99 * CAPACITY_KWH


def _part_of_perfect_saving(diary: Diary) -> float:
    """Return the part of what a battery would save that knows all prices, the load and the sun."""
    battery = BatterySettings.from_mapping(FORM).battery
    buying, selling = np.array(diary.prices).T
    steps = Steps(np.array(diary.starts), diary.starts[-1] + QUARTER_S, buying, selling, np.array(diary.use_kw))
    worth = end_worth(battery, steps)

    def cost(power_kw: list[float], stored_kwh: float) -> float:
        paid = 0.0
        for (bought, sold), use_kw, power in zip(diary.prices, diary.use_kw, power_kw, strict=True):
            grid_kw = use_kw + power
            paid += (grid_kw * (bought if grid_kw > 0 else sold) + WEAR * max(-power, 0.0)) / 4
        return paid - worth * stored_kwh

    idle = cost([0.0] * len(diary.starts), FIRST_KWH)
    perfect = cheapest_course(battery, steps, FIRST_KWH, end_worth=worth).cost
    return (idle - cost(diary.power_kw, diary.stored_kwh[-1])) / (idle - perfect)

"""The contents of a card in each state, as files that the card's own tests read. They are made anew by

TUNNIHIND_WRITE_EXAMPLES=1 pytest tests/integration/card/test_examples.py
"""

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from homeassistant.config_entries import ConfigEntryDisabler

from tests.integration.card.conftest import Cards
from tests.support.household.battery import BATTERY, BATTERY_ID, LOAD, charge, count
from tests.support.household.home import DAY_S, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.settings import Settings
from tunnihind.sources.simulated_market import SimulatedMarket

EXAMPLES: Final = Path(__file__).with_name("examples")
MORNING: Final = "2026-11-18T10:20:00+02:00"
"""A Wednesday, before the auction; the table of rates has all of this day's."""
AFTERNOON: Final = "2026-11-18T15:20:00+02:00"
REHEARSED_FROM: Final = "2026-12-20T18:03:37+02:00"
PUBLISHED_TODAY: Final = "2026-11-19T01:00:00+02:00"
PUBLISHED_TOMORROW: Final = "2026-11-20T01:00:00+02:00"
VORK_4: Final = {"package": "vork_4", "margin": 0.5, "from_table": ["network", "balancing", "renewable", "security"]}
FEES: Final = {"rows": [{**VORK_4, "excise": 0.307}]}
SELLING: Final = {"selling": {"resolution": "quarter", "rows": [{"margin": 0.8, "balancing": 0.5}]}}
PLANS: Final[Mapping[str, Mapping[str, Any]]] = {
    "dishwasher": {"duration": 120, "split": False, "deadline": "07:00"},
    "boiler": {"duration": 240, "split": True, "min_piece": 60},
    "car": {"duration": 300, "split": True, "min_piece": 30, "horizon": "expected"},
    "sauna": {"duration": 180, "split": False, "price_cap": 1},
}


@cache
def simulated(start: int, length_s: int = HOUR_S) -> float:
    """Return the simulated market's price of a period, EUR/MWh."""
    prices = SimulatedMarket(7).prices(np.array([start + length_s / 2]))
    return round(float(prices["ee"][0]), 2)


def simulated_quarter(start: int) -> float:
    return simulated(start, QUARTER_S)


async def a_home(
    make_home: MakeHome,
    now: str = AFTERNOON,
    settled_until: str = PUBLISHED_TOMORROW,
    *,
    quarters: bool = False,
    before: Callable[[Home], None] = lambda _: None,
    options: Mapping[str, Any] | None = None,
    plans: Mapping[str, Mapping[str, Any]] | None = None,
    rehearsal: bool = False,
    **more: Any,  # noqa: ANN401  of a home
) -> Home:
    home = await make_home(now, settled_until, price_of=simulated, **more)
    home.forecast_of = simulated
    home.quarter_price_of = simulated_quarter if quarters else None
    before(home)
    home.serve()
    await home.add(options=options, plans=plans, rehearsal=rehearsal)
    return home


STATES: Final[Mapping[str, Mapping[str, Any]]] = {
    "morning": {"now": MORNING, "settled_until": PUBLISHED_TODAY},
    "hours": {"options": FEES | {"unit": "euros"}},
    "quarters": {"quarters": True, "options": FEES | {"billed_by": "quarter"}},
    # A server that serves its whole forecast by the quarter.
    "week_of_quarters": {
        "quarters": True,
        "settings": Settings(full_horizon=True),
        "options": FEES | SELLING | {"billed_by": "quarter", "levels_by": "quarter"},
        "plans": PLANS,
    },
    "selling": {"quarters": True, "options": FEES | SELLING},
    "demo": {"mode": "demo"},
    "rehearsal": {
        "now": REHEARSED_FROM,
        "ahead_s": instant(AFTERNOON) - instant(REHEARSED_FROM),
        "mode": "rehearsal",
        "rehearsal": True,
    },
    "day_of_23_hours": {"now": "2026-03-29T10:20:00+03:00", "settled_until": "2026-03-30T01:00:00+03:00"},
    "day_of_25_hours": {"now": "2026-10-25T10:20:00+02:00", "settled_until": "2026-10-26T01:00:00+02:00"},
}


async def with_plans(make_home: MakeHome) -> Home:
    home = await a_home(make_home, "2026-11-18T00:05:00+02:00", PUBLISHED_TODAY, options=FEES, plans=PLANS)
    for now, until in ((MORNING, PUBLISHED_TODAY), (AFTERNOON, PUBLISHED_TOMORROW)):
        await home.at(instant(now))
        await home.publish(instant(until))
    return home


async def with_batteries(make_home: MakeHome) -> Home:
    """Return a home whose battery sells too, and that has a battery whose state of charge is not known."""
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW, price_of=simulated, settings=Settings(full_horizon=True))
    home.forecast_of, home.quarter_price_of = simulated, simulated_quarter
    home.serve()
    await count(home, LOAD, lambda start: 0.4 + (start // HOUR_S % 24 in {16, 17, 18, 19}))
    charge(home.hass, 60)
    await home.add(
        options=FEES | SELLING | {"billed_by": "quarter"},
        plans={"dishwasher": PLANS["dishwasher"]},
        batteries={BATTERY_ID: BATTERY, "car": {**BATTERY, "state_of_charge": "sensor.car"}},
    )
    return home


async def stale(make_home: MakeHome) -> Home:
    def old(home: Home) -> None:
        home.forecast_made_at = home.now - 7 * HOUR_S

    return await a_home(make_home, before=old)


async def server_lost(make_home: MakeHome) -> Home:
    home = await a_home(make_home)
    await home.server.runner.cleanup()
    await home.at(home.now + HOUR_S)
    return home


async def run_out(make_home: MakeHome) -> Home:
    def unpredicted(home: Home) -> None:
        home.forecast_of = None

    home = await a_home(make_home, settled_until=PUBLISHED_TODAY, before=unpredicted)
    await home.server.runner.cleanup()
    await home.at(instant(PUBLISHED_TODAY))
    return home


async def no_data(make_home: MakeHome) -> Home:
    def nothing(home: Home) -> None:
        home.forecast_of, home.settled_until = None, home.now - 3 * DAY_S

    return await a_home(make_home, before=nothing)


async def retrying(make_home: MakeHome) -> Home:
    home = await make_home()
    await home.server.runner.cleanup()
    await home.add()
    return home


async def stopped(make_home: MakeHome) -> Home:
    home = await a_home(make_home)
    await home.hass.config_entries.async_set_disabled_by(home.entry.entry_id, ConfigEntryDisabler.USER)
    return home


LIVED: Final[Mapping[str, Callable[[MakeHome], Awaitable[Home]]]] = {
    lived.__name__: lived
    for lived in (with_plans, with_batteries, stale, server_lost, run_out, no_data, retrying, stopped)
}
NAMES: Final = (*STATES, *LIVED)


@pytest.mark.usefixtures("recorder_mock")
@pytest.mark.parametrize("name", NAMES)
async def test_each_state_equals_the_file_of_the_cards_tests(make_home: MakeHome, cards: Cards, name: str) -> None:
    home = await (LIVED[name](make_home) if name in LIVED else a_home(make_home, **STATES[name]))
    card = await cards.open(entry_id=home.entry.entry_id)
    file = EXAMPLES / f"{name}.json"
    if os.environ.get("TUNNIHIND_WRITE_EXAMPLES"):
        file.write_text(text_of(home.server_now if home.ahead_s else home.now, card.shown))
    assert json.loads(file.read_text())["contents"] == card.shown


def test_every_file_belongs_to_a_state() -> None:
    assert {file.stem for file in EXAMPLES.iterdir()} == {*NAMES}


def text_of(now: int, contents: Mapping[str, Any]) -> str:
    """Write the contents with one field, or one column of prices, on a line, and the instant at which they hold."""
    lines = []
    for name, value in contents.items():
        written = json.dumps(value)
        if name in {"prices", "selling"} and value is not None:
            columns = ",\n      ".join(f'"{column}": {json.dumps(each)}' for column, each in value.items())
            written = f"{{\n      {columns}\n    }}"
        lines.append(f'    "{name}": {written}')
    return f'{{\n  "at": {now},\n  "contents": {{\n' + ",\n".join(lines) + "\n  }\n}\n"

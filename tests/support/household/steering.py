"""Plans for the tests of changes, and the means of change: a switch, numbers, times and one action."""

from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import SOURCE_RECONFIGURE, SubentryFlowContext
from homeassistant.data_entry_flow import FlowResultType

from custom_components.tunnihind.core.network_clock import WEEKDAYS
from tests.support.household.flows import shown
from tests.support.household.home import PLAN_ID, Home, instant
from tunnihind.core.market import HOUR_S

EVERY_DAY: Mapping[str, Any] = {"weekdays": list(WEEKDAYS), "days": 1, "horizon": "published"}
ONE_PIECE: Mapping[str, Any] = {**EVERY_DAY, "duration": 180, "split": False}
SPLIT: Mapping[str, Any] = {**EVERY_DAY, "duration": 180, "split": True, "min_piece": 60}
CAR: Mapping[str, Any] = {
    **EVERY_DAY,
    "duration": 240,
    "split": True,
    "min_piece": 60,
    "earliest": "22:00:00",
    "deadline": "07:00:00",
    "horizon": "expected",
    "price_cap": 50.0,
}
BY_ENERGY: Mapping[str, Any] = {**EVERY_DAY, "energy": 10, "power": 4, "split": True, "min_piece": 30}
MIDNIGHT = instant("2026-01-14T00:00:00+02:00")
KEY = "tunnihind.entry"
MINUTE_S = 60

type Files = dict[str, Any]


def cheap_from_one_to_four(start: int) -> float:
    return 10.0 if MIDNIGHT + HOUR_S <= start < MIDNIGHT + 4 * HOUR_S else 90.0


async def call(home: Home, action: str, *, answers: bool = False, **data: Any) -> Any:  # noqa: ANN401  an answer
    domain, _, name = action.partition(".")
    answer = await home.hass.services.async_call(domain, name, data, blocking=True, return_response=answers)
    await home.settle()
    return answer


async def update(home: Home, plan_id: str = PLAN_ID, **data: Any) -> None:  # noqa: ANN401  fields of the action
    await call(home, "tunnihind.update_plan", entity_id=window_of(home, plan_id), **data)


def window_of(home: Home, plan_id: str = PLAN_ID) -> str:
    return home.state("binary_sensor", "window", plan_id).entity_id


async def switch(home: Home, on: bool) -> None:
    entity_id = home.state("switch", "enabled", PLAN_ID).entity_id
    await call(home, f"switch.turn_{'on' if on else 'off'}", entity_id=entity_id)


def pieces(home: Home, plan_id: str = PLAN_ID) -> list[tuple[int, int]]:
    listed = home.state("binary_sensor", "window", plan_id).attributes.get("pieces", [])
    return [(instant(piece["start"]), instant(piece["end"])) for piece in listed]


def at(hours: float) -> int:
    """Return the instant a number of hours after midnight."""
    return int(MIDNIGHT + hours * HOUR_S)


async def set_number(home: Home, key: str, value: float, plan_id: str = PLAN_ID) -> None:
    entity_id = home.state("number", key, plan_id).entity_id
    await call(home, "number.set_value", entity_id=entity_id, value=value)


async def set_time(home: Home, key: str, value: str) -> None:
    await call(home, "time.set_value", entity_id=home.state("time", key, PLAN_ID).entity_id, time=value)


def length(home: Home, plan_id: str = PLAN_ID) -> int:
    return sum(end - start for start, end in pieces(home, plan_id))


async def form_for_plan(home: Home) -> Any:  # noqa: ANN401  a form as Home Assistant gives it
    context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id=PLAN_ID)
    return await home.hass.config_entries.subentries.async_init((home.entry.entry_id, "plan"), context=context)


async def save_form(home: Home, **fields: Any) -> Any:  # noqa: ANN401  fields of the form, and its result
    form = await form_for_plan(home)
    result = await home.hass.config_entries.subentries.async_configure(form["flow_id"], {**shown(form), **fields})
    assert result["type"] is FlowResultType.ABORT, result
    await home.settle()
    return result

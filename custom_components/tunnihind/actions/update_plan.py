"""The action `update_plan`, which changes several settings of plans and batteries at once."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.target import TargetSelection, async_extract_referenced_entity_ids
from homeassistant.util.json import JsonObjectType

from ..choices import one_of
from ..const import DOMAIN, LOGGER
from ..coordinator import TunnihindCoordinator
from ..entity import async_change_plans
from ..errors import Refusal
from ..household.battery_planner import batteries_of
from ..household.planner import plans_of
from ..plans.settings import Horizon, Starts
from ..plans.steering import PlanChange
from .call import (
    coordinator_of_entry,
    finite_number,
    hint_field,
    outcome_fields,
    parse_duration,
    rehearsal_field,
    to_instant,
)

ATTR_ENABLED: Final = "enabled"
ATTR_CLEAR: Final = "clear"
ATTR_REPLAN: Final = "replan"
ATTR_ENERGY_READ_AT: Final = "energy_read_at"


def _whole_number(given: object) -> int:
    number = finite_number(given)
    if not number.is_integer():
        raise vol.Invalid("expected a whole number")
    return int(number)


def _minutes(time: timedelta) -> float:
    return time / timedelta(minutes=1)


_LENGTH: Final = vol.All(parse_duration, _minutes)
_WALL_TIME: Final = vol.All(cv.time, lambda wall: wall.isoformat("seconds"))
# The fields of a plan that a call may change, each with a function that checks the new value. If the function accepts
# None (null in YAML), None empties the field.
PLAN_FIELD_CHECKS: Final[Mapping[str, Any]] = {
    "duration": _LENGTH,
    "energy": vol.Any(None, finite_number),
    "energy_full": vol.Any(None, finite_number),
    "power": vol.Any(None, finite_number),
    "min_piece": _LENGTH,
    "min_pause": _LENGTH,
    "max_pause": vol.Any(None, _LENGTH),
    "max_starts": vol.Any(None, _whole_number),
    "start_cost": vol.Any(None, finite_number),
    "earliest": vol.Any(None, _WALL_TIME),
    "deadline": vol.Any(None, _WALL_TIME),
    "deadline_2": vol.Any(None, _WALL_TIME),
    "starts": one_of(Starts),
    "horizon": one_of(Horizon),
    "price_cap": vol.Any(None, finite_number),
    "more_below": vol.Any(None, finite_number),
    "tolerance": vol.Any(None, finite_number),
    "group": vol.Any(None, cv.string),
    "priority": vol.Any(None, _whole_number),
    "group_limit": vol.Any(None, finite_number),
}
_FIELD_CHECKS: Final = {**PLAN_FIELD_CHECKS, "target_soc": finite_number, "reserve": finite_number}
_PLAN_FIELDS: Final = {*PLAN_FIELD_CHECKS, ATTR_ENERGY_READ_AT}
_BATTERY_FIELDS: Final = {"target_soc", "reserve", "deadline"}
SCHEMA: Final = cv.make_entity_service_schema(
    {
        vol.Optional(ATTR_ENABLED): cv.boolean,
        **{vol.Optional(name): checked for name, checked in _FIELD_CHECKS.items()},
        vol.Optional(ATTR_CLEAR, default=list): vol.All(cv.ensure_list, [one_of(_FIELD_CHECKS)]),
        vol.Optional(ATTR_ENERGY_READ_AT): cv.datetime,
        vol.Optional(ATTR_REPLAN, default=False): cv.boolean,
    }
)


async def update_plan(call: ServiceCall) -> ServiceResponse:
    """Change all plans and batteries in the call's target.

    If one of the plans can't be changed, change no plan and raise ServiceValidationError. If the call asks for an
    answer, return each plan's name, the state of the plan's switch, the fields whose values differ from the plan's
    form, the plan's window or the reason why there is no window, and the energy that will be missing. A battery has no
    window.
    """
    plans = [
        (await coordinator_of_entry(call.hass, entry_id), plan_id) for entry_id, plan_id in _targeted_plan_ids(call)
    ]
    read_at = call.data.get(ATTR_ENERGY_READ_AT)
    change = PlanChange(
        values={name: call.data[name] for name in _FIELD_CHECKS if name in call.data},
        clear=call.data[ATTR_CLEAR],
        enabled=call.data.get(ATTR_ENABLED),
        energy_read_at=None if read_at is None else to_instant(read_at),
        replan=call.data[ATTR_REPLAN],
        must_fit=True,
    )
    await async_change_plans(plans, change)
    hint = await hint_field(call)
    if call.return_response:
        return {"plans": [_plan_answer(*plan) for plan in plans], **hint}
    for text in hint.values():
        LOGGER.warning("update_plan: %s", text)
    return None


def _plan_answer(coordinator: TunnihindCoordinator, plan_id: str) -> JsonObjectType:
    plan, outcome = coordinator.plan(plan_id), coordinator.prices.outcomes.get(plan_id)
    missing = coordinator.planner.missing_kwh(plan_id, coordinator.prices.now)
    return {
        "plan": coordinator.config_entry.subentries[plan_id].title,
        "enabled": plan is not None and plan.enabled,
        "changed": [*sorted(plan.changes)] if plan else [],
        **(outcome_fields(coordinator.zone, outcome) if outcome else {}),
        **({} if missing is None else {"missing_energy": missing}),
        **rehearsal_field(coordinator),
    }


def _targeted_plan_ids(call: ServiceCall) -> list[tuple[str, str]]:
    """Return the entry's id and the subentry's id of each plan in the call's target, without repetitions.

    An area or a floor in the target stands for all plans there, and a label for all plans with this label, as far as
    they have all given fields: a battery has other fields than the plan of a device. Raises Refusal if the target
    contains no plan, or names an entity or a device that belongs to no plan, or to a plan without one of the fields.
    """
    target = TargetSelection(call.data)
    found = async_extract_referenced_entity_ids(call.hass, target)
    entities, plans = er.async_get(call.hass).entities, _plan_ids_by_device(call.hass)
    lacking = {device_id: _lacking_field(call, *plan) for device_id, plan in plans.items()}

    def device_of(entity_id: str) -> str:
        entity = entities.get(entity_id)
        return (entity.device_id if entity else None) or ""

    around = {*found.referenced_devices, *map(device_of, found.indirectly_referenced)}
    meant = {device_id for device_id in around & plans.keys() if lacking[device_id] is None}
    named = {entity_id: device_of(entity_id) for entity_id in found.referenced}
    for name, device_id in sorted((named | {device: device for device in target.device_ids}).items()):
        if device_id not in plans:
            raise Refusal("not_a_plan", target=_target_name(call.hass, name))
        if (field := lacking[device_id]) is not None:
            raise Refusal("no_such_field", plan=_target_name(call.hass, device_id), field=field)
        meant.add(device_id)
    if not meant:
        raise Refusal("no_plan_meant")
    return [plans[device_id] for device_id in sorted(meant)]


def _lacking_field(call: ServiceCall, entry_id: str, plan_id: str) -> str | None:
    """Return the first given field that the plan doesn't have, or None if it has all."""
    entry = call.hass.config_entries.async_get_known_entry(entry_id)
    given = (_PLAN_FIELDS | _BATTERY_FIELDS) & call.data.keys() | {*call.data[ATTR_CLEAR]}
    return min(given - (_BATTERY_FIELDS if plan_id in batteries_of(entry) else _PLAN_FIELDS), default=None)


def _plan_ids_by_device(hass: HomeAssistant) -> dict[str, tuple[str, str]]:
    """Return a mapping from the id of each plan's device to the ids of the plan's entry and subentry."""
    registry = dr.async_get(hass)
    return {
        device.id: (entry.entry_id, plan_id)
        for entry in hass.config_entries.async_entries(DOMAIN)
        for device in dr.async_entries_for_config_entry(registry, entry.entry_id)
        for domain, plan_id in device.identifiers
        if domain == DOMAIN and plan_id in plans_of(entry) | batteries_of(entry)
    }


def _target_name(hass: HomeAssistant, target: str) -> str:
    device = dr.async_get(hass).async_get(target)
    return (device.name_by_user or device.name or target) if device else target

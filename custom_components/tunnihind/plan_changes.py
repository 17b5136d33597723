"""Changes plans beside their forms, for entities and actions: all plans that are meant, or none."""

from collections.abc import Collection

from homeassistant.exceptions import ServiceValidationError

from .const import DOMAIN
from .coordinator import TunnihindCoordinator
from .plans.settings import LONGEST_DURATION_MIN, QUARTER_MIN, PlanError
from .plans.steering import Change, SteeredPlan

type PlanOfServer = tuple[TunnihindCoordinator, str]
"""The coordinator of a plan's server, and the plan's subentry."""


async def async_change_plans(plans: Collection[PlanOfServer], change: Change) -> None:
    """Change plans and store it before returning, so that no restart loses it.

    Raises ServiceValidationError, before any is changed, that names the plan, the field and what it may be.
    """
    changed: dict[TunnihindCoordinator, dict[str, SteeredPlan]] = {}
    for coordinator, plan_id in plans:
        changed.setdefault(coordinator, {})[plan_id] = _changed(coordinator, plan_id, change)
    for coordinator, of_server in changed.items():
        coordinator.async_take_plans(of_server, replan=change.replan)
    for coordinator in changed:
        await coordinator.async_save()


def _changed(coordinator: TunnihindCoordinator, plan_id: str, change: Change) -> SteeredPlan:
    plan = coordinator.planner.plan(plan_id)
    title = coordinator.config_entry.subentries[plan_id].title
    if plan is None:
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key="plan_unusable", translation_placeholders={"plan": title}
        )
    for field in ("duration", "min_piece"):
        if not _is_length(minutes := change.values.get(field, QUARTER_MIN)):
            raise ServiceValidationError(
                translation_domain=DOMAIN,
                translation_key="invalid_length",
                translation_placeholders={"field": field, "given": f"{minutes:g}", "most": f"{LONGEST_DURATION_MIN}"},
            )
    try:
        return plan.changed(change)
    except PlanError as error:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key=error.key,
            translation_placeholders={"plan": title, **error.placeholders},
        ) from error


def _is_length(minutes: float) -> bool:
    return QUARTER_MIN <= minutes <= LONGEST_DURATION_MIN and minutes % QUARTER_MIN == 0

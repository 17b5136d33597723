"""Shows a repair notice for each lasting problem, until the problem ends."""

from typing import Final

from awesomeversion import AwesomeVersion
from awesomeversion.exceptions import AwesomeVersionException
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.translation import async_get_cached_translations

from .client.polling import Problem
from .client.requests import url_without_password
from .const import DOMAIN, OLDEST_SERVER
from .coordinator import TunnihindConfigEntry, TunnihindCoordinator
from .core.rates import Part
from .forms.tariff_step import PART_NAME_KEY_PREFIX
from .household.problems import UNREACHABLE_FOR_LONG_S, problems
from .plans.spans import longest_open_time_s
from .prices.zones import country_name

_SERVER_TOO_OLD: Final = "server_too_old"
_RATES_OUTDATED: Final = "rates_outdated"
_PLANS_WITHOUT_ROOM: Final = "plans_without_room"
_LASTING_PROBLEMS: Final = (
    Problem.SERVER_UNREACHABLE,
    Problem.PRICES_LATE,
    Problem.FORECAST_STALE,
    Problem.SERVER_CLOCK,
    Problem.SERVER_IS_REHEARSAL,
    Problem.SERVER_IS_NOT_REHEARSAL,
    Problem.OTHER_ZONE,
)
NOTICE_KEYS: Final = (*_LASTING_PROBLEMS, _SERVER_TOO_OLD, _RATES_OUTDATED, _PLANS_WITHOUT_ROOM)


@callback
def async_keep_notices_current(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """While the entry is loaded, show a repair notice for each lasting problem of the entry."""
    coordinator = entry.runtime_data

    @callback
    def update_notices() -> None:
        found = _lasting_problems(coordinator)
        for key in NOTICE_KEYS:
            if key in found:
                _show_notice(hass, entry, key)
            else:
                ir.async_delete_issue(hass, DOMAIN, notice_id(entry, key))

    coordinator.async_call_at_updates(update_notices)


@callback
def async_delete_notices(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Delete the entry's repair notices."""
    for key in NOTICE_KEYS:
        ir.async_delete_issue(hass, DOMAIN, notice_id(entry, key))


def notice_id(entry: TunnihindConfigEntry, key: str) -> str:
    """Return the id of the entry's repair notice about the problem `key`."""
    return f"{key}_{entry.entry_id}"


def _lasting_problems(coordinator: TunnihindCoordinator) -> set[str]:
    found: set[str] = set(problems(coordinator.prices, coordinator.server_status))
    if coordinator.prices.now < coordinator.server_status.silent_since + UNREACHABLE_FOR_LONG_S:
        found.discard(Problem.SERVER_UNREACHABLE)
    if coordinator.about and _is_too_old(coordinator.about.version):
        found.add(_SERVER_TOO_OLD)
    if _outdated_parts(coordinator):
        found.add(_RATES_OUTDATED)
    if _plans_without_room(coordinator):
        found.add(_PLANS_WITHOUT_ROOM)
    return found


def _outdated_parts(coordinator: TunnihindCoordinator) -> tuple[Part, ...]:
    return coordinator.tariff.outdated_parts(coordinator.zone.local_time(coordinator.prices.now).date())


def _plans_without_room(coordinator: TunnihindCoordinator) -> list[str]:
    """Return the names of the switched-on plans whose shortest window is longer than each of their open times."""
    planner, subentries = coordinator.planner, coordinator.config_entry.subentries
    return [
        subentries[plan_id].title
        for plan_id, settings in planner.settings.items()
        if settings.shortest_window_s > longest_open_time_s(settings)
        and (plan := planner.plan(plan_id)) is not None
        and plan.enabled
    ]


def _is_too_old(version: str) -> bool:
    try:
        return AwesomeVersion(version) < AwesomeVersion(OLDEST_SERVER)
    except AwesomeVersionException:  # a private build may have a name instead of a version number
        return False


def _show_notice(hass: HomeAssistant, entry: TunnihindConfigEntry, key: str) -> None:
    about = entry.runtime_data.about
    names = async_get_cached_translations(hass, hass.config.language, "selector", DOMAIN)
    parts = (names.get(f"{PART_NAME_KEY_PREFIX}.{part}", part) for part in _outdated_parts(entry.runtime_data))
    ir.async_create_issue(
        hass,
        DOMAIN,
        notice_id(entry, key),
        is_fixable=False,
        severity=ir.IssueSeverity.WARNING,
        translation_key=key,
        translation_placeholders={
            "name": entry.title,
            "zone": country_name(entry.runtime_data.zone, hass.config.language),
            "url": url_without_password(entry.runtime_data.url),
            "version": about.version if about else "",
            "oldest": OLDEST_SERVER,
            "parts": ", ".join(parts),
            "plans": ", ".join(_plans_without_room(entry.runtime_data)),
        },
    )

"""The form in which people enter a plan: its fields, the errors in these fields, and the stored data of the plan."""

import math
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

import voluptuous as vol
from homeassistant.components.sensor import SensorDeviceClass
from homeassistant.const import CONF_NAME, Platform
from homeassistant.helpers.selector import (
    DurationSelector,
    DurationSelectorConfig,
    EntitySelector,
    EntitySelectorConfig,
    NumberSelectorMode,
    TextSelector,
    TimeSelector,
)

from ..core.network_clock import WEEKDAYS
from ..plans.settings import (
    DEFAULT_MIN_PIECE_MIN,
    LONGEST_DURATION_MIN,
    LONGEST_PAUSE_MIN,
    MAX_DAYS,
    MAX_ENERGY_KWH,
    MAX_PIECES,
    MAX_POWER_KW,
    MAX_PRIORITY,
    MAX_START_COST_CENTS,
    MAX_TOLERANCE_CENTS,
    MIN_POWER_KW,
    QUARTER_MIN,
    SETTINGS_OF_PIECES,
    Horizon,
    PlanError,
    PlanKind,
    PlanSettings,
    Preference,
    Starts,
    form_has_energy,
    group_settings,
    second_deadline,
)
from ..plans.spans import longest_open_time_s, most_open_time_s
from ..prices.units import Unit
from .fields import choice_field, count_field, foldable_section, number_field, price_field

KIND: Final = "kind"
DURATION: Final = "duration"
ENERGY: Final = "energy"
ENERGY_FULL: Final = "energy_full"
POWER: Final = "power"
PIECES_SECTION: Final = "pieces"
SPLIT: Final = "split"
MIN_PIECE: Final = "min_piece"
MIN_PAUSE: Final = "min_pause"
MAX_PAUSE: Final = "max_pause"
MAX_STARTS: Final = "max_starts"
START_COST: Final = "start_cost"
TIMES_SECTION: Final = "when"
EARLIEST: Final = "earliest"
DEADLINE: Final = "deadline"
DEADLINE_2: Final = "deadline_2"
STARTS: Final = "starts"
CHOSEN_DAYS: Final = "weekdays"
DAYS: Final = "days"
PRICES_SECTION: Final = "prices"
HORIZON: Final = "horizon"
PRICE_CAP: Final = "price_cap"
MORE_BELOW: Final = "more_below"
TOLERANCE_SECTION: Final = "nearly"
TOLERANCE: Final = "tolerance"
PREFER: Final = "prefer"
METER_SECTION: Final = "saved"
METER: Final = "meter"
TOGETHER_SECTION: Final = "together"
GROUP: Final = "group"
PRIORITY: Final = "priority"
GROUP_LIMIT: Final = "group_limit"
# The fields in each section of the form. Fields that belong to no section are above the sections.
_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    PIECES_SECTION: (SPLIT, MIN_PIECE, MIN_PAUSE, MAX_PAUSE, MAX_STARTS, START_COST),
    TIMES_SECTION: (EARLIEST, DEADLINE, DEADLINE_2, CHOSEN_DAYS, DAYS, STARTS),
    PRICES_SECTION: (HORIZON, PRICE_CAP, MORE_BELOW),
    TOLERANCE_SECTION: (TOLERANCE, PREFER),
    METER_SECTION: (METER,),
    # A plan by energy has its power above the sections.
    TOGETHER_SECTION: (GROUP, PRIORITY, GROUP_LIMIT, POWER),
}

_PRICES: Final = (PRICE_CAP, MORE_BELOW, TOLERANCE)
_LENGTHS: Final = (DURATION, MIN_PIECE, MIN_PAUSE, MAX_PAUSE)

# The fields that a plan with `MORE_BELOW` can't have.
_NOT_WITH_MORE: Final = {MAX_PAUSE, TOLERANCE, PREFER}

ONE_PIECE: Final = "one_piece"


class PlanForm(StrEnum):
    """The forms in which people enter plans.

    Some kinds of hours have two forms: one asks for a duration, and one asks for an energy.
    """

    CHEAPEST = "cheapest"
    CHEAPEST_BY_ENERGY = "cheapest_by_energy"
    MOST_EXPENSIVE = "dearest"
    MOST_EXPENSIVE_BY_ENERGY = "dearest_by_energy"
    BELOW = "below"
    ABOVE = "above"

    @property
    def kind(self) -> PlanKind:
        """The kind of hours that the plan looks for."""
        return PlanKind(self.removesuffix(_BY_ENERGY))

    @property
    def asks_for_energy(self) -> bool:
        """True if the form asks for an energy and a power instead of a duration."""
        return self.endswith(_BY_ENERGY)


_BY_ENERGY: Final = "_by_energy"


def form_for_plan(plan: Mapping[str, Any]) -> PlanForm:
    """Return the form in which people change the given plan."""
    return PlanForm(plan.get(KIND, PlanKind.CHEAPEST) + (_BY_ENERGY if form_has_energy(plan) else ""))


_COMMON_VALUES: Final[Mapping[str, Any]] = {
    CHOSEN_DAYS: list(WEEKDAYS),
    DAYS: 1,
    HORIZON: Horizon.PUBLISHED.value,
}
# The first plan of a new entry finds the three cheapest hours of the day. Each piece lasts at least an hour, so that a
# device doesn't start for only 15 minutes. The plan uses only published prices, so that its window doesn't depend on a
# forecast.
FIRST_PLAN_VALUES: Final[Mapping[str, Any]] = {DURATION: 180, SPLIT: True, MIN_PIECE: 60, **_COMMON_VALUES}
# For a new plan, a form that asks for an energy shows these values at first. They suit a car that charges at an
# ordinary socket.
_ENERGY_PLAN_VALUES: Final[Mapping[str, Any]] = {ENERGY: 10, POWER: 2.3, SPLIT: True, MIN_PIECE: 60, **_COMMON_VALUES}
_LIMIT_PLAN_VALUES: Final[Mapping[str, Any]] = {MIN_PIECE: QUARTER_MIN, **_COMMON_VALUES}
# The values that each form shows for a new plan at first, stored in minutes, kWh, kW and c/kWh. The form `CHEAPEST`
# suggests windows in one piece, because many devices, like a washing machine, can't pause.
NEW_PLAN_VALUES: Final[Mapping[PlanForm, Mapping[str, Any]]] = {
    PlanForm.CHEAPEST: {**FIRST_PLAN_VALUES, SPLIT: False},
    PlanForm.CHEAPEST_BY_ENERGY: _ENERGY_PLAN_VALUES,
    PlanForm.MOST_EXPENSIVE: {KIND: PlanKind.MOST_EXPENSIVE.value, **FIRST_PLAN_VALUES},
    PlanForm.MOST_EXPENSIVE_BY_ENERGY: {KIND: PlanKind.MOST_EXPENSIVE.value, **_ENERGY_PLAN_VALUES},
    PlanForm.BELOW: {KIND: PlanKind.BELOW.value, PRICE_CAP: 10, **_LIMIT_PLAN_VALUES},
    PlanForm.ABOVE: {KIND: PlanKind.ABOVE.value, PRICE_CAP: 20, **_LIMIT_PLAN_VALUES},
}

MAX_PRICE_CENTS: Final = 500
_PLAN_KIND: Final = "plan_kind"
_DURATION_FIELD: Final = DurationSelector(DurationSelectorConfig(enable_second=False))
_METER_FIELD: Final = EntitySelector(
    EntitySelectorConfig(
        filter={"domain": Platform.SENSOR, "device_class": [SensorDeviceClass.ENERGY, SensorDeviceClass.POWER]}
    )
)

# The form in which people choose the kind of hours of a plan. Programs may send a whole plan to this form.
KIND_FORM: Final = vol.Schema(
    {vol.Required(KIND, default=PlanForm.CHEAPEST.value): choice_field(PlanForm, _PLAN_KIND)}, extra=vol.ALLOW_EXTRA
)


def plan_form_schema(unit: Unit, form: PlanForm, unfolded: Collection[str] = ()) -> vol.Schema:
    """Return the schema of a plan's form with prices in `unit`.

    The sections in `unfolded` are open at first. If the plan looks for all hours below or above a price, the section
    `PRICES_SECTION` is open too.
    """
    by_limit = form.kind.has_limit_instead_of_duration
    price_limit = vol.Required(PRICE_CAP) if by_limit else vol.Optional(PRICE_CAP)
    amounts: dict[vol.Marker, Any] = {}
    if form.asks_for_energy:
        amounts = {
            vol.Required(ENERGY): number_field(0, MAX_ENERGY_KWH, "kWh"),
            vol.Required(POWER): number_field(MIN_POWER_KW, MAX_POWER_KW, "kW"),
        }
        if not form.kind.looks_for_high_prices:
            amounts[vol.Optional(ENERGY_FULL)] = number_field(0, MAX_ENERGY_KWH, "kWh")
    elif not by_limit:
        amounts = {vol.Required(DURATION): _DURATION_FIELD}
    more_below: dict[vol.Marker, Any] = {}
    if form is PlanForm.CHEAPEST:
        more_below = {vol.Optional(MORE_BELOW): price_field(unit, -MAX_PRICE_CENTS, MAX_PRICE_CENTS)}
    pieces: dict[vol.Marker, Any] = {
        vol.Required(SPLIT): choice_field((ONE_PIECE, SPLIT), SPLIT),
        vol.Optional(MIN_PIECE): _DURATION_FIELD,
        vol.Optional(MIN_PAUSE): _DURATION_FIELD,
        vol.Optional(MAX_PAUSE): _DURATION_FIELD,
        vol.Optional(MAX_STARTS): count_field(MAX_PIECES, NumberSelectorMode.BOX),
        vol.Optional(START_COST): number_field(0, MAX_START_COST_CENTS),
    }
    sections: list[tuple[vol.Marker, dict[vol.Marker, Any]]] = [
        (
            vol.Required(PIECES_SECTION),
            {field: pieces[field] for field in pieces if not by_limit or field in (MIN_PIECE, MIN_PAUSE)},
        ),
        (
            vol.Required(TIMES_SECTION),
            {
                vol.Optional(EARLIEST): TimeSelector(),
                vol.Optional(DEADLINE): TimeSelector(),
                **({} if by_limit else {vol.Optional(DEADLINE_2): TimeSelector()}),
                vol.Optional(CHOSEN_DAYS): choice_field(WEEKDAYS, CHOSEN_DAYS, multiple=True),
                vol.Required(DAYS): count_field(MAX_DAYS),
                vol.Optional(STARTS): choice_field(Starts, STARTS),
            },
        ),
        (
            vol.Required(PRICES_SECTION),
            {
                vol.Required(HORIZON): choice_field(Horizon, HORIZON),
                price_limit: price_field(unit, -MAX_PRICE_CENTS, MAX_PRICE_CENTS),
                **more_below,
            },
        ),
    ]
    if by_limit:
        sections.reverse()  # the price limit comes first
    else:
        tolerance: dict[vol.Marker, Any] = {
            vol.Optional(TOLERANCE): price_field(unit, 0, MAX_TOLERANCE_CENTS),
            vol.Optional(PREFER): choice_field(Preference, PREFER),
        }
        sections.append((vol.Optional(TOLERANCE_SECTION), tolerance))
    if not form.kind.looks_for_high_prices:
        sections.append((vol.Optional(METER_SECTION), {vol.Optional(METER): _METER_FIELD}))
    together: dict[vol.Marker, Any] = {
        vol.Optional(GROUP): TextSelector(),
        vol.Optional(PRIORITY): count_field(MAX_PRIORITY, NumberSelectorMode.BOX),
        vol.Optional(GROUP_LIMIT): number_field(MIN_POWER_KW, MAX_POWER_KW, "kW"),
        **({} if form.asks_for_energy else {vol.Optional(POWER): number_field(MIN_POWER_KW, MAX_POWER_KW, "kW")}),
    }
    sections.append((vol.Optional(TOGETHER_SECTION), together))
    is_unfolded = {*unfolded, *((PRICES_SECTION,) if by_limit else ())}
    return vol.Schema(
        {
            vol.Required(CONF_NAME): TextSelector(),
            # This field only shows the kind of hours. People choose it in `KIND_FORM`, and can't change it later.
            vol.Optional(KIND): choice_field((form,), _PLAN_KIND),
            **amounts,
            **{name: foldable_section(fields, unfolded=name in is_unfolded) for name, fields in sections},
        }
    )


def sections_to_unfold(values: Mapping[str, Any], errors: Iterable[str], form: PlanForm) -> set[str]:
    """Return the fields and sections with an error, and the sections whose values differ from those of a new plan."""
    new = shown_values("", NEW_PLAN_VALUES[form])
    return {*errors, *(name for name in _SECTIONS if values.get(name, {}) != new.get(name, {}))}


def shown_values(name: str, plan: Mapping[str, Any], unit: Unit = Unit.CENTS) -> dict[str, Any]:
    """Return the values that the form shows for a plan. Prices are in `unit`."""
    form = form_for_plan(plan)
    preferred = {} if form.kind.has_limit_instead_of_duration else {PREFER: Preference.EARLIEST.value}
    shown = {
        STARTS: Starts.NOW.value,
        **preferred,
        **plan,
        MIN_PIECE: plan.get(MIN_PIECE) or _default_min_piece(form),
        KIND: form.value,
    }
    shown |= {key: _duration_value(shown[key]) for key in _LENGTHS if key in shown}
    shown |= {key: unit.from_cents(shown[key]) for key in _PRICES if key in shown}
    if SPLIT in shown:
        shown[SPLIT] = SPLIT if shown[SPLIT] else ONE_PIECE
    above: dict[str, Any] = {
        key: shown[key]
        for key in (KIND, DURATION, ENERGY, POWER, ENERGY_FULL)
        if key in shown and (key != POWER or form.asks_for_energy)
    }
    sections = {
        name: {key: shown[key] for key in keys if key in shown and key not in above} for name, keys in _SECTIONS.items()
    }
    return {CONF_NAME: name, **above, **{name: fields for name, fields in sections.items() if fields}}


def plan_from_input(
    user_input: Mapping[str, Any], unit: Unit = Unit.CENTS, form: PlanForm = PlanForm.CHEAPEST
) -> dict[str, Any]:
    """Convert the user's input in the plan's form to the data of the plan's subentry.

    In the result, durations are in minutes, and prices are in c/kWh.
    """
    above = {key: user_input.get(key) for key in (DURATION, ENERGY, POWER, ENERGY_FULL)}
    in_sections = {key: user_input.get(name, {}).get(key) for name, keys in _SECTIONS.items() for key in keys}
    plan = {key: value for typed in (above, in_sections) for key, value in typed.items() if value is not None}
    plan |= {key: _minutes(plan[key]) for key in _LENGTHS if key in plan}
    plan |= {key: unit.to_cents(plan[key]) for key in _PRICES if key in plan}
    plan[CHOSEN_DAYS] = [day for day in WEEKDAYS if day in plan.get(CHOSEN_DAYS, ())]
    plan.setdefault(MIN_PIECE, _default_min_piece(form))
    if SPLIT in plan:
        plan[SPLIT] = plan[SPLIT] == SPLIT
    if form.kind is not PlanKind.CHEAPEST:
        plan[KIND] = form.kind.value
    left_out = {
        *(SETTINGS_OF_PIECES if plan.get(SPLIT) is False else ()),
        *(field for field in (MIN_PAUSE, MAX_PAUSE, START_COST) if not plan.get(field)),
        *(() if plan.get(TOLERANCE) else (TOLERANCE,)),
        *(() if plan.get(PREFER) == Preference.LATEST else (PREFER,)),
        *(() if plan.get(STARTS) == Starts.NEXT_PERIOD else (STARTS,)),
        *(() if plan.get(GROUP, "").strip() else (GROUP,)),
    }
    return {key: value for key, value in plan.items() if key not in left_out}


def _default_min_piece(form: PlanForm) -> int:
    return QUARTER_MIN if form.kind.has_limit_instead_of_duration else DEFAULT_MIN_PIECE_MIN


def form_errors(
    user_input: Mapping[str, Any], others: Iterable[str] = (), form: PlanForm = PlanForm.CHEAPEST
) -> dict[str, str]:
    """Return the errors in a form, keyed by field or section. `others` contains the names of the other plans."""
    plan = plan_from_input(user_input, form=form)
    found = {
        CONF_NAME: name_error(user_input[CONF_NAME], others),
        DURATION: _duration_error(plan) if DURATION in plan else None,
        PIECES_SECTION: _pieces_error(plan, user_input.get(PIECES_SECTION, {})),
        TIMES_SECTION: _times_error(plan),
        PRICES_SECTION: "more_with_tolerance" if MORE_BELOW in plan and {*plan} & _NOT_WITH_MORE else None,
        TOGETHER_SECTION: _group_error(plan),
    }
    errors = {field: error for field, error in found.items() if error}
    return errors if errors.keys() - {CONF_NAME} else errors | _errors_without_room(plan)


def name_error(name: str, others: Iterable[str]) -> str | None:
    """Return the error in a name, which must differ from all names in `others`."""
    if not name.strip():
        return "no_name"
    return "name_taken" if name.strip().casefold() in {other.casefold() for other in others} else None


def _duration_error(plan: Mapping[str, Any]) -> str | None:
    duration = plan[DURATION]
    if not 0 < duration <= LONGEST_DURATION_MIN:
        return "duration_out_of_range"
    if duration % QUARTER_MIN:
        return "duration_not_quarters"
    return None


def _pieces_error(plan: Mapping[str, Any], typed: Mapping[str, Any]) -> str | None:
    """Return the error in the section `PIECES_SECTION`, whose fields people typed as `typed`."""
    if MAX_PAUSE in plan and (error := _longest_pause_error(plan)):
        return error
    if plan.get(SPLIT) is False:
        errors = {
            "max_starts_in_one_go": typed.get(MAX_STARTS) is not None,
            "start_cost_in_one_go": bool(typed.get(START_COST)),
            "min_pause_in_one_go": _minutes(typed.get(MIN_PAUSE, {})) != 0,
        }
        return next((error for error, found in errors.items() if found), None)
    if plan.get(MIN_PAUSE, 0) % QUARTER_MIN or not 0 <= plan.get(MIN_PAUSE, 0) <= LONGEST_DURATION_MIN:
        return "min_pause_not_quarters"
    piece = plan[MIN_PIECE]
    if piece <= 0 or piece % QUARTER_MIN:
        return "min_piece_not_quarters"
    if DURATION not in plan:
        return "min_piece_too_long" if piece > LONGEST_DURATION_MIN else None
    return "min_piece_too_long" if piece > plan[DURATION] and not _duration_error(plan) else None


def _times_error(plan: Mapping[str, Any]) -> str | None:
    if not plan[CHOSEN_DAYS]:
        return "no_weekday"
    try:
        second_deadline(plan)
    except PlanError as error:
        return error.key
    return None


def _longest_pause_error(plan: Mapping[str, Any]) -> str | None:
    longest = plan[MAX_PAUSE]
    if longest % QUARTER_MIN or not 0 < longest <= LONGEST_PAUSE_MIN:
        return "max_pause_not_quarters"
    if plan.get(SPLIT) and longest < plan.get(MIN_PAUSE, 0):
        return "max_pause_too_short"
    return "max_pause_with_tolerance" if TOLERANCE in plan or PREFER in plan else None


def _group_error(plan: Mapping[str, Any]) -> str | None:
    try:
        group_settings(plan)
    except PlanError as error:
        return error.key
    return "only_in_group" if POWER in plan and not form_has_energy(plan) and GROUP not in plan else None


def _errors_without_room(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return an error if the plan's window never fits between its bounds. Clock changes and prices don't count."""
    settings = PlanSettings.from_mapping({**plan, PRICE_CAP: 0, TOLERANCE: None})
    longest_s = longest_open_time_s(settings)
    room_s = most_open_time_s(settings) if plan.get(SPLIT) else longest_s
    if DURATION in plan and settings.duration_s > room_s:
        return {DURATION: "longer_than_span"}
    return {PIECES_SECTION: "min_piece_too_long"} if settings.shortest_window_s > longest_s else {}


def _minutes(clock: Mapping[str, float]) -> int:
    """Return the minutes in a typed duration, rounded up to whole minutes."""
    return math.ceil(timedelta(**clock) / timedelta(minutes=1))


def _duration_value(minutes: int) -> dict[str, int]:
    return {"hours": minutes // 60, "minutes": minutes % 60}

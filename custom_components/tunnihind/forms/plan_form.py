"""The form of a plan: its fields, what is wrong in them, and what the plan's subentry keeps of them."""

import math
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

import voluptuous as vol
from homeassistant.const import CONF_NAME
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    DurationSelector,
    DurationSelectorConfig,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TimeSelector,
)

from ..plans.settings import (
    DEFAULT_MIN_PIECE_MIN,
    LEAST_POWER_KW,
    LONGEST_DURATION_MIN,
    MOST_DAYS,
    MOST_ENERGY_KWH,
    MOST_POWER_KW,
    MOST_STARTS,
    MOST_TOLERANCE_CENTS,
    QUARTER_MIN,
    WEEKDAYS,
    Horizon,
    Kind,
    PlanSettings,
    Prefer,
    goes_by_energy,
)
from ..plans.spans import longest_span_s
from ..prices.units import Unit
from .meter_form import METER, SAVED, meter_fields, meter_of
from .number_field import NumberField, price_selector

KIND: Final = "kind"
DURATION: Final = "duration"
ENERGY: Final = "energy"
POWER: Final = "power"
PIECES: Final = "pieces"
SPLIT: Final = "split"
MIN_PIECE: Final = "min_piece"
MAX_STARTS: Final = "max_starts"
WHEN: Final = "when"
EARLIEST: Final = "earliest"
DEADLINE: Final = "deadline"
CHOSEN_DAYS: Final = "weekdays"
DAYS: Final = "days"
PRICES: Final = "prices"
HORIZON: Final = "horizon"
PRICE_CAP: Final = "price_cap"
NEARLY: Final = "nearly"
TOLERANCE: Final = "tolerance"
PREFER: Final = "prefer"

ONE_PIECE: Final = "one_piece"

_MINUTE_S: Final = 60


class PlanForm(StrEnum):
    """Which form a plan has: a kind of hours to look for, and for some how their length is given."""

    CHEAPEST = "cheapest"
    CHEAPEST_BY_ENERGY = "cheapest_by_energy"
    DEAREST = "dearest"
    DEAREST_BY_ENERGY = "dearest_by_energy"
    BELOW = "below"
    ABOVE = "above"

    @property
    def kind(self) -> Kind:
        """Which hours the plan looks for."""
        return Kind(self.removesuffix(_BY_ENERGY))

    @property
    def is_by_energy(self) -> bool:
        """Whether kWh and kW say how long the plan runs."""
        return self.endswith(_BY_ENERGY)


_BY_ENERGY: Final = "_by_energy"


def form_of(plan: Mapping[str, Any]) -> PlanForm:
    """Return the form that a plan was made with."""
    return PlanForm(plan.get(KIND, Kind.CHEAPEST) + (_BY_ENERGY if goes_by_energy(plan) else ""))


_EVERY_DAY: Final[Mapping[str, Any]] = {
    CHOSEN_DAYS: list(WEEKDAYS),
    DAYS: 1,
    HORIZON: Horizon.PUBLISHED.value,
}
# Three hours wherever in the day they are cheapest, as people speak of the cheapest hours; in pieces of whole hours, so
# that nothing is switched for minutes; on published prices only, so that the first thing seen rests on facts.
FIRST_PLAN: Final[Mapping[str, Any]] = {DURATION: 180, SPLIT: True, MIN_PIECE: 60, **_EVERY_DAY}
# A car at an ordinary socket.
_ENERGY_PLAN: Final[Mapping[str, Any]] = {ENERGY: 10, POWER: 2.3, SPLIT: True, MIN_PIECE: 60, **_EVERY_DAY}
_LIMIT_PLAN: Final[Mapping[str, Any]] = {MIN_PIECE: QUARTER_MIN, **_EVERY_DAY}
# What the form of a new plan begins with. A washing machine's programme is the cheapest time in one piece.
NEW_PLANS: Final[Mapping[PlanForm, Mapping[str, Any]]] = {
    PlanForm.CHEAPEST: {**FIRST_PLAN, SPLIT: False},
    PlanForm.CHEAPEST_BY_ENERGY: _ENERGY_PLAN,
    PlanForm.DEAREST: {KIND: Kind.DEAREST.value, **FIRST_PLAN},
    PlanForm.DEAREST_BY_ENERGY: {KIND: Kind.DEAREST.value, **_ENERGY_PLAN},
    PlanForm.BELOW: {KIND: Kind.BELOW.value, PRICE_CAP: 10, **_LIMIT_PLAN},
    PlanForm.ABOVE: {KIND: Kind.ABOVE.value, PRICE_CAP: 20, **_LIMIT_PLAN},
}

_PLAN_KIND: Final = "plan_kind"
_DURATION: Final = DurationSelector(DurationSelectorConfig(enable_second=False))
MOST_CENTS: Final = 500
_DAYS: Final = NumberSelector(NumberSelectorConfig(min=1, max=MOST_DAYS, mode=NumberSelectorMode.SLIDER))
_STARTS: Final = NumberSelector(NumberSelectorConfig(min=1, max=MOST_STARTS, mode=NumberSelectorMode.BOX))


def _choice(options: tuple[str, ...], translation_key: str, *, multiple: bool = False) -> SelectSelector:
    listed = SelectSelectorMode.LIST
    return SelectSelector(
        SelectSelectorConfig(options=list(options), translation_key=translation_key, multiple=multiple, mode=listed)
    )


def _quantity(least: float, most: float, unit: str) -> NumberField:
    return NumberField(
        NumberSelectorConfig(min=least, max=most, step="any", unit_of_measurement=unit, mode=NumberSelectorMode.BOX)
    )


# What the plan looks for. A program may go on sending a whole plan at once, as when there was one step only.
KIND_FORM: Final = vol.Schema(
    {vol.Required(KIND, default=PlanForm.CHEAPEST.value): _choice(tuple(PlanForm), _PLAN_KIND)}, extra=vol.ALLOW_EXTRA
)


def schema_in(unit: Unit, form: PlanForm = PlanForm.CHEAPEST, unfolded: Collection[str] = ()) -> vol.Schema:
    """Return the fields of a plan of that form, with prices in that unit. Sections are folded but for those named."""
    by_limit = form.kind.is_by_limit
    price = price_selector(unit, -MOST_CENTS, MOST_CENTS)
    sections = {
        vol.Required(PIECES): foldable(
            {
                **({} if by_limit else {vol.Required(SPLIT): _choice((ONE_PIECE, SPLIT), SPLIT)}),
                vol.Optional(MIN_PIECE): _DURATION,
                **({} if by_limit else {vol.Optional(MAX_STARTS): _STARTS}),
            },
            unfolded=PIECES in unfolded,
        ),
        vol.Required(WHEN): foldable(
            {
                vol.Optional(EARLIEST): TimeSelector(),
                vol.Optional(DEADLINE): TimeSelector(),
                vol.Optional(CHOSEN_DAYS): _choice(WEEKDAYS, CHOSEN_DAYS, multiple=True),
                vol.Required(DAYS): _DAYS,
            },
            unfolded=WHEN in unfolded,
        ),
        vol.Required(PRICES): foldable(
            {
                vol.Required(HORIZON): _choice(tuple(Horizon), HORIZON),
                (vol.Required if by_limit else vol.Optional)(PRICE_CAP): price,
            },
            unfolded=by_limit or PRICES in unfolded,
        ),
    }
    return vol.Schema(
        {
            vol.Required(CONF_NAME): TextSelector(),
            # The only choice: it tells what the plan looks for, which stays.
            vol.Optional(KIND): _choice((form,), _PLAN_KIND),
            **_length_fields(form),
            **(dict(reversed(sections.items())) if by_limit else sections),
            **({} if by_limit else {vol.Optional(NEARLY): _nearly(unit, unfolded=NEARLY in unfolded)}),
            **({} if form.kind.is_dear else meter_fields(unfolded=SAVED in unfolded)),
        }
    )


def _length_fields(form: PlanForm) -> dict[vol.Marker, Any]:
    if form.kind.is_by_limit:
        return {}
    if not form.is_by_energy:
        return {vol.Required(DURATION): _DURATION}
    return {
        vol.Required(ENERGY): _quantity(0, MOST_ENERGY_KWH, "kWh"),
        vol.Required(POWER): _quantity(LEAST_POWER_KW, MOST_POWER_KW, "kW"),
    }


def to_unfold(values: Mapping[str, Any], errors: Iterable[str], form: PlanForm) -> set[str]:
    """Return the sections that are unfolded: those with an error, and those in which something is chosen."""
    new = suggested("", NEW_PLANS[form])
    chosen = (name for name in (PIECES, WHEN, PRICES, NEARLY, SAVED) if values.get(name, {}) != new.get(name, {}))
    return {*errors, *chosen}


def foldable(fields: dict[vol.Marker, Any], *, unfolded: bool) -> section:
    """Return a section of a form."""
    return section(vol.Schema(fields), {"collapsed": not unfolded})


def _nearly(unit: Unit, *, unfolded: bool) -> section:
    fields: dict[vol.Marker, Any] = {
        vol.Optional(TOLERANCE): price_selector(unit, 0, MOST_TOLERANCE_CENTS),
        vol.Optional(PREFER): _choice(tuple(Prefer), PREFER),
    }
    return foldable(fields, unfolded=unfolded)


def suggested(name: str, plan: Mapping[str, Any], unit: Unit = Unit.CENTS) -> dict[str, Any]:
    """Return a plan as the form shows it."""
    form = form_of(plan)
    shown: dict[str, Any] = {
        CONF_NAME: name,
        KIND: form.value,
        **{key: plan[key] for key in (ENERGY, POWER) if key in plan},
        PIECES: {MIN_PIECE: _clock(plan.get(MIN_PIECE) or _default_min_piece(form))},
        WHEN: {key: plan[key] for key in (EARLIEST, DEADLINE, CHOSEN_DAYS, DAYS) if key in plan},
        PRICES: {key: plan[key] for key in (HORIZON, PRICE_CAP) if key in plan},
    }
    if METER in plan:
        shown[SAVED] = {METER: plan[METER]}
    if DURATION in plan:
        shown[DURATION] = _clock(plan[DURATION])
    if PRICE_CAP in plan:
        shown[PRICES][PRICE_CAP] = unit.from_cents(plan[PRICE_CAP])
    if not form.kind.is_by_limit:
        shown[PIECES][SPLIT] = SPLIT if plan[SPLIT] else ONE_PIECE
        shown[PIECES] |= {key: plan[key] for key in (MAX_STARTS,) if key in plan}
        shown[NEARLY] = {PREFER: plan.get(PREFER, Prefer.EARLIEST.value)}
        if TOLERANCE in plan:
            shown[NEARLY][TOLERANCE] = unit.from_cents(plan[TOLERANCE])
    return shown


def plan_of(
    user_input: Mapping[str, Any], unit: Unit = Unit.CENTS, form: PlanForm = PlanForm.CHEAPEST
) -> dict[str, Any]:
    """Return what the plan's subentry keeps of the form. Durations are in minutes, prices in c/kWh."""
    plan = {
        KIND: None if form.kind is Kind.CHEAPEST else form.kind.value,
        DURATION: _minutes(user_input[DURATION]) if DURATION in user_input else None,
        ENERGY: user_input.get(ENERGY),
        POWER: user_input.get(POWER),
        **_pieces_of(user_input[PIECES], form),
        **_when_of(user_input[WHEN]),
        HORIZON: user_input[PRICES][HORIZON],
        PRICE_CAP: _cents(user_input[PRICES].get(PRICE_CAP), unit),
        **_nearly_of(user_input.get(NEARLY, {}), unit),
        METER: meter_of(user_input),
    }
    return {key: value for key, value in plan.items() if value is not None}


def _pieces_of(pieces: Mapping[str, Any], form: PlanForm) -> dict[str, Any]:
    shortest = _minutes(pieces.get(MIN_PIECE) or _clock(_default_min_piece(form)))
    if form.kind.is_by_limit:
        return {MIN_PIECE: shortest}
    if pieces[SPLIT] != SPLIT:
        return {SPLIT: False}
    starts = pieces.get(MAX_STARTS)
    return {SPLIT: True, MIN_PIECE: shortest, MAX_STARTS: None if starts is None else int(starts)}


def _when_of(when: Mapping[str, Any]) -> dict[str, Any]:
    chosen = set(when.get(CHOSEN_DAYS, ()))
    return {
        EARLIEST: when.get(EARLIEST),
        DEADLINE: when.get(DEADLINE),
        CHOSEN_DAYS: [day for day in WEEKDAYS if day in chosen],
        DAYS: int(when[DAYS]),
    }


def _nearly_of(nearly: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    latest = nearly.get(PREFER) == Prefer.LATEST
    return {
        TOLERANCE: _cents(nearly.get(TOLERANCE) or None, unit),
        PREFER: Prefer.LATEST.value if latest else None,
    }


def _cents(typed: float | None, unit: Unit) -> float | None:
    return None if typed is None else unit.to_cents(typed)


def _default_min_piece(form: PlanForm) -> int:
    return QUARTER_MIN if form.kind.is_by_limit else DEFAULT_MIN_PIECE_MIN


def errors_of(
    user_input: Mapping[str, Any], others: Iterable[str] = (), form: PlanForm = PlanForm.CHEAPEST
) -> dict[str, str]:
    """Return what is wrong, by field or, inside a section, by section: that is where the form shows it.

    `others` are the names that a plan can't take.
    """
    plan = plan_of(user_input, form=form)
    found = {
        CONF_NAME: _wrong_name(user_input[CONF_NAME], others),
        DURATION: _wrong_duration(plan) if DURATION in plan else None,
        PIECES: _wrong_piece(plan) if MIN_PIECE in plan else None,
        WHEN: None if plan[CHOSEN_DAYS] else "no_weekday",
    }
    return {field: error for field, error in found.items() if error}


def _wrong_name(name: str, others: Iterable[str]) -> str | None:
    if not name.strip():
        return "no_name"
    return "name_taken" if name.strip().casefold() in {other.casefold() for other in others} else None


def _wrong_duration(plan: Mapping[str, Any]) -> str | None:
    duration = plan[DURATION]
    if not 0 < duration <= LONGEST_DURATION_MIN:
        return "duration_out_of_range"
    if duration % QUARTER_MIN:
        return "duration_not_quarters"
    return "longer_than_span" if duration > _span_min(plan) else None


def _wrong_piece(plan: Mapping[str, Any]) -> str | None:
    piece = plan[MIN_PIECE]
    if piece <= 0 or piece % QUARTER_MIN:
        return "min_piece_not_quarters"
    if DURATION not in plan:
        return "min_piece_too_long" if piece > LONGEST_DURATION_MIN else None
    return "min_piece_too_long" if piece > plan[DURATION] and not _wrong_duration(plan) else None


def _span_min(plan: Mapping[str, Any]) -> int:
    """Return the minutes between the plan's bounds, on a day without a change of clocks."""
    bounds = {key: plan[key] for key in (EARLIEST, DEADLINE, DAYS) if key in plan}
    return longest_span_s(PlanSettings.from_mapping(bounds)) // _MINUTE_S


def _minutes(clock: Mapping[str, float]) -> int:
    """Return a typed duration in minutes; a part of a minute is a minute, so that it is refused."""
    return math.ceil(timedelta(**clock) / timedelta(minutes=1))


def _clock(minutes: int) -> dict[str, int]:
    return {"hours": minutes // 60, "minutes": minutes % 60}

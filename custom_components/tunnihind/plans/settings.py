"""The settings of a plan, read from its form."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

from ..core.market import ESTONIA, HOUR_S, QUARTER_S, Market
from ..core.network_clock import WEEKDAYS
from .solver import Piece, round_up_to_quarter

_DEFAULT_DURATION_MIN: Final = 180
LONGEST_DURATION_MIN: Final = 1_440
DEFAULT_MIN_PIECE_MIN: Final = 60
MAX_DAYS: Final = 7
MAX_PIECES: Final = 12
LONGEST_PAUSE_MIN: Final = 4_320
MAX_ENERGY_KWH: Final = 1_000
MIN_POWER_KW: Final = 0.01
MAX_POWER_KW: Final = 1_000
MAX_TOLERANCE_CENTS: Final = 100
MAX_START_COST_CENTS: Final = 100
MAX_PRIORITY: Final = 9

_MINUTE_S: Final = 60
QUARTER_MIN: Final = QUARTER_S // _MINUTE_S
_CENTS: Final = 100
# Price limits and tolerances in EUR/kWh are rounded to this many decimals. Without rounding, a limit that was converted
# from cents could differ slightly from an equal price.
_PRICE_DECIMALS: Final = 6


class PlanError(ValueError):
    """An error in a plan's settings.

    `key` is the translation key of the error's message. `placeholders` contains all values that the message needs,
    except the plan's name.
    """

    def __init__(self, field: str, key: str, **placeholders: object) -> None:
        self.key = key
        self.placeholders = {"field": field, **{name: f"{value}" for name, value in placeholders.items()}}
        given = "".join(f", {name} {value}" for name, value in placeholders.items())
        super().__init__(f"{field}: {key.replace('_', ' ')}{given}")


class PlanKind(StrEnum):
    """The hours that a plan looks for."""

    CHEAPEST = "cheapest"
    """The cheapest window that has the plan's duration."""
    MOST_EXPENSIVE = "dearest"
    """The most expensive window that has the plan's duration: the time to pause a device or discharge a battery."""
    BELOW = "below"
    """All hours at or below the price limit, without pieces shorter than `min_piece_s`."""
    ABOVE = "above"
    """All hours at or above the price limit, without pieces shorter than `min_piece_s`."""

    @property
    def looks_for_high_prices(self) -> bool:
        """Return whether the kind is MOST_EXPENSIVE or ABOVE."""
        return self in (PlanKind.MOST_EXPENSIVE, PlanKind.ABOVE)

    @property
    def has_limit_instead_of_duration(self) -> bool:
        """Return whether the kind is BELOW or ABOVE."""
        return self in (PlanKind.BELOW, PlanKind.ABOVE)


class Preference(StrEnum):
    """The preferred window among several windows with nearly the same price."""

    EARLIEST = "earliest"
    LATEST = "latest"


class Starts(StrEnum):
    """The first span that counts for a plan or a need that was just said."""

    NOW = "now"
    """The present span, as far as it is left."""
    NEXT_PERIOD = "next_period"
    """The first span that opens at `said_at` or later."""


class Horizon(StrEnum):
    """The prices that a plan may use."""

    PUBLISHED = "published"
    """Only settled prices."""
    EXPECTED = "expected"
    """Settled prices, and the medians of predicted prices."""
    CAUTIOUS = "cautious"
    """Settled prices, and cautious percentiles of predicted prices.

    A plan for low prices uses the 90th percentile, and a plan for high prices uses the 10th percentile.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """The settings of one plan.

    Lengths are multiples of a quarter of an hour, in seconds. Times of day are local times of `zone`. If `energy_kwh`
    and `power_kw` are set, `duration_s` is computed from them, and rounded up to a multiple of a quarter of an hour.
    `duration_s` is 0 if the device needs 0 kWh, or if the plan covers all hours below or above a price limit.
    `needed_since` is the instant (UTC seconds) at which the device needed `energy_kwh`. If `needed_since` is None, the
    device needs `energy_kwh` when a span opens.
    `full_kwh` is the energy until the device is full, from `full_since` (UTC seconds) on. What it needs beyond
    `energy_kwh`, it only gets at prices of at most `usual_price` (EUR/kWh), and nothing of it if either is None.
    `said_at` is the instant (UTC seconds) from which `starts` counts, see `steering`. It is None if this is not known.
    `min_piece_s` is the least length of a piece, or None if the plan runs in one piece. `shortest_piece_s` is the same,
    but a quarter of an hour if the plan runs in one piece, and it may be longer than a small `duration_s`. A piece that
    is chosen after the window has begun is never shorter. `min_pause_s` is the least time from the end of a piece to
    the start of the next piece, and `max_pause_s` is the greatest, also between two windows. If `max_pause_s` is None,
    a pause may have any length. A window that is split has at most `most_pieces` pieces. If `most_pieces` is None, any
    number of pieces is allowed. An extra piece must save at least `start_cost` (EUR). `weekdays` are the days of the
    plan's deadlines, or of the starts of its spans if the plan has no deadline. `weekdays` contains at least one day,
    and Monday is 0. A plan with a `second_deadline` has two spans a day, and the whole duration or energy in each. A
    span lasts at most `max_span_days` days. `more_below` (EUR/kWh) is the price up to which a plan by duration for the
    cheapest hours runs longer than `duration_s`, or None if it doesn't.

    `price_limit` (EUR/kWh) is the highest price that a plan for low prices may use, or the lowest price that a plan for
    high prices may use. Windows count as equally good if their average prices differ from the best average price by at
    most `tolerance` (EUR/kWh). `prefer` determines the choice among equally good windows. `meter` is the id of the
    entity that measures the device's energy or power.

    Plans with the same `group` are planned together, as the module `group` says. Needs of a lower `priority` are met
    first. `group_limit_kw` is the most power that the whole group may use. `blocked` are times, [start, end) in UTC
    seconds, in which other plans of the group leave no room.
    """

    kind: PlanKind = PlanKind.CHEAPEST
    duration_s: int
    energy_kwh: float | None = None
    power_kw: float | None = None
    needed_since: int | None = None
    full_kwh: float | None = None
    full_since: int | None = None
    usual_price: float | None = None
    starts: Starts = Starts.NOW
    said_at: int | None = None
    min_piece_s: int | None = None
    shortest_piece_s: int = QUARTER_S
    min_pause_s: int = 0
    max_pause_s: int | None = None
    most_pieces: int | None = None
    start_cost: float = 0.0
    more_below: float | None = None
    earliest: time | None = None
    deadline: time | None = None
    second_deadline: time | None = None
    weekdays: frozenset[int] = frozenset(range(len(WEEKDAYS)))
    max_span_days: int = 1
    horizon: Horizon = Horizon.PUBLISHED
    price_limit: float | None = None
    tolerance: float = 0.0
    prefer: Preference = Preference.EARLIEST
    meter: str | None = None
    group: str | None = None
    priority: int = MAX_PRIORITY + 1
    group_limit_kw: float | None = None
    blocked: tuple[Piece, ...] = ()
    zone: Market = ESTONIA

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any], zone: Market = ESTONIA) -> PlanSettings:
        """Read the settings from the data of a plan's form.

        The units of the form are minutes, kWh, kW and c/kWh. Times of day are strings like "07:00:00". Weekdays are
        names from `WEEKDAYS`. Missing optional fields get their defaults. Raises a ValueError that names the wrong
        field.
        """
        kind = PlanKind(data.get("kind", PlanKind.CHEAPEST))
        return cls(
            kind=kind,
            **(
                _settings_without_duration(data)
                if kind.has_limit_instead_of_duration
                else _settings_with_duration(data)
            ),
            starts=Starts(data.get("starts", Starts.NOW)),
            earliest=_wall_time(data.get("earliest")),
            deadline=_wall_time(data.get("deadline")),
            second_deadline=second_deadline(data),
            weekdays=_weekdays(data.get("weekdays", WEEKDAYS)),
            max_span_days=int(_number(data, "days", 1, MAX_DAYS) or 1),
            horizon=Horizon(data.get("horizon", Horizon.PUBLISHED)),
            price_limit=_price(data, "price_cap"),
            meter=data.get("meter"),
            **group_settings(data),
            zone=zone,
        )

    @property
    def shortest_window_s(self) -> int:
        """The length of the plan's shortest possible window, in seconds.

        If `energy_kwh` is set, even a window of one piece may be shorter than the plan's duration.
        """
        if self.min_piece_s is not None:
            return self.min_piece_s
        return self.duration_s if self.energy_kwh is None else min(self.duration_s, QUARTER_S)

    @property
    def needed_s(self) -> Fraction:
        """The plan's duration in seconds. If `energy_kwh` is set, the duration is not rounded."""
        if self.energy_kwh is None or self.power_kw is None:
            return Fraction(self.duration_s)
        return _running_time_s(self.energy_kwh, self.power_kw)

    @property
    def full_s(self) -> Fraction:
        """The time in seconds in which the device uses `full_kwh`, not rounded."""
        return _running_time_s(self.full_kwh or 0, self.power_kw) if self.power_kw else Fraction(0)

    @property
    def in_group(self) -> tuple[str | None, float | None, float | None]:
        """What must fit the other plans of the group: its name, the limit and the device's power."""
        return self.group, self.group_limit_kw, self.power_kw

    @property
    def needs_no_energy(self) -> bool:
        """Return whether the plan's energy is given, and is 0 kWh, and the device is full."""
        return self.energy_kwh == 0 and not self.full_kwh


SETTINGS_OF_PIECES: Final = ("min_piece", "min_pause", "max_starts", "start_cost")
"""The fields of a plan's form that apply only to a plan in pieces."""

# The fields of a plan's form that mean nothing to a plan with a price limit instead of a duration.
_FIELDS_WITH_DURATION: Final = (
    "duration",
    "energy",
    "energy_full",
    "more_below",
    "deadline_2",
    "max_pause",
    "max_starts",
    "start_cost",
    "tolerance",
)

# The functions whose names begin with `form_` also accept a stored form with an unknown `kind` from a newer version of
# the integration.


def form_has_energy(form: Mapping[str, Any]) -> bool:
    """Return whether a plan's energy and power determine its duration."""
    return form.get("energy") is not None


def form_has_limit_instead_of_duration(form: Mapping[str, Any]) -> bool:
    """Return whether the form's `kind` is BELOW or ABOVE."""
    return any(kind.has_limit_instead_of_duration and kind == form.get("kind") for kind in PlanKind)


def form_looks_for_high_prices(form: Mapping[str, Any]) -> bool:
    """Return whether the form's `kind` is MOST_EXPENSIVE or ABOVE."""
    return any(kind.looks_for_high_prices and kind == form.get("kind") for kind in PlanKind)


def _settings_without_duration(data: Mapping[str, Any]) -> dict[str, Any]:
    for field in _FIELDS_WITH_DURATION:
        if data.get(field) is not None:
            raise PlanError(field, "not_by_limit")
    if data.get("power") is not None and not group_of(data):
        raise PlanError("power", "not_by_limit")
    if data.get("price_cap") is None:
        raise PlanError("price_cap", "limit_needed")
    shortest = _length_s(data, "min_piece", QUARTER_MIN)
    return {
        "duration_s": 0,
        "power_kw": _number(data, "power", MIN_POWER_KW, MAX_POWER_KW),
        "min_piece_s": shortest,
        "shortest_piece_s": shortest,
        "min_pause_s": _length_s(data, "min_pause", 0, least=0),
    }


def _settings_with_duration(data: Mapping[str, Any]) -> dict[str, Any]:
    energy = _number(data, "energy", 0, MAX_ENERGY_KWH)
    full = _number(data, "energy_full", 0, MAX_ENERGY_KWH)
    power = _number(data, "power", MIN_POWER_KW, MAX_POWER_KW)
    if full is not None and (energy is None or form_looks_for_high_prices(data)):
        raise PlanError("energy_full", "full_without_energy")
    if energy is None and power is not None and not group_of(data):
        raise PlanError("energy", "energy_needed")
    if energy is not None and power is None:
        raise PlanError("power", "power_needed")
    if energy is None or power is None:
        duration_s = _length_s(data, "duration", _DEFAULT_DURATION_MIN)
    else:
        duration_s = round_up_to_quarter(_running_time_s(energy, power))
    pieces = _piece_settings(data, duration_s)
    return {
        "duration_s": duration_s,
        "energy_kwh": energy,
        "power_kw": power,
        "full_kwh": full,
        **pieces,
        "max_pause_s": _longest_pause_s(data, pieces.get("min_pause_s", 0)),
        "more_below": _more_below(data),
        "tolerance": _euros(data, "tolerance", MAX_TOLERANCE_CENTS),
        "prefer": Preference(data.get("prefer", Preference.EARLIEST)),
    }


def group_of(form: Mapping[str, Any]) -> str | None:
    """Return the name of the group with whose plans a plan or a battery is planned together."""
    return f"{form.get('group') or ''}".strip() or None


def group_settings(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a plan's form that belong to its group. Raises PlanError."""
    group = group_of(data)
    priority = _number(data, "priority", 1, MAX_PRIORITY)
    limit, power = (_number(data, field, MIN_POWER_KW, MAX_POWER_KW) for field in ("group_limit", "power"))
    for field, given in (("priority", priority), ("group_limit", limit)):
        if given is not None and group is None:
            raise PlanError(field, "only_in_group")
    if limit is not None and power is None:
        raise PlanError("power", "power_needed_in_group")
    if limit is not None and power is not None and power > limit:
        raise PlanError("power", "power_above_limit", given=f"{power:g}", limit=f"{limit:g}")
    return {
        "group": group,
        "priority": int(priority or MAX_PRIORITY + 1),
        "group_limit_kw": limit,
    }


def _piece_settings(data: Mapping[str, Any], duration_s: int) -> dict[str, Any]:
    shortest = _length_s(data, "min_piece", DEFAULT_MIN_PIECE_MIN)
    most_pieces = _number(data, "max_starts", 1, MAX_PIECES)
    settings = {
        "min_piece_s": min(shortest, duration_s),
        "shortest_piece_s": shortest,
        "min_pause_s": _length_s(data, "min_pause", 0, least=0),
        "most_pieces": None if most_pieces is None else int(most_pieces),
        "start_cost": _euros(data, "start_cost", MAX_START_COST_CENTS),
    }
    return settings if data.get("split") else {}


def _longest_pause_s(data: Mapping[str, Any], min_pause_s: int) -> int | None:
    if data.get("max_pause") is None:
        return None
    longest_s = _length_s(data, "max_pause", 0, most=LONGEST_PAUSE_MIN)
    if longest_s < min_pause_s:
        raise PlanError("max_pause", "max_pause_too_short")
    if data.get("tolerance") or data.get("prefer") == Preference.LATEST:
        raise PlanError("max_pause", "max_pause_with_tolerance")
    return longest_s


def _running_time_s(energy_kwh: float, power_kw: float) -> Fraction:
    """Return the time in seconds in which a device uses `energy_kwh`.

    The division uses fractions, because 2.1 / 0.3 is more than 7 in floats.
    """
    return Fraction(str(energy_kwh)) / Fraction(str(power_kw)) * HOUR_S


def _number(data: Mapping[str, Any], field: str, least: float, most: float) -> float | None:
    number = data.get(field)
    if number is not None and not least <= number <= most:
        raise PlanError(field, "out_of_range", given=number, least=least, most=most)
    return number


def _euros(data: Mapping[str, Any], field: str, most_cents: float) -> float:
    return round((_number(data, field, 0, most_cents) or 0) / _CENTS, _PRICE_DECIMALS)


def _length_s(
    data: Mapping[str, Any], field: str, default: int, *, least: int = QUARTER_MIN, most: int = LONGEST_DURATION_MIN
) -> int:
    minutes = data.get(field, default)
    if not least <= minutes <= most or minutes % QUARTER_MIN:
        raise PlanError(field, "invalid_length", given=f"{minutes:g}", most=most)
    return int(minutes) * _MINUTE_S


def _wall_time(wall: str | None) -> time | None:
    return None if wall is None else time.fromisoformat(wall)


def second_deadline(data: Mapping[str, Any]) -> time | None:
    """Read the second deadline of a plan's form. Raises PlanError if another field doesn't suit it."""
    second = _wall_time(data.get("deadline_2"))
    if second is None:
        return None
    if data.get("deadline") is None:
        raise PlanError("deadline_2", "second_without_deadline")
    if second == _wall_time(data["deadline"]):
        raise PlanError("deadline_2", "same_deadlines")
    if data.get("earliest") is not None:
        raise PlanError("earliest", "earliest_with_second")
    if (data.get("days") or 1) > 1:
        raise PlanError("days", "days_with_second")
    return second


def _weekdays(names: Collection[str]) -> frozenset[int]:
    if not names:  # the search for the next day of a plan would never end
        raise ValueError("weekdays: choose at least one day")
    return frozenset(map(WEEKDAYS.index, names))


def _more_below(data: Mapping[str, Any]) -> float | None:
    price = _price(data, "more_below")
    if price is not None:
        if data.get("energy") is not None or form_looks_for_high_prices(data):
            raise PlanError("more_below", "more_without_duration")
        if any(data.get(field) for field in ("max_pause", "tolerance")) or data.get("prefer") == Preference.LATEST:
            raise PlanError("more_below", "more_with_tolerance")
    return price


def _price(data: Mapping[str, Any], field: str) -> float | None:
    cents = data.get(field)
    if cents is not None and not math.isfinite(cents):
        raise PlanError(field, "not_a_number", given=cents)
    return None if cents is None else round(cents / _CENTS, _PRICE_DECIMALS)

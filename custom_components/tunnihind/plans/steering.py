"""The form of a plan, and the changes that automations and dashboards make to the plan.

A change has the same field names and units as the form. A change lasts until it is cleared or replaced, or until the
form is saved again. A restart of Home Assistant doesn't end a change. The form has no field for the plan's switch, so
saving the form does not change the switch.

The energy of a plan has a date: the device needs this energy from then on. The date is the time at which the plan was
made, until somebody changes the energy. The energy until the device is full has a date of its own in the same way. If
an automation names the time of the reading from which it computed the energy, this time is the date, so the same energy
with a newer reading is a new need.

If a plan starts with the next whole period, the periods that began before a certain time don't count. This is the time
at which the plan was made, somebody said `starts`, or a need appeared where there was none. A newer reading of a need
doesn't put it off: otherwise a car that reports its charge every hour would never be charged.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Self, override

from ..core.market import ESTONIA, Market
from .settings import SETTINGS_OF_PIECES, PlanError, PlanSettings
from .spans import longest_open_time_s

NO_CHANGED_VALUES: Final[Mapping[str, Any]] = MappingProxyType({})
_MINUTE_S: Final = 60
_ENERGIES: Final = ("energy", "energy_full")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChange:
    """A change to a plan, but not to the plan's form.

    `values` maps the form's field names to new values. The value None empties a field. For the fields in `clear`, the
    form's values apply again. `enabled` is the new state of the plan's switch. If `enabled` is None, the switch stays
    as it is. `energy_read_at` is the time (UTC seconds) of the reading from which the new energy was computed. If
    `replan` is true, the plan chooses again all time that it need not run (see `plan.replanned`). If `must_fit` is
    true, set or cleared fields that leave the plan too little time to run are refused. Entities don't set `must_fit`.
    An entity changes only one field at a time, so between two changes the plan may not have enough time.
    """

    values: Mapping[str, Any] = NO_CHANGED_VALUES
    clear: Collection[str] = ()
    enabled: bool | None = None
    energy_read_at: int | None = None
    replan: bool = False
    must_fit: bool = False


@dataclass(frozen=True, slots=True)
class Steered(ABC):
    """The form of a plan or a battery, the values that differ from the form, and the state of the switch."""

    form: Mapping[str, Any]
    changes: Mapping[str, Any] = field(default_factory=dict)
    enabled: bool = True

    @property
    def current_values(self) -> dict[str, Any]:
        """The values of the form's fields after all changes, keyed by field name, without empty fields."""
        return {name: value for name, value in {**self.form, **self.changes}.items() if value is not None}

    @abstractmethod
    def with_change(self, change: PlanChange, now: int) -> Self:
        """Return a copy with `change` applied at `now` (UTC seconds). Raises ValueError if this is not allowed."""

    def with_values(self, change: PlanChange) -> Self:
        """Return a copy with the change's values and switch. Raises PlanError if a field is both set and cleared."""
        if both := sorted(set(change.clear) & change.values.keys()):
            raise PlanError(both[0], "set_and_cleared")
        asked = {**self.changes, **change.values}
        changes = {
            name: value for name, value in asked.items() if name not in change.clear and value != self.form.get(name)
        }
        return replace(self, changes=changes, enabled=self.enabled if change.enabled is None else change.enabled)

    def without_changes(self) -> Self:
        """Return a copy with the values of the form and the present state of the switch."""
        return replace(self, changes={})


@dataclass(frozen=True, slots=True)
class SteeredPlan(Steered):
    """A plan with its changes.

    `needed_since` is the date of the plan's energy, `full_since` that of the energy until the device is full, and
    `said_at` the time from which `starts` counts, all in UTC seconds (see the module's docstring).
    """

    needed_since: int | None = None
    full_since: int | None = None
    said_at: int | None = None

    @classmethod
    def made(cls, form: Mapping[str, Any], now: int) -> SteeredPlan:
        """Return a plan that was just made, at `now` (UTC seconds)."""
        return cls(form, needed_since=now, full_since=now, said_at=now)

    def settings(self, zone: Market = ESTONIA) -> PlanSettings:
        """Return the settings after all changes, for a plan in `zone`.

        Raises the errors of `PlanSettings.from_mapping`.
        """
        settings = PlanSettings.from_mapping(self.current_values, zone)
        return replace(settings, needed_since=self.needed_since, full_since=self.full_since, said_at=self.said_at)

    @override
    def with_change(self, change: PlanChange, now: int) -> SteeredPlan:
        """Return the plan with `change` applied at `now` (UTC seconds), except `replan`.

        Raises ValueError if the changed settings are not valid. Also raises PlanError in these cases:

        - `change` sets and clears the same field.
        - `change` has the time of a reading, but no energy.
        - `change` sets a duration, but the plan's energy determines the duration.
        - `change` sets a field of `SETTINGS_OF_PIECES` to a value other than 0, but the plan runs in one piece.
        - The form has an energy, but the changed plan has neither an energy nor a duration.
        - `must_fit` is true, and the set or cleared fields leave the plan too little time to run.
        """
        changed = self.with_values(change)
        if change.energy_read_at is not None and all(change.values.get(name) is None for name in _ENERGIES):
            raise PlanError("energy", "reading_without_energy")
        read_at = now if change.energy_read_at is None else min(change.energy_read_at, now)

        def date_of(energy: str, before: int | None) -> int | None:
            has_reading = change.energy_read_at is not None and change.values.get(energy) is not None
            has_changed = changed.current_values.get(energy) != self.current_values.get(energy)
            return read_at if has_changed or (has_reading and read_at > (before or 0)) else before

        changed = replace(
            changed,
            needed_since=date_of("energy", self.needed_since),
            full_since=date_of("energy_full", self.full_since),
        )
        if "starts" in change.values or changed.current_values.get("starts") != self.current_values.get("starts"):
            changed = replace(changed, said_at=now)
        elif _needs_energy(changed.current_values) and not _needs_energy(self.current_values):
            changed = replace(changed, said_at=read_at)
        settings = changed.settings()
        if (
            self.form.get("energy") is not None
            and settings.energy_kwh is None
            and "duration" not in changed.current_values
        ):
            raise PlanError("duration", "duration_needed")
        if settings.energy_kwh is not None and "duration" in change.values:
            raise PlanError("duration", "duration_follows")
        for field_name in SETTINGS_OF_PIECES:
            if change.values.get(field_name) and settings.min_piece_s is None:
                raise PlanError(field_name, "only_in_pieces")
        if change.must_fit and (change.values or change.clear):
            _check_window_fits_span(settings)
        return changed

    def with_form(self, form: Mapping[str, Any], now: int) -> SteeredPlan:
        """Return the plan with the new form `form`, saved at `now` (UTC seconds).

        If `form` differs from the old form, all changed values are dropped. If one of the form's energies differs, it
        is needed from `now` on. If an energy or `starts` differs, `starts` counts from `now` on. The plan's switch
        stays as it is.
        """
        if form == self.form:
            return self
        is_new_need = form.get("energy") != self.form.get("energy")
        is_new_full = form.get("energy_full") != self.form.get("energy_full")
        is_said = is_new_need or is_new_full or form.get("starts") != self.form.get("starts")
        return replace(
            self,
            form=form,
            changes={},
            needed_since=now if is_new_need else self.needed_since,
            full_since=now if is_new_full else self.full_since,
            said_at=now if is_said else self.said_at,
        )


def _needs_energy(values: Mapping[str, Any]) -> bool:
    return any(values.get(name) for name in _ENERGIES)


def _check_window_fits_span(settings: PlanSettings) -> None:
    if settings.shortest_window_s > (room_s := longest_open_time_s(settings)):
        raise PlanError("deadline", "no_room", needed=settings.shortest_window_s // _MINUTE_S, room=room_s // _MINUTE_S)

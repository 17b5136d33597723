"""Reads what plans need from Home Assistant: a battery's stored energy, the sun's forecast, past load and past sun.

The meters and the sun's forecast are those of the Energy dashboard, unless a battery's form names others. Nothing is
guessed: what can't be read raises `NotKnown` with the reason.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from math import isfinite
from typing import Any, Final

from homeassistant.components.energy.const import DOMAIN as ENERGY
from homeassistant.components.energy.data import async_get_manager
from homeassistant.components.energy.websocket_api import async_get_energy_platforms
from homeassistant.const import ATTR_UNIT_OF_MEASUREMENT, PERCENTAGE
from homeassistant.core import HomeAssistant, State
from homeassistant.util import dt as dt_util
from homeassistant.util.unit_conversion import EnergyConverter

from ..battery.outlook import expected_use, usual_load, usual_sun
from ..battery.settings import METERS, PERCENT, BatterySettings
from ..const import LOGGER
from ..core.market import DAY_S, HOUR_S, QUARTER_S, WEEK_S, Market, floor_hour
from ..past.meter import GridEnergy, energy_by_period
from ..past.recorder import billed_stretches, energy_by_hour, has_recorder
from ..plans.solver import Piece

_PAST_S: Final = 4 * WEEK_S
# A battery may show slightly more energy than its usable capacity.
_MOST_STORED_PART: Final = 1.05
_WH_PER_KWH: Final = 1_000
_SURPLUS_DECIMALS: Final = 3
_IMPORT, _EXPORT, _SUN, _CHARGE, _DISCHARGE = METERS
GRID_METERS: Final = (_IMPORT, _EXPORT, _CHARGE, _DISCHARGE)
"""The meters of `GridEnergy`, in the order of its fields."""
# How the home's load follows from its meters.
_SIGNS: Final[Mapping[str, int]] = {_IMPORT: 1, _SUN: 1, _DISCHARGE: 1, _EXPORT: -1, _CHARGE: -1}


class NoPlanReason(StrEnum):
    """Why a battery has no plan."""

    SWITCHED_OFF = "switched_off"
    NOT_PLANNED_YET = "not_planned_yet"
    PLANNING_FAILED = "planning_failed"
    STATE_OF_CHARGE_UNKNOWN = "state_of_charge_unknown"
    STATE_OF_CHARGE_OLD = "state_of_charge_old"
    STATE_OF_CHARGE_UNIT = "state_of_charge_unit"
    STATE_OF_CHARGE_RANGE = "state_of_charge_range"
    NO_PRICES = "no_prices"
    NO_SUN_FORECAST = "no_sun_forecast"
    NO_LOAD = "no_load"


STATE_OF_CHARGE_REASONS: Final = frozenset(
    {
        NoPlanReason.STATE_OF_CHARGE_UNKNOWN,
        NoPlanReason.STATE_OF_CHARGE_OLD,
        NoPlanReason.STATE_OF_CHARGE_UNIT,
        NoPlanReason.STATE_OF_CHARGE_RANGE,
    }
)
"""The reasons that a new state of charge may remove."""


class NotKnown(Exception):
    """Something that a plan needs is not known. `missing` has the names of missing meters."""

    def __init__(self, reason: NoPlanReason, missing: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.missing = tuple(missing)


@dataclass(frozen=True, slots=True)
class Reading:
    """The energy stored in a battery, in kWh, and when its entity last reported it, in Home Assistant's UTC seconds."""

    stored_kwh: float
    reported_at: int


@dataclass(frozen=True, slots=True)
class HomeEnergy:
    """What is known of a home's energy, by the start of the hour in Home Assistant's UTC seconds, in kWh.

    `sun_forecast` is empty if the home has no sun. `past_load` and `past_sun` cover the past four weeks.
    """

    past_load: Mapping[int, float]
    past_sun: Mapping[int, float]
    sun_forecast: Mapping[int, float]

    def shifted(self, ahead_s: int) -> HomeEnergy:
        """Return what is known by the time of a clock that is `ahead_s` seconds ahead, to the full hour."""
        shift = ahead_s // HOUR_S * HOUR_S

        def moved(energies: Mapping[int, float]) -> dict[int, float]:
            return {hour + shift: kwh for hour, kwh in energies.items()}

        return HomeEnergy(moved(self.past_load), moved(self.past_sun), moved(self.sun_forecast)) if shift else self

    def usual_sun(self, first: int, end: int) -> dict[int, float]:
        """Return the sun that stands in where the forecast has no value, from `first` to `end` (UTC seconds)."""
        return usual_sun(self.past_sun, first, end) if self.sun_forecast else {}

    def surplus_kw(self, zone: Market, first: int, end: int) -> dict[int, float]:
        """Return what the sun is expected to give beyond the usual load, from `first` to `end` (UTC seconds).

        The result has the mean power in kW by the start of the UTC hour. Hours without a surplus are left out.
        """
        use = expected_use(usual_load(self.past_load, zone, first, end), self.sun_forecast, self.usual_sun(first, end))
        surplus = {hour: round(-kwh, _SURPLUS_DECIMALS) for hour, kwh in use.items()}
        return {hour: kwh for hour, kwh in surplus.items() if kwh > 0}


def reading_of(state: State | None, capacity_kwh: float) -> Reading:
    """Return the energy stored in a battery. Raises NotKnown if the state has no number, or no unit that fits."""
    number = _number(state.state) if state else None
    if state is None or number is None:
        raise NotKnown(NoPlanReason.STATE_OF_CHARGE_UNKNOWN)
    unit = state.attributes.get(ATTR_UNIT_OF_MEASUREMENT)
    if unit == PERCENTAGE:
        stored = number / PERCENT * capacity_kwh
    elif unit in EnergyConverter.VALID_UNITS:
        stored = EnergyConverter.convert(number, unit, "kWh")
    else:
        raise NotKnown(NoPlanReason.STATE_OF_CHARGE_UNIT)
    if not 0 <= stored <= _MOST_STORED_PART * capacity_kwh:
        raise NotKnown(NoPlanReason.STATE_OF_CHARGE_RANGE)
    return Reading(min(stored, capacity_kwh), int(state.last_reported.timestamp()))


class HomeEnergyReader:
    """Reads the home's energy. Once a meter has a past, it is read again in each hour, after the recorder's work."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self._past: dict[tuple[str, int], Mapping[int, float]] = {}

    async def has_sun(self, settings: BatterySettings | None) -> bool:
        """Return whether the Energy dashboard or a battery's form names any sun."""
        return _has_sun(_meters(await _energy_sources(self._hass), settings), settings)

    async def read(self, settings: BatterySettings | None, now: int, *, sells: bool) -> HomeEnergy:
        """Return the home's energy as of `now` on Home Assistant's clock.

        `settings` are those of the home's battery, or None if no battery is planned. `sells` says whether the household
        sells electricity. Raises NotKnown if the load or the sun is not known.
        """
        sources = await _energy_sources(self._hass)
        meters = _meters(sources, settings)
        has_sun = _has_sun(meters, settings)
        forecast = await self._sun_forecast(sources, settings, now) if has_sun else {}
        past_sun = await self._past_energy(meters[_SUN], now) if meters[_SUN] else {}
        if settings is not None and settings.load is not None:
            past_load = await self._past_energy([settings.load], now)
        else:
            _check_meters(meters, METERS, has_sun=has_sun, sells=sells, has_battery=settings is not None)
            past_load = await self._past_load(meters, now)
        if not past_load:
            raise NotKnown(NoPlanReason.NO_LOAD)
        return HomeEnergy(past_load, past_sun, forecast)

    async def _sun_forecast(
        self, sources: Iterable[Mapping[str, Any]], settings: BatterySettings | None, now: int
    ) -> dict[int, float]:
        """Return the sun's forecast. Raises NotKnown if there is none, or if it ended a day ago."""
        if settings is not None and settings.sun_forecast is not None:
            state = self._hass.states.get(settings.sun_forecast)
            found = sun_forecast_of(state.attributes) if state else {}
        else:
            found = await self._forecast_of_dashboard(sources)
        if max(found, default=0) <= now - DAY_S:
            raise NotKnown(NoPlanReason.NO_SUN_FORECAST)
        return found

    async def _forecast_of_dashboard(self, sources: Iterable[Mapping[str, Any]]) -> dict[int, float]:
        entry_ids = {
            entry_id
            for source in sources
            if source["type"] == "solar"
            for entry_id in source.get("config_entry_solar_forecast") or ()
        }
        platforms = await async_get_energy_platforms(self._hass) if entry_ids else {}
        energies: list[tuple[datetime, float]] = []
        for entry_id in sorted(entry_ids):
            entry = self._hass.config_entries.async_get_entry(entry_id)
            if entry is None or entry.domain not in platforms:
                raise NotKnown(NoPlanReason.NO_SUN_FORECAST)
            try:
                forecast: Any = await platforms[entry.domain](self._hass, entry_id)
                energies += _timed_numbers(forecast["wh_hours"].items())
            except Exception as error:  # another integration's code
                LOGGER.debug("the sun's forecast of %r can't be read: %r", entry.title, error)
                raise NotKnown(NoPlanReason.NO_SUN_FORECAST) from error
        return _by_hour((moment, wh / _WH_PER_KWH) for moment, wh in energies)

    async def _past_load(self, meters: Mapping[str, Iterable[str]], now: int) -> Mapping[int, float]:
        """Return the home's load in the hours in which every meter has a reading."""
        energies = {name: await self._past_energy(meters[name], now) for name in METERS if meters[name]}
        if silent := [name for name, energy in energies.items() if not energy]:
            raise NotKnown(NoPlanReason.NO_LOAD, silent)
        hours = set.intersection(*map(set, energies.values()))
        return {hour: max(sum(_SIGNS[name] * energies[name][hour] for name in energies), 0.0) for hour in hours}

    async def _past_energy(self, meters: Iterable[str], now: int) -> Mapping[int, float]:
        """Return the sum of several meters in the hours in which each has a reading."""
        if not has_recorder(self._hass):
            return {}
        energies = [await self._past_energy_of(meter, now) for meter in meters]
        return {hour: sum(energy[hour] for energy in energies) for hour in set.intersection(*map(set, energies))}

    async def _past_energy_of(self, meter: str, now: int) -> Mapping[int, float]:
        # The recorder writes the statistics of an hour in the first minutes of the next hour.
        end = floor_hour(now - QUARTER_S)
        if not self._past.get((meter, end)):
            self._past = {key: known for key, known in self._past.items() if key[1] == end}
            self._past[meter, end] = await energy_by_hour(self._hass, meter, end - _PAST_S, end)
        return self._past[meter, end]


async def read_grid_energy(
    hass: HomeAssistant, settings: BatterySettings, periods: Sequence[Piece], *, sells: bool
) -> dict[Piece, GridEnergy | None]:
    """Return what the meters of the grid and of the battery counted in periods on Home Assistant's clock.

    A period in which a meter has no certain reading gets None. Periods before a meter's first reading are left out.
    Raises NotKnown if a meter is missing or has no reading at all.
    """
    meters = _meters(await _energy_sources(hass), settings)
    _check_meters(meters, GRID_METERS, has_sun=_has_sun(meters, settings), sells=sells)
    if not periods or not has_recorder(hass):
        return {}
    since, until = min(start for start, _ in periods), max(end for _, end in periods)
    covered, counted, silent = set(periods), [], []
    for name in GRID_METERS:
        sums = dict.fromkeys(periods, 0.0)
        for meter in meters[name]:
            stretches = await billed_stretches(hass, meter, since, until)
            energy = energy_by_period(stretches, periods)
            sums = {period: kwh + energy[period] for period, kwh in sums.items() if period in energy}
            covered = {period for period in covered if stretches and stretches[0].start <= period[0]}
            if not stretches:
                silent.append(name)
        counted.append(sums)
    if silent:
        raise NotKnown(NoPlanReason.NO_LOAD, silent)
    return {
        period: GridEnergy(*(sums[period] for sums in counted)) if all(period in sums for sums in counted) else None
        for period in covered
    }


async def dashboard_meters(hass: HomeAssistant) -> Mapping[str, Sequence[str]]:
    """Return the meters of the Energy dashboard by their field in a battery's form."""
    return _meters(await _energy_sources(hass), None)


async def _energy_sources(hass: HomeAssistant) -> list[dict[str, Any]]:
    if ENERGY not in hass.config.components:
        return []
    preferences: Any = (await async_get_manager(hass)).data
    return list(preferences["energy_sources"]) if preferences else []


def _has_sun(meters: Mapping[str, Collection[str]], settings: BatterySettings | None) -> bool:
    return bool(meters[_SUN] or (settings and settings.sun_forecast))


def _check_meters(
    meters: Mapping[str, Collection[str]],
    names: Iterable[str],
    *,
    has_sun: bool,
    sells: bool,
    has_battery: bool = True,
) -> None:
    """Raise NotKnown if one of the meters `names` is missing that the home needs."""
    needed = {_IMPORT: True, _EXPORT: has_sun or sells, _SUN: has_sun, _CHARGE: has_battery, _DISCHARGE: has_battery}
    if missing := [name for name in names if needed[name] and not meters[name]]:
        raise NotKnown(NoPlanReason.NO_LOAD, missing)


def _meters(sources: Iterable[Mapping[str, Any]], settings: BatterySettings | None) -> dict[str, list[str]]:
    """Return the meters by their field in the form: those of the form, or else those of the Energy dashboard."""
    fields = {"grid": (_IMPORT, _EXPORT), "solar": (_SUN, None), "battery": (_DISCHARGE, _CHARGE)}
    meters: dict[str, list[str]] = {name: [] for name in METERS}
    for source in sources:
        for field, key in zip(fields.get(source["type"], ()), ("stat_energy_from", "stat_energy_to"), strict=False):
            if field is not None and (meter := source.get(key)):
                meters[field].append(meter)
    return meters | {name: [meter] for name, meter in (settings.meters if settings else {}).items()}


def sun_forecast_of(attributes: Mapping[str, Any]) -> dict[int, float]:
    """Return the sun's forecast in an entity's attributes: kWh by the start of the hour in UTC seconds.

    The forecast is one of these attributes: `wh_hours` or `wh_period`, mappings of times to the Wh from then on;
    `watts`, a mapping of times to the mean power from then on; `detailedHourly` or `detailedForecast`, lists of
    `period_start` and `pv_estimate` in kW. If there is none, the result is empty.
    """
    for name in ("wh_hours", "wh_period"):
        if isinstance(energies := attributes.get(name), Mapping):
            return _by_hour((moment, wh / _WH_PER_KWH) for moment, wh in _timed_numbers(energies.items()))
    if isinstance(powers := attributes.get("watts"), Mapping):
        watts = _timed_numbers(powers.items())
        return _by_hour(_energies([(moment, power / _WH_PER_KWH) for moment, power in watts]))
    for name in ("detailedHourly", "detailedForecast"):
        if isinstance(listed := attributes.get(name), list):
            rows = ((row.get("period_start"), row.get("pv_estimate")) for row in listed if isinstance(row, Mapping))
            return _by_hour(_energies(_timed_numbers(rows)))
    return {}


def _energies(powers: list[tuple[datetime, float]]) -> Iterable[tuple[datetime, float]]:
    """Yield the kWh from each time on, for powers in kW. The last time has the step of the time before it."""
    times = [moment for moment, _ in powers]
    steps = [(later - moment).total_seconds() for moment, later in pairwise(times)]
    for (moment, power), step in zip(powers, [*steps, *(steps[-1:] or [HOUR_S])], strict=False):
        yield moment, power * min(step, HOUR_S) / HOUR_S


def _timed_numbers(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[datetime, float]]:
    """Return the pairs of a time and a finite number, in the order of their times. All other pairs are left out."""
    found = []
    for when, given in pairs:
        moment, number = _moment(when), _number(given)
        if moment is not None and number is not None:
            found.append((dt_util.as_utc(moment), max(number, 0.0)))
    return sorted(found)


def _by_hour(energies: Iterable[tuple[datetime, float]]) -> dict[int, float]:
    """Sum energies by the hour. Hours between the first and the last without an energy have none, such as nights."""
    sums: dict[int, float] = {}
    for moment, kwh in energies:
        hour = floor_hour(moment.timestamp())
        sums[hour] = sums.get(hour, 0.0) + kwh
    return {hour: sums.get(hour, 0.0) for hour in range(min(sums), max(sums) + 1, HOUR_S)} if sums else {}


def _moment(given: Any) -> datetime | None:  # noqa: ANN401  from another integration
    try:
        return given if isinstance(given, datetime) else dt_util.parse_datetime(str(given))
    except ValueError:  # such as the 30th of February
        return None


def _number(given: Any) -> float | None:  # noqa: ANN401  from another integration
    try:
        number = float(given)
    except TypeError, ValueError:
        return None
    return number if isfinite(number) else None

"""Reads statistics from Home Assistant's recorder, and writes the integration's own statistics.

The id of a written statistic depends on the zone, the mode and the number of its config entry. A statistic is never
shared between zones, or between live servers, demos and rehearsals. Entries of the same zone and mode have different
numbers. If a household replaces a server with another server of the same zone and mode, the integration continues the
old statistics.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import batched, count
from typing import Any, Final, Literal

from homeassistant.components.recorder.const import DOMAIN as RECORDER
from homeassistant.components.recorder.models import StatisticData, StatisticMeanType, StatisticMetaData
from homeassistant.components.recorder.statistics import (
    async_add_external_statistics,
    get_metadata,
    statistics_during_period,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.recorder import get_instance
from homeassistant.util import dt as dt_util
from homeassistant.util import slugify
from homeassistant.util.unit_conversion import EnergyConverter, PowerConverter

from ..client.answers import Mode
from ..const import CONF_STATISTIC_NUMBERS, DOMAIN, EUR, EUR_PER_KWH
from ..core.market import ESTONIA, HOUR_S
from ..errors import Refusal
from ..prices.zones import zone_of
from .meter import (
    LONGEST_EXCURSION_S,
    CounterReading,
    EnergyStretch,
    energy_by_slice,
    energy_from_counter,
    energy_from_power,
    with_trusted_counts,
)
from .paid_prices import FIVE_MIN_S, CostRow, HourPrice, MeasuredEnergy, hours_between

_ENGLISH: Final = "en"
# The recorder writes each batch of rows in a transaction of its own. A batch has at most this many rows, so that no
# transaction takes long.
_ROWS_PER_BATCH: Final = 1_000
_UNITS: Final = {"energy": "kWh", "power": "kW"}
# Home Assistant doesn't translate the names of statistics, so both names are given here in the integration's languages.
_PRICE_STATISTIC_NAMES: Final = {
    "en": "{title}: price paid",
    "et": "{title}: makstud hind",
    "ru": "{title}: уплаченная цена",
}
_COST_STATISTIC_NAMES: Final = {
    "en": "{title}: cost of {energy}",
    "et": "{title}: kulu, {energy}",
    "ru": "{title}: затраты, {energy}",
}


@callback
def async_price_metadata(hass: HomeAssistant, entry: ConfigEntry[Any], mode: Mode) -> StatisticMetaData:
    """Return the metadata of the entry's price statistic."""
    return StatisticMetaData(
        statistic_id=_statistic_id("price_paid", *_async_entry_id_parts(hass, entry, mode)),
        source=DOMAIN,
        name=_PRICE_STATISTIC_NAMES.get(hass.config.language, _PRICE_STATISTIC_NAMES[_ENGLISH]).format(
            title=entry.title
        ),
        unit_of_measurement=EUR_PER_KWH,
        unit_class=None,
        mean_type=StatisticMeanType.ARITHMETIC,
        has_sum=False,
    )


@callback
def async_cost_metadata(
    hass: HomeAssistant, entry: ConfigEntry[Any], mode: Mode, *, energy_id: str, energy: str
) -> StatisticMetaData:
    """Return the metadata of the entry's cost statistic for the energy statistic `energy_id`.

    `energy` is the name of the energy statistic.
    """
    return StatisticMetaData(
        statistic_id=_statistic_id("cost", *_async_entry_id_parts(hass, entry, mode), slugify(energy_id)),
        source=DOMAIN,
        name=_COST_STATISTIC_NAMES.get(hass.config.language, _COST_STATISTIC_NAMES[_ENGLISH]).format(
            title=entry.title, energy=energy
        ),
        unit_of_measurement=EUR,
        unit_class=None,
        mean_type=StatisticMeanType.NONE,
        has_sum=True,
    )


def _statistic_id(*parts: str) -> str:
    return f"{DOMAIN}:{'_'.join(parts)}"


@callback
def _async_entry_id_parts(hass: HomeAssistant, entry: ConfigEntry[Any], mode: Mode) -> list[str]:
    """Return the parts of a statistic's id that identify the entry: zone, mode and number.

    The zone Estonia, the live mode and the number 1 are left out. If the entry has no number in `mode`, it gets the
    lowest number that no entry of the zone has in `mode`. The entry keeps this number.
    """
    zone = zone_of(entry.data)
    numbers: dict[str, int] = entry.data.get(CONF_STATISTIC_NUMBERS, {})
    if mode not in numbers:
        others = (other for other in hass.config_entries.async_entries(DOMAIN) if zone_of(other.data) is zone)
        taken = {other.data.get(CONF_STATISTIC_NUMBERS, {}).get(mode) for other in others}
        numbers = {**numbers, mode: next(number for number in count(1) if number not in taken)}
        hass.config_entries.async_update_entry(entry, data={**entry.data, CONF_STATISTIC_NUMBERS: numbers})
    parts: list[str] = [] if zone is ESTONIA else [zone.zone]
    parts += [] if mode is Mode.LIVE else [mode.value]
    return parts if numbers[mode] == 1 else [*parts, f"{numbers[mode]}"]


type _Column = Literal["change", "last_reset", "max", "mean", "min", "state", "sum"]


def check_recorder(hass: HomeAssistant) -> None:
    """If Home Assistant's recorder is not set up, raise Refusal."""
    if not has_recorder(hass):
        raise Refusal("no_recorder")


def has_recorder(hass: HomeAssistant) -> bool:
    """Return whether Home Assistant's recorder is set up."""
    return RECORDER in hass.config.components


async def measured_stretches(hass: HomeAssistant, meter: str, start: int, end: int) -> list[EnergyStretch]:
    """Return the energy that a meter of energy or power measured from `start` to `end` (UTC seconds).

    The readings are those of the recorder's five-minute statistics. The result also covers up to a day before and after
    this time. The function first waits until the recorder has finished all earlier jobs.
    """
    await _wait_for_recorder(hass, meter)
    unit = await _unit_of_statistic(hass, meter)
    start, end = start - LONGEST_EXCURSION_S, end + LONGEST_EXCURSION_S
    if unit in EnergyConverter.VALID_UNITS:
        readings = await _counter_readings(hass, meter, start, end)
        return await hass.async_add_executor_job(energy_from_counter, readings)
    if unit in PowerConverter.VALID_UNITS:
        return energy_from_power(_values(await _rows(hass, meter, "5minute", {"mean"}, start, end), "mean"))
    return []


async def measured_energy(
    hass: HomeAssistant, energy_id: str, start: int, end: int, *, by_quarter: bool
) -> MeasuredEnergy:
    """Return the energy of an energy statistic from `start` to `end` (UTC seconds).

    If `by_quarter` is true, five-minute readings are included. The counters of Home Assistant's own meters are read
    from five-minute statistics where these exist, as `measured_stretches` does, and else from hourly statistics. The
    statistics of other integrations contain the energy of each hour.
    """
    if ":" in energy_id:
        hours = await _rows(hass, energy_id, "hour", {"change"}, start, end)
        fives = await _rows(hass, energy_id, "5minute", {"change"}, start, end) if by_quarter else {}
        return MeasuredEnergy(_values(hours, "change"), _values(fives, "change"))
    stretches, newest_since = await _counter_stretches(hass, energy_id, start, end)
    five_minutes = range(max(start, newest_since), end, FIVE_MIN_S) if by_quarter else ()
    # Years have so many hours that Home Assistant would wait.
    by_hour, by_five_minutes = await hass.async_add_executor_job(
        lambda: (
            _energy_by_period(stretches, hours_between(start, end), HOUR_S),
            _energy_by_period(stretches, five_minutes, FIVE_MIN_S),
        )
    )
    return MeasuredEnergy(by_hour, by_five_minutes)


async def billed_stretches(hass: HomeAssistant, statistic_id: str, start: int, end: int) -> list[EnergyStretch]:
    """Return the energy that a statistic of energy or power contains from `start` to `end` (UTC seconds).

    Meters of Home Assistant's own are read from five-minute statistics where these exist. Counters without them, and
    the statistics of other integrations, are read by the hour. The function first waits as `measured_stretches` does.
    """
    await _wait_for_recorder(hass, statistic_id)
    if await _unit_of_statistic(hass, statistic_id) in PowerConverter.VALID_UNITS:
        return await measured_stretches(hass, statistic_id, start, end)
    if ":" in statistic_id:
        rows = _values(await _rows(hass, statistic_id, "hour", {"change"}, start, end), "change")
        return [EnergyStretch(hour, hour + HOUR_S, kwh) for hour, kwh in rows.items()]
    return (await _counter_stretches(hass, statistic_id, start, end))[0]


async def energy_by_hour(hass: HomeAssistant, statistic_id: str, start: int, end: int) -> Mapping[int, float]:
    """Return the energy in kWh of each hour from `start` to `end` (UTC seconds), by the start of the hour.

    The statistic counts energy or measures power. Hours without a reading are left out.
    """
    if await _unit_of_statistic(hass, statistic_id) in PowerConverter.VALID_UNITS:
        return _values(await _rows(hass, statistic_id, "hour", {"mean"}, start, end), "mean")
    return (await measured_energy(hass, statistic_id, start, end, by_quarter=False)).by_hour


async def _unit_of_statistic(hass: HomeAssistant, statistic_id: str) -> str | None:
    known = await get_instance(hass).async_add_executor_job(lambda: get_metadata(hass, statistic_ids={statistic_id}))
    return known[statistic_id][1]["unit_of_measurement"] if statistic_id in known else None


def _energy_by_period(stretches: Sequence[EnergyStretch], starts: Iterable[int], length_s: int) -> dict[int, float]:
    found = energy_by_slice(stretches, ((start, start + length_s) for start in starts))
    return {start: kwh for (start, _), kwh in found.items()}


async def energy_statistic_name(hass: HomeAssistant, energy_id: str, *, field: str) -> str:
    """Return the name of the energy statistic `energy_id`.

    If the statistic has no name, return the name of its entity. If it has no entity either, return `energy_id`.
    `field` is the name of the action's field that contains `energy_id`. Raises Refusal if the statistic doesn't exist
    or is not a sum of energy.
    """
    known = await get_instance(hass).async_add_executor_job(lambda: get_metadata(hass, statistic_ids={energy_id}))
    if energy_id not in known:
        raise Refusal("unknown_statistic", field=field, id=energy_id)
    _, metadata = known[energy_id]
    unit = metadata["unit_of_measurement"]
    if not metadata["has_sum"] or unit not in EnergyConverter.VALID_UNITS:
        raise Refusal("not_energy", field=field, id=energy_id, unit=unit or "–")
    state = hass.states.get(energy_id)
    return metadata["name"] or (state.name if state else energy_id)


async def stored_prices(hass: HomeAssistant, statistic_id: str) -> dict[int, tuple[float, float, float]]:
    """Return the mean, lowest and highest price (EUR/kWh) of each hour with a stored price.

    The keys are the starts of the hours in UTC seconds.
    """
    rows = await _rows(hass, statistic_id, "hour", {"mean", "min", "max"})
    return {hour: (row["mean"], row["min"], row["max"]) for hour, row in rows.items() if row["mean"] is not None}


async def stored_costs(hass: HomeAssistant, statistic_id: str) -> dict[int, CostRow]:
    """Return the cost and the running total (EUR) of each stored hour, keyed by the hour's start in UTC seconds."""
    rows = await _rows(hass, statistic_id, "hour", {"state", "sum"})
    return {hour: CostRow(row["state"], row["sum"] or 0.0) for hour, row in rows.items()}


async def write_prices(
    hass: HomeAssistant, metadata: StatisticMetaData, prices: Mapping[int, HourPrice | None]
) -> None:
    """Write the price of each hour. If a price is None, remove the hour's stored price."""
    await _write_rows(hass, metadata, (_price_row(hour, price) for hour, price in prices.items()))


async def write_costs(hass: HomeAssistant, metadata: StatisticMetaData, rows: Mapping[int, CostRow]) -> None:
    """Write the cost and the running total of each hour. If a cost is None, remove the hour's stored cost."""
    await _write_rows(
        hass,
        metadata,
        (
            StatisticData(start=dt_util.utc_from_timestamp(hour), sum=row.total)
            if row.cost is None
            else StatisticData(start=dt_util.utc_from_timestamp(hour), state=row.cost, sum=row.total)
            for hour, row in rows.items()
        ),
    )


def _price_row(hour: int, price: HourPrice | None) -> StatisticData:
    row = StatisticData(start=dt_util.utc_from_timestamp(hour))
    if price:
        row |= {"mean": price.mean, "min": min(price.by_step), "max": max(price.by_step)}
    return row


async def _rows(
    hass: HomeAssistant,
    statistic_id: str,
    period: Literal["5minute", "hour"],
    columns: set[_Column],
    start: int = 0,
    end: int | None = None,
) -> dict[int, Any]:
    """Return a statistic's rows, keyed by their start in UTC seconds. Energy is in kWh, and power is in kW."""
    until = None if end is None else dt_util.utc_from_timestamp(end)
    found = await get_instance(hass).async_add_executor_job(
        statistics_during_period,
        hass,
        dt_util.utc_from_timestamp(start),
        until,
        {statistic_id},
        period,
        _UNITS,
        columns,
    )
    return {int(row["start"]): row for row in found.get(statistic_id, ())}


async def _counter_readings(hass: HomeAssistant, meter: str, start: int, end: int) -> list[CounterReading]:
    """Return a counter's readings at the ends of five-minute periods."""
    rows = await _rows(hass, meter, "5minute", {"state", "sum", "last_reset"}, start, end)
    return _readings(rows, FIVE_MIN_S)


async def _counter_stretches(hass: HomeAssistant, meter: str, start: int, end: int) -> tuple[list[EnergyStretch], int]:
    """Return a counter's energy, and the first hour that is read from five-minute statistics, in UTC seconds."""
    context = start - LONGEST_EXCURSION_S, end + LONGEST_EXCURSION_S
    newest = await _counter_readings(hass, meter, *context)
    hourly = await _hourly_readings(hass, meter, *context)
    older = [reading for reading in hourly if not newest or reading.at < newest[0].at]
    stretches = await hass.async_add_executor_job(energy_from_counter, [*older, *newest])
    return stretches, -(-newest[0].at // HOUR_S) * HOUR_S if newest else end


async def _hourly_readings(hass: HomeAssistant, meter: str, start: int, end: int) -> list[CounterReading]:
    """Return a counter's readings at the start of the first hour and at the ends of hours."""
    rows = await _rows(hass, meter, "hour", {"state", "sum", "change", "last_reset"}, start, end)
    readings = _readings(rows, HOUR_S)
    if not readings:
        return []
    first, change = readings[0], rows[readings[0].at - HOUR_S]["change"]
    begin = replace(first, at=first.at - HOUR_S, count=first.count - change, total=first.total - change)
    return await hass.async_add_executor_job(with_trusted_counts, [begin, *readings])


def _readings(rows: Mapping[int, Any], period_s: int) -> list[CounterReading]:
    return [
        CounterReading(
            start + period_s, row["sum"] if row["state"] is None else row["state"], row["sum"], row["last_reset"]
        )
        for start, row in rows.items()
        if row["sum"] is not None
    ]


def _values(rows: Mapping[int, Any], column: _Column) -> dict[int, float]:
    return {start: row[column] for start, row in rows.items() if row[column] is not None}


async def _write_rows(hass: HomeAssistant, metadata: StatisticMetaData, rows: Iterable[StatisticData]) -> None:
    """Write rows in place of the stored rows of the same hours. Wait until the recorder has stored the new rows."""
    for batch in batched(rows, _ROWS_PER_BATCH, strict=False):
        async_add_external_statistics(hass, metadata, batch)
    await _wait_for_recorder(hass, metadata["statistic_id"])


async def _wait_for_recorder(hass: HomeAssistant, statistic_id: str) -> None:
    """Wait until the recorder has finished all earlier jobs."""
    done = asyncio.Event()

    def set_done() -> None:  # runs in the recorder's thread, outside the event loop
        hass.loop.call_soon_threadsafe(done.set)

    # The recorder handles its jobs in order. It calls `on_done` even after an update that changes nothing.
    get_instance(hass).async_update_statistics_metadata(statistic_id, on_done=set_done)
    await done.wait()

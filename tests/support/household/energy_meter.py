"""Another integration's energy statistic in Home Assistant's recorder, and the stored rows of any statistic."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any, Final, Literal

from homeassistant.components.recorder.db_schema import Statistics, StatisticsBase, StatisticsShortTerm
from homeassistant.components.recorder.models import StatisticData, StatisticMeanType, StatisticMetaData
from homeassistant.components.recorder.statistics import statistics_during_period
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import get_instance

from tunnihind.core.market import HOUR_S

METER: Final = "estfeed:import"
"""The statistic of another integration, whose readings come a day late."""

type Rows = dict[int, dict[str, Any]]
"""Rows of a statistic by the start of their period, UTC seconds."""


def metadata(**changes: Any) -> StatisticMetaData:  # noqa: ANN401  any field of the metadata
    """Return the meter's metadata for the recorder."""
    told = StatisticMetaData(
        statistic_id=METER,
        source=METER.partition(":")[0],
        name="Estfeed import",
        unit_of_measurement="kWh",
        unit_class="energy",
        mean_type=StatisticMeanType.NONE,
        has_sum=True,
    )
    return told | changes  # type: ignore[return-value]


async def read(hass: HomeAssistant, kwh: Mapping[int, float], **changes: Any) -> None:  # noqa: ANN401
    """Store these readings of the meter, kWh by hour, with cumulative sums, as the meter's integration would."""
    await _import(hass, _summed(kwh), metadata(**changes), Statistics)


async def read_counter(
    hass: HomeAssistant,
    statistic_id: str,
    readings: Mapping[int, tuple[float, float]],
    table: type[StatisticsBase] = Statistics,
) -> None:
    """Store the count and the recorder's total at the end of each hour, as the recorder does for a meter of its own.

    In the table `StatisticsShortTerm`, the readings are those of five minutes.
    """
    await _import(hass, readings, metadata(statistic_id=statistic_id, source="recorder"), table)


async def read_by_five_minutes(hass: HomeAssistant, kwh: Mapping[int, float]) -> None:
    """Store these five-minute readings, like those of Home Assistant's own meters."""
    await _import(hass, _summed(kwh), metadata(), StatisticsShortTerm)


def _summed(kwh: Mapping[int, float]) -> dict[int, tuple[float, float]]:
    starts = sorted(kwh)
    totals = accumulate(kwh[start] for start in starts)
    return {start: (kwh[start], total) for start, total in zip(starts, totals, strict=True)}


async def _import(
    hass: HomeAssistant,
    readings: Mapping[int, tuple[float, float]],
    told: StatisticMetaData,
    table: type[StatisticsBase],
) -> None:
    rows = [
        StatisticData(start=datetime.fromtimestamp(start, UTC), state=state, sum=total)
        for start, (state, total) in readings.items()
    ]
    instance = get_instance(hass)
    instance.async_import_statistics(told, rows, table)  # type: ignore[arg-type]
    await asyncio.to_thread(instance.block_till_done)
    await hass.async_block_till_done()


async def stored(
    hass: HomeAssistant,
    statistic_id: str,
    *columns: Literal["change", "max", "mean", "min", "state", "sum"],
    period: Literal["hour", "day"] = "hour",
) -> Rows:
    """Return the recorder's rows of a statistic, as dashboards read them."""
    found = await get_instance(hass).async_add_executor_job(
        lambda: statistics_during_period(
            hass, datetime.fromtimestamp(0, UTC), None, {statistic_id}, period, None, set(columns)
        )
    )
    return {int(row["start"]): {name: row.get(name) for name in columns} for row in found.get(statistic_id, [])}


def even(start: int, hours: int, kwh: float = 1.0) -> dict[int, float]:
    """Return the same reading for a number of hours."""
    return dict.fromkeys(range(start, start + hours * HOUR_S, HOUR_S), kwh)

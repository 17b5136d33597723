"""`import_costs` in Home Assistant, with a recorder and its database, and the Energy dashboard that reads it."""

from typing import Any

import pytest
from homeassistant.components.energy import validate
from homeassistant.components.energy.data import async_get_manager
from homeassistant.components.recorder.models import StatisticMeanType
from homeassistant.components.recorder.statistics import list_statistic_ids
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.recorder import get_instance
from homeassistant.setup import async_setup_component

from custom_components.tunnihind.past.paid_prices import FIVE_MIN_S
from tests.integration.household.test_services import ask
from tests.integration.past.conftest import Archive
from tests.integration.test_guide_examples import AUTOMATIONS, COSTS
from tests.support.household.energy_meter import METER, even, read, read_by_five_minutes, read_counter, stored
from tests.support.household.home import Home, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

pytestmark = pytest.mark.usefixtures("recorder_mock")

COST = "tunnihind:cost_estfeed_import"
TENTH = instant("2026-01-10T00:00:00+02:00")


async def charge(hass: HomeAssistant, **data: Any) -> dict[str, Any]:  # noqa: ANN401  an action's own
    return await ask(hass, "import_costs", **{"energy": METER, **data})


def euros(home: Home, kwh: dict[int, float]) -> Any:  # noqa: ANN401  compares equal to what is near it
    """Return the cost of energy, kWh by hour, to a ten-thousandth of a cent."""
    return pytest.approx({start: amount * home.consumer_price(start) for start, amount in kwh.items()}, abs=1e-6)


async def charged(hass: HomeAssistant) -> dict[int, float]:
    """Return the Energy dashboard's figure for each hour: the change of the sum."""
    return {start: row["change"] for start, row in (await stored(hass, COST, "change")).items()}


async def test_each_hours_energy_costs_its_price(hass: HomeAssistant, archive: Archive) -> None:
    kwh = {start: 0.3 + start // HOUR_S % 5 for start in even(TENTH, 48)}
    await read(hass, kwh)
    await archive.home.add()
    answer = await charge(hass)
    assert await charged(hass) == euros(archive.home, kwh)
    assert answer == {
        "statistic_id": COST,
        "start": "2026-01-10T00:00:00+02:00",
        "end": "2026-01-12T00:00:00+02:00",
        "hours": 48,
        "changed": 48,
        "left_out": [],
        "kwh": pytest.approx(sum(kwh.values())),
        "cost": pytest.approx(sum(kwh[start] * archive.home.consumer_price(start) for start in kwh), abs=0.01),
    }


async def test_the_recorder_gets_all_the_metadata_that_it_requires(hass: HomeAssistant, archive: Archive) -> None:
    await read(hass, even(TENTH, 3))
    await archive.home.add()
    await charge(hass)
    [told] = await get_instance(hass).async_add_executor_job(list_statistic_ids, hass, {COST})
    assert {
        "source": "tunnihind",
        "name": "Tunnihind: cost of Estfeed import",
        "statistics_unit_of_measurement": "EUR",
        "unit_class": None,
        "mean_type": StatisticMeanType.NONE,
        "has_sum": True,
    }.items() <= told.items()


async def test_the_energy_dashboard_accepts_the_statistic_and_shows_a_days_cost(
    hass: HomeAssistant, archive: Archive
) -> None:
    await hass.config.async_set_time_zone("Europe/Tallinn")
    await read(hass, even(TENTH, 48))
    await archive.home.add()
    await charge(hass)
    assert await async_setup_component(hass, "energy", {})
    manager = await async_get_manager(hass)
    grid = {"type": "grid", "stat_energy_from": METER, "stat_cost": COST, "cost_adjustment_day": 0}
    await manager.async_update({"energy_sources": [grid]})  # type: ignore[typeddict-item]
    assert (await validate.async_validate(hass)).as_dict()["energy_sources"] == [[]]
    days = await stored(hass, COST, "change", period="day")
    assert {day: row["change"] for day, row in days.items()} == {
        day: pytest.approx(sum(archive.home.consumer_price(start) for start in even(day, 24)), abs=1e-5)
        for day in (TENTH, TENTH + 24 * HOUR_S)
    }


async def test_a_second_run_changes_nothing(hass: HomeAssistant, archive: Archive) -> None:
    await read(hass, even(TENTH, 48))
    await archive.home.add()
    first = await charge(hass)
    before = await stored(hass, COST, "state", "sum")
    assert await charge(hass) == {**first, "changed": 0}
    assert await charge(hass, start="2026-01-11") == {**first, **await charge(hass, start="2026-01-11"), "changed": 0}
    assert await stored(hass, COST, "state", "sum") == before


async def test_readings_that_come_late_or_are_corrected_move_the_sums(hass: HomeAssistant, archive: Archive) -> None:
    kwh = even(TENTH, 48)
    late = {start: amount for start, amount in kwh.items() if not TENTH + 5 * HOUR_S <= start < TENTH + 9 * HOUR_S}
    await read(hass, late)
    await archive.home.add()
    answer = await charge(hass)
    assert [(span["start"], span["hours"], span["reason"]) for span in answer["left_out"]] == [
        ("2026-01-10T05:00:00+02:00", 4, "no_reading")
    ]
    kwh[TENTH + 20 * HOUR_S] = 7.5
    await read(hass, kwh)
    assert (await charge(hass))["changed"] == 43
    assert await charged(hass) == euros(archive.home, kwh)


async def test_costs_before_the_start_stay_and_the_sums_go_on(hass: HomeAssistant, archive: Archive) -> None:
    await read(hass, even(TENTH, 48))
    await archive.home.add()
    await charge(hass)
    before = await charged(hass)
    await read(hass, even(TENTH, 72, kwh=2.0))
    await charge(hass, start="2026-01-12")
    after = await charged(hass)
    assert {start: after[start] for start in before} == pytest.approx(before)
    third = even(TENTH + 48 * HOUR_S, 24, kwh=2.0)
    assert {start: after[start] for start in third} == euros(archive.home, third)


async def test_another_unit_is_counted_in_kilowatt_hours(hass: HomeAssistant, archive: Archive) -> None:
    await read(hass, even(TENTH, 5, kwh=1_000.0), unit_of_measurement="Wh")
    await archive.home.add()
    await charge(hass)
    assert await charged(hass) == euros(archive.home, even(TENTH, 5))


async def test_old_hours_of_a_meter_are_charged_once_despite_a_dip_and_a_gap(
    hass: HomeAssistant, archive: Archive
) -> None:
    """Only the hours of Home Assistant's own meter are left. Energy is spread over wrong and missing hours."""
    meter = "sensor.grid_import"
    kwh = {0: 1.0, 1: 1.0, 2: -1.0, 3: 3.0, 6: 3.0}
    await read(
        hass, {TENTH + hour * HOUR_S: change for hour, change in kwh.items()}, statistic_id=meter, source="recorder"
    )
    await archive.home.add()
    answer = await charge(hass, energy=meter)
    assert (answer["hours"], answer["kwh"], answer["left_out"]) == (7, 7.0, [])
    costs = await stored(hass, answer["statistic_id"], "change")
    assert {start: row["change"] for start, row in costs.items()} == euros(archive.home, even(TENTH, 7))


async def test_old_hours_of_a_meter_do_not_count_a_reset_that_was_none(hass: HomeAssistant, archive: Archive) -> None:
    """The meter showed zero for two hours, so the recorder's total has its whole count once more."""
    meter = "sensor.grid_import"
    counts = {TENTH + hour * HOUR_S: 700.0 + hour for hour in range(48)}
    wrong = {TENTH + hour * HOUR_S for hour in (20, 21)}
    readings = {
        start: (0.0, 719.0) if start in wrong else (count, count if start < min(wrong) else 719 + count)
        for start, count in counts.items()
    }
    await read_counter(hass, meter, readings)
    await archive.home.add()
    answer = await charge(hass, energy=meter, start="2026-01-10")
    assert (answer["hours"], answer["kwh"]) == (47, 47.0)


async def test_hours_without_a_price_are_left_out_and_listed(hass: HomeAssistant, archive: Archive) -> None:
    archive.since = TENTH + 3 * HOUR_S
    await read(hass, even(TENTH, 5))
    await archive.home.add()
    answer = await charge(hass)
    assert (answer["hours"], answer["kwh"]) == (2, 2.0)
    assert [(span["hours"], span["reason"]) for span in answer["left_out"]] == [(3, "no_price")]
    assert list(await charged(hass)) == [TENTH + 3 * HOUR_S, TENTH + 4 * HOUR_S]


async def test_the_present_hour_is_not_charged_yet(hass: HomeAssistant, archive: Archive) -> None:
    hour = archive.home.now - archive.home.now % HOUR_S
    await read(hass, even(hour - 2 * HOUR_S, 3))
    await archive.home.add()
    await charge(hass)
    assert list(await charged(hass)) == [hour - 2 * HOUR_S, hour - HOUR_S]


@pytest.mark.parametrize("billed_by", ["hour", "quarter"])
async def test_a_household_billed_by_the_quarter_pays_for_each_quarters_energy(
    hass: HomeAssistant, archive: Archive, billed_by: str
) -> None:
    archive.quarter_of = lambda start: 400.0 if start % HOUR_S == 0 else 0.0
    archive.home.price_of = lambda _: 100.0
    by_hour, by_quarter = TENTH, TENTH + HOUR_S
    await read(hass, {by_hour: 1.2, by_quarter: 1.2})
    await read_by_five_minutes(
        hass,
        {
            start: 0.2 if start < by_quarter + QUARTER_S else 0.6 / 9
            for start in range(by_quarter, by_quarter + HOUR_S, FIVE_MIN_S)
        },
    )
    await archive.home.add(options={"billed_by": billed_by})
    await charge(hass)
    quarters = 0.6 * 0.4 * 1.24 if billed_by == "quarter" else 1.2 * 0.1 * 1.24
    assert await charged(hass) == {by_hour: pytest.approx(1.2 * 0.1 * 1.24), by_quarter: pytest.approx(quarters)}


@pytest.mark.parametrize(
    ("changes", "key"),
    [({"unit_of_measurement": "m³", "unit_class": "volume"}, "not_energy"), ({"has_sum": False}, "not_energy")],
)
async def test_a_statistic_that_is_not_energy_is_refused_by_name(
    hass: HomeAssistant, archive: Archive, changes: dict[str, Any], key: str
) -> None:
    await read(hass, even(TENTH, 2), **changes)
    await archive.home.add()
    with pytest.raises(ServiceValidationError) as refusal:
        await charge(hass)
    assert refusal.value.translation_key == key
    assert {"field": "energy", "id": METER}.items() <= (refusal.value.translation_placeholders or {}).items()


async def test_a_missing_statistic_is_refused_by_name(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    with pytest.raises(ServiceValidationError) as refusal:
        await charge(hass)
    assert refusal.value.translation_key == "unknown_statistic"


async def test_statistics_of_others_are_left_alone(hass: HomeAssistant, archive: Archive) -> None:
    await read(hass, even(TENTH, 5))
    before = await stored(hass, METER, "state", "sum")
    await archive.home.add()
    await charge(hass)
    assert await stored(hass, METER, "state", "sum") == before


async def test_the_guides_automation_charges_the_days_that_came_late(hass: HomeAssistant, archive: Archive) -> None:
    await hass.config.async_set_time_zone("Europe/Tallinn")
    week = even(instant("2026-01-07T00:00:00+02:00"), 48)
    await read(hass, {TENTH - 10 * 24 * HOUR_S: 1.0, **week})
    await archive.home.add()
    assert await async_setup_component(hass, "automation", {"automation": AUTOMATIONS[COSTS]})
    await archive.home.settle()
    archive.home.set_clock(instant("2026-01-15T09:50:00+02:00"))
    await archive.home.at(instant("2026-01-15T09:59:00+02:00"))
    assert await charged(hass) == {}
    await archive.home.at(instant("2026-01-15T10:15:00+02:00"))
    await hass.services.async_call("automation", "turn_off", {"entity_id": "all"}, blocking=True)
    assert await charged(hass) == euros(archive.home, {start: week[start] for start in list(week)[24:]})

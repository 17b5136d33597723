"""The form of a plan that was changed beside its form, and the stored changes."""

from typing import Any

import pytest

from tests.support.household.automations import restart
from tests.support.household.flows import shown
from tests.support.household.home import PLAN_ID, Home
from tests.support.household.steering import CAR, KEY, Files, form_for_plan, save_form, update


async def test_the_form_shows_its_own_values_and_names_the_changes(car: Home) -> None:
    assert (await form_for_plan(car))["description_placeholders"] == {"changes": ""}
    await update(car, duration="01:30:00", deadline="06:00", earliest=None, price_cap=12.5, horizon="cautious")
    form = await form_for_plan(car)
    assert shown(form)["duration"] == {"hours": 4, "minutes": 0}
    assert shown(form)["when"]["deadline"] == "07:00:00"
    hint = form["description_placeholders"]["changes"]
    assert ":\n\n- Duration: 1:30\n- Earliest start: –\n- Deadline: 06:00\n" in hint
    assert "Include forecast, cautiously" in hint
    assert "12.50 c/kWh" in hint


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("et", ["Tähtaeg: 06:00", "Vajalik energia: 22,5 kWh", "Hinnapiir: 12,50 s/kWh"]),
        ("ru", ["Крайний срок: 06:00", "Нужная энергия: 22,5 kWh", "Предельная цена: 12,50 цент/кВт·ч"]),
    ],
)
async def test_the_form_names_the_changes_in_the_language_of_the_home(
    car: Home, language: str, lines: list[str]
) -> None:
    car.hass.config.language = language
    await update(car, deadline="06:00", price_cap=12.5, energy=22.5, power=7.4)
    hint = (await form_for_plan(car))["description_placeholders"]["changes"]
    assert all(f"- {line}" in hint for line in lines)


@pytest.mark.parametrize("fields", [{"name": "Auto"}, {"duration": {"hours": 5, "minutes": 0}}])
async def test_saving_the_form_ends_the_changes(car: Home, fields: dict[str, Any], hass_storage: Files) -> None:
    await update(car, duration="01:00:00", deadline="06:00")
    await save_form(car, **fields)
    saved = 300 if "duration" in fields else 240
    assert float(car.state("number", "duration", PLAN_ID).state) == saved
    assert car.state("time", "deadline", PLAN_ID).state == "07:00:00"
    assert hass_storage[KEY]["data"]["steered"][PLAN_ID]["changes"] == {}
    await restart(car)
    assert float(car.state("number", "duration", PLAN_ID).state) == saved


async def test_a_form_saved_while_the_server_is_not_loaded_ends_the_changes_too(car: Home) -> None:
    await update(car, duration="01:00:00")
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    await save_form(car, duration={"hours": 5, "minutes": 0})
    await restart(car)
    assert float(car.state("number", "duration", PLAN_ID).state) == 300


async def test_without_stored_changes_that_can_be_read_the_plan_is_that_of_its_form(
    car: Home, hass_storage: Files
) -> None:
    await update(car, duration="01:00:00")
    for stored in (
        {PLAN_ID: {"changes": 7}},
        {PLAN_ID: {"form": dict(CAR), "changes": {"duration": 7}, "enabled": True}},
        None,
    ):
        await car.hass.config_entries.async_unload(car.entry.entry_id)
        hass_storage[KEY]["data"]["steered"] = stored
        await restart(car)
        assert float(car.state("number", "duration", PLAN_ID).state) == 240
        assert car.state("switch", "enabled", PLAN_ID).state == "on"

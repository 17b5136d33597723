"""The form that leads through a comparison of contracts by the past year."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.energy.data import async_get_manager
from homeassistant.config_entries import ConfigFlowResult
from homeassistant.core import Event, HomeAssistant
from homeassistant.data_entry_flow import (
    EVENT_DATA_ENTRY_FLOW_PROGRESS_UPDATE,
    EVENT_DATA_ENTRY_FLOW_PROGRESSED,
    FlowResultType,
)
from homeassistant.setup import async_setup_component

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S
from tests.integration.flows.test_options import choose, submit
from tests.integration.past.conftest import Archive
from tests.support.household.energy_meter import METER, even, read
from tests.support.household.flows import placeholders_of, shown

OCTOBER, NEW_YEAR = ESTONIA.midnight(date(2025, 10, 1)), ESTONIA.midnight(date(2026, 1, 1))


@pytest.fixture(autouse=True)
async def meter(recorder_mock: object, hass: HomeAssistant, archive: Archive) -> None:
    archive.since = ESTONIA.midnight(date(2025, 1, 1))
    archive.home.price_of = lambda start: 300.0 if start % (2 * HOUR_S) else 100.0
    await read(hass, even(OCTOBER, (NEW_YEAR - OCTOBER) // HOUR_S))


@pytest.fixture(autouse=True)
def dialog(hass: HomeAssistant) -> Callable[[], None]:
    """Listen for the end of the progress, as an open dialog does. Return a function that ends this."""
    return hass.bus.async_listen(EVENT_DATA_ENTRY_FLOW_PROGRESSED, lambda _: None)


async def ask(hass: HomeAssistant, archive: Archive, **answers: Any) -> ConfigFlowResult:  # noqa: ANN401  a form's own
    """Fill in the form, wait until the comparison is done, and return what comes then."""
    return await _waited(
        hass, await choose(hass, "compare", answers=[{"energy": METER, **answers}], entry=archive.home.entry)
    )


async def _waited(hass: HomeAssistant, result: ConfigFlowResult) -> ConfigFlowResult:
    while result["type"] is FlowResultType.SHOW_PROGRESS:
        assert (result["step_id"], result["progress_action"]) == ("comparing", "comparing")
        await hass.async_block_till_done()
        result = await hass.config_entries.options.async_configure(result["flow_id"])
    return result


@pytest.mark.parametrize(
    ("language", "total", "said"),
    [
        ("en", "| In all | 2209 | 547.96 (24.81) | 275.22 (12.46) |", "4.0 years"),
        ("et", "| Kokku | 2209 | 547,96 (24,81) | 275,22 (12,46) |", "4,0 aastaga"),
        ("ru", "| Всего | 2209 | 547,96 (24,81) | 275,22 (12,46) |", "4,0 года"),
    ],
)
async def test_the_answer_is_a_table_in_the_readers_language(
    hass: HomeAssistant, archive: Archive, language: str, total: str, said: str
) -> None:
    hass.config.language = language
    await archive.home.add()
    battery = {"battery_capacity": 5, "battery_power": 1, "battery_price": 3600}
    result = await ask(hass, archive, fixed=10, fixed_monthly=0.35, battery=battery)
    assert (result["type"], result["step_id"]) == (FlowResultType.MENU, "compared")
    text = placeholders_of(result)["answer"]
    assert total in text
    assert said in text
    assert "{" not in text
    tables = [[line.count("|") for line in part.splitlines()] for part in text.split("\n\n") if part.startswith("|")]
    assert [(len(lines), len(set(lines))) for lines in tables] == [(6, 1), (7, 1)]


async def test_the_progress_goes_on_to_its_end(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    parts: list[float] = []

    def note(event: Event[Any]) -> None:
        parts.append(event.data["progress"])

    hass.bus.async_listen(EVENT_DATA_ENTRY_FLOW_PROGRESS_UPDATE, note)
    await ask(hass, archive)
    assert parts == sorted(parts)
    assert len(parts) > 6
    assert 0 <= parts[0] < 0.5 < parts[-1] <= 1


async def test_the_work_waits_until_the_dialog_listens(
    hass: HomeAssistant, archive: Archive, dialog: Callable[[], None], freezer: FrozenDateTimeFactory
) -> None:
    """Home Assistant's dialog listens only after it has shown the progress, and misses an earlier end."""
    await archive.home.add()
    form = await choose(hass, "compare", entry=archive.home.entry)
    asked = len(archive.asked)
    dialog()
    result = await hass.config_entries.options.async_configure(form["flow_id"], {"energy": METER})
    assert (result["type"], len(archive.asked)) == (FlowResultType.SHOW_PROGRESS, asked)
    hass.bus.async_listen(EVENT_DATA_ENTRY_FLOW_PROGRESSED, lambda _: None)
    freezer.tick()
    assert (await _waited(hass, result))["step_id"] == "compared"
    assert len(archive.asked) > asked


async def test_the_form_suggests_the_meters_of_the_energy_dashboard_and_then_what_was_typed(
    hass: HomeAssistant, archive: Archive
) -> None:
    await archive.home.add()
    assert await async_setup_component(hass, "energy", {})
    grid = {"type": "grid", "stat_energy_from": METER, "stat_energy_to": "estfeed:export", "cost_adjustment_day": 0}
    await (await async_get_manager(hass)).async_update({"energy_sources": [grid]})  # type: ignore[typeddict-item]
    form = await choose(hass, "compare", entry=archive.home.entry)
    assert shown(form) == {"energy": METER, "sold": "estfeed:export"}
    answered = await _waited(hass, await submit(hass, form, {"energy": METER, "fixed": 11}))
    again = await submit(hass, answered, {"next_step_id": "compare"})
    assert shown(again) == {"energy": METER, "fixed": 11}


async def test_prices_are_typed_in_the_households_unit(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add(options={"unit": "euros"})
    text = placeholders_of(await ask(hass, archive, fixed=0.1))["answer"]
    assert "(12.40)" in text


@pytest.mark.parametrize(
    ("answers", "place", "reason"),
    [
        ({"energy": "sensor.nothing"}, "energy", "Bought energy: there is no statistic “sensor.nothing”"),
        ({"energy": ""}, "energy", "choose the statistic"),
        ({"fixed_monthly": 3}, "fixed", "Fixed price: give this too, because Monthly fee, fixed price is given"),
        ({"battery": {"battery_capacity": 5}}, "battery", "Power: give this too, because Usable capacity is given"),
    ],
)
async def test_what_cannot_be_compared_is_said_at_its_field(
    hass: HomeAssistant, archive: Archive, answers: dict[str, Any], place: str, reason: str
) -> None:
    await archive.home.add()
    form = await ask(hass, archive, **answers)
    assert form["step_id"] == "compare"
    assert form["errors"] == {place: "comparison_failed"}
    assert reason in placeholders_of(form)["reason"]
    assert shown(form)["energy"] == answers.get("energy", METER)


async def test_a_server_that_is_away_is_said_above_the_form(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    await archive.home.server.runner.cleanup()
    form = await ask(hass, archive)
    assert form["errors"] == {"base": "comparison_failed"}
    assert "127.0.0.1" in placeholders_of(form)["reason"]


async def test_an_entry_that_is_not_loaded_is_said_above_the_form(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    await hass.config_entries.async_unload(archive.home.entry.entry_id)
    form = await ask(hass, archive)
    assert form["errors"] == {"base": "comparison_failed"}
    assert "not loaded" in placeholders_of(form)["reason"]


async def test_whoever_closes_the_form_ends_the_work(hass: HomeAssistant, archive: Archive) -> None:
    await archive.home.add()
    asked = len(archive.asked)
    result = await choose(hass, "compare", answers=[{"energy": METER}], entry=archive.home.entry)
    hass.config_entries.options.async_abort(result["flow_id"])
    await hass.async_block_till_done()
    assert len(archive.asked) - asked < 3
    assert archive.home.entry.options == {}

"""A household that follows the table of rates: its prices, and its notices when the table has no rate any more."""

from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN
from tests.integration.household.test_losses import problems
from tests.integration.household.test_options import change
from tests.support.household.home import Home, MakeHome, instant
from tests.support.household.steering import call

FOLLOWED: Final = ["balancing", "network", "renewable", "security", "excise"]
VORK_5: Final[dict[str, Any]] = {"rows": [{"margin": 0.42, "package": "vork_5", "from_table": FOLLOWED}]}


def told(hass: HomeAssistant) -> str | None:
    """Return the parts that the repair notice names, if there is one."""
    issue = ir.async_get(hass).async_get_issue(DOMAIN, "rates_outdated_entry")
    return (issue.translation_placeholders or {})["parts"] if issue else None


async def at(make_home: MakeHome, now: str, until: str, price: float, options: dict[str, Any]) -> Home:
    home = await make_home(now, settled_until=until, price_of=lambda _: price)
    await home.add(options=options)
    return home


async def test_vork_2_by_the_hour_shows_the_price_of_the_worked_example(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    """The arithmetic is in `tests/integration/prices/test_worked_households.py`."""
    options = {"rows": [{"margin": 0.5, "package": "vork_2", "from_table": FOLLOWED}]}
    home = await at(make_home, "2026-10-14T10:20:00+03:00", "2026-10-15T01:00:00+03:00", 98.76, options)
    assert home.value("current_price") == "0.2322"
    assert problems(home) == []
    assert told(hass) is None


async def test_a_fee_that_has_ended_stays_in_the_price_and_is_reported_until_confirmed(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await at(make_home, "2027-01-12T17:10:00+02:00", "2027-01-14T01:00:00+02:00", 214.35, VORK_5)
    assert home.value("current_price") == "0.3997"
    assert problems(home) == ["rate_missing"]
    assert told(hass) == "renewable energy"
    confirmed = [part for part in FOLLOWED if part != "renewable"]
    row = {"margin": 0.42, "package": "vork_5", "from_table": confirmed, "renewable": 0.84}
    await change(home, rows=[row])
    assert (problems(home), told(hass)) == ([], None)
    assert home.value("current_price") == "0.3997"


async def test_a_fee_that_ends_is_reported_at_midnight_and_plans_go_on(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await at(make_home, "2026-12-31T23:50:00+02:00", "2027-01-02T01:00:00+02:00", 50.0, VORK_5)
    assert (problems(home), told(hass)) == ([], None)
    assert len(home.state("sensor", "current_price").attributes["raw_tomorrow"]) == 24
    await home.at(instant("2027-01-01T00:00:00+02:00"))
    assert problems(home) == ["rate_missing"]
    assert told(hass) == "renewable energy"
    assert home.state("binary_sensor", "window", "plan").state in {"on", "off"}
    assert home.state("sensor", "window_start", "plan").state not in {"unknown", "unavailable"}


async def test_a_figure_that_nobody_has_checked_for_a_year_is_reported(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    options = {"rows": [{"margin": 0.5, "package": "vork_2", "from_table": ["network", "security"]}]}
    home = await at(make_home, "2027-11-20T12:00:00+02:00", "2027-11-22T01:00:00+02:00", 50.0, options)
    assert told(hass) is None
    await home.at(instant("2027-11-21T00:00:00+02:00"))
    assert told(hass) == "network, security of supply"
    assert "rate_missing" not in problems(home)


async def test_a_sensor_in_cents_is_off_at_first_and_says_that_it_is_not_for_the_energy_dashboard(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await at(make_home, "2026-10-14T10:20:00+03:00", "2026-10-15T01:00:00+03:00", 98.76, {})
    registry = er.async_get(hass)
    entity_id = registry.async_get_entity_id("sensor", DOMAIN, "entry_current_price_cents")
    assert entity_id
    entity = registry.async_get(entity_id)
    assert entity is not None
    assert entity.disabled_by is er.RegistryEntryDisabler.INTEGRATION
    assert entity.original_name == "Current price in cents (not for the Energy dashboard)"

    registry.async_update_entity(entity_id, disabled_by=None)
    await hass.config_entries.async_reload(home.entry.entry_id)
    await home.settle()
    cents = home.state("sensor", "current_price_cents")
    assert (cents.state, cents.attributes["unit_of_measurement"]) == ("12.25", "c/kWh")
    assert "state_class" not in cents.attributes
    assert home.state("sensor", "current_price").attributes["unit_of_measurement"] == "EUR/kWh"


async def test_the_calendar_writes_prices_in_the_households_unit(make_home: MakeHome) -> None:
    home = await make_home(price_of=lambda _: 100.0)
    await home.add()
    asked = {
        "entity_id": home.state("calendar", "plans").entity_id,
        "start_date_time": "2026-01-14T00:00:00+02:00",
        "end_date_time": "2026-01-16T00:00:00+02:00",
    }
    for unit, told in (("cents", "12.40 c/kWh"), ("euros", "0.1240 EUR/kWh")):
        await change(home, unit=unit)
        answer = await call(home, "calendar.get_events", answers=True, **asked)
        assert {event["description"] for event in answer[asked["entity_id"]]["events"]} == {told}

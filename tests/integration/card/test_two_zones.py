"""Cards of a home with two zones: their entry, its zone, and the plans that belong to the other entry."""

from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntryDisabler
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from pytest_homeassistant_custom_component.common import MockUser

from tests.integration.card.conftest import Cards
from tests.integration.card.test_rights import let_read
from tests.support.household.home import DEFAULT_PLAN, Home, MakeHome
from tunnihind.settings import Settings

IN_LATVIA = {"name": "Car", "zone": "LV", "entry": "Tunnihind Latvia"}
IN_ESTONIA = {"name": "Boiler", "zone": "EE", "entry": "Tunnihind"}


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home with a boiler in Estonia, added first, and a car in Latvia."""
    home = await make_home(settings=Settings(zones=("ee", "lv")))
    await home.add(entry_id="estonia", plans={"boiler": DEFAULT_PLAN})
    await home.add(entry_id="latvia", plans={"car": DEFAULT_PLAN}, zone="LV")
    home.hass.config_entries.async_update_entry(home.entry, title="Tunnihind Latvia")
    await home.settle()
    return home


def window(home: Home, plan: str) -> str:
    return home.state("binary_sensor", "window", plan).entity_id


def shown_plans(shown: dict[str, Any]) -> list[str]:
    return [plan["name"] for plan in shown["plans"]]


@pytest.mark.parametrize(
    ("named", "zone", "plans", "elsewhere"),
    [
        ([], "EE", ["Boiler"], []),
        (["boiler"], "EE", ["Boiler"], []),
        (["car"], "LV", ["Car"], []),
        (["car", "boiler"], "LV", ["Car"], [IN_ESTONIA]),
        (["boiler", "car"], "EE", ["Boiler"], [IN_LATVIA]),
    ],
)
async def test_a_card_without_an_entry_shows_that_of_the_first_plan_it_names(
    home: Home, cards: Cards, named: list[str], zone: str, plans: list[str], elsewhere: list[dict[str, str]]
) -> None:
    card = await cards.open(plans=[window(home, plan) for plan in named])
    assert (card.shown["zone"], shown_plans(card.shown), card.shown["plans_elsewhere"]) == (zone, plans, elsewhere)


@pytest.mark.parametrize("chosen", ["entry_id", "entity_id"])
async def test_a_chosen_entry_comes_before_that_of_the_plans(home: Home, cards: Cards, chosen: str) -> None:
    named = {"entry_id": "estonia", "entity_id": home.state("sensor", "current_price", "estonia").entity_id}
    card = await cards.open(None, plans=[window(home, "car")], **{chosen: named[chosen]})
    assert (card.shown["zone"], card.shown["plans_elsewhere"]) == ("EE", [IN_LATVIA])


async def test_plans_that_do_not_exist_choose_no_entry(home: Home, cards: Cards) -> None:
    card = await cards.open(plans=["binary_sensor.gone", "sun.sun", window(home, "car")])
    assert (card.shown["zone"], card.shown["plans_elsewhere"]) == ("LV", [])
    card = await cards.open(plans=["binary_sensor.gone"])
    assert card.shown["zone"] == "EE"


async def test_past_prices_are_those_of_the_named_plans_entry(home: Home, cards: Cards) -> None:
    past = {zone: (await cards.past(**of))["result"] for zone, of in (
        ("named", {"plans": [window(home, "car")]}), ("LV", {"entry_id": "latvia"}), ("EE", {"entry_id": "estonia"}),
    )}  # fmt: skip
    assert past["named"] == past["LV"] != past["EE"]


async def test_the_zone_is_named_while_the_home_has_several(home: Home, cards: Cards) -> None:
    card = await cards.open(entry_id="estonia")
    for disabled_by, zone in ((ConfigEntryDisabler.USER, None), (None, "EE")):
        await home.hass.config_entries.async_set_disabled_by("latvia", disabled_by)
        await home.settle()
        assert {"zone": zone} in await card.events()


async def test_two_entries_of_one_zone_are_told_apart_by_their_titles(make_home: MakeHome, cards: Cards) -> None:
    home = await make_home()
    await home.add(entry_id="first", plans={"boiler": DEFAULT_PLAN})
    home = await make_home(mode="rehearsal")
    await home.add(entry_id="past", plans={"car": DEFAULT_PLAN}, rehearsal=True)
    card = await cards.open(plans=[window(home, "boiler"), window(home, "car")])
    elsewhere = [{"name": "Car", "zone": None, "entry": "Tunnihind"}]
    assert (card.shown["zone"], card.shown["plans_elsewhere"]) == (None, elsewhere)


async def test_a_plan_elsewhere_follows_its_new_name(home: Home, cards: Cards) -> None:
    card = await cards.open(plans=[window(home, "boiler"), window(home, "car")])
    home.hass.config_entries.async_update_subentry(home.entry, home.entry.subentries["car"], title="Auto")
    await home.settle()
    await card.events()
    assert card.shown["plans_elsewhere"] == [{**IN_LATVIA, "name": "Auto"}]


async def test_a_plan_elsewhere_is_named_only_to_who_may_read_it(hass: HomeAssistant, home: Home, cards: Cards) -> None:
    guest = MockUser(name="Guest").add_to_hass(hass)
    price = er.async_get(hass).async_get_entity_id("sensor", "tunnihind", "estonia_current_price")
    assert price is not None
    named = [window(home, "boiler"), window(home, "car")]
    for may_read, elsewhere in (([price], []), ([price, *named], [IN_LATVIA])):
        let_read(guest, *may_read)
        card = await cards.open(guest, plans=named)
        assert card.shown["plans_elsewhere"] == elsewhere

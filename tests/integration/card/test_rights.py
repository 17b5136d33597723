"""A card shows its user only data of entities that the user may read."""

import pytest
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockUser

from tests.integration.card.conftest import Cards, price_at
from tests.support.household.battery import BATTERY
from tests.support.household.home import DEFAULT_PLAN, Home, MakeHome
from tunnihind.core.market import HOUR_S

PLANS = {"mine": DEFAULT_PLAN, "yours": DEFAULT_PLAN}


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home that sells electricity and has two plans."""
    home = await make_home()
    await home.add(options={"selling": {"resolution": "hour", "rows": []}}, plans=PLANS)
    return home


@pytest.fixture
def guest(hass: HomeAssistant) -> MockUser:
    """Return a user who may read nothing so far."""
    guest = MockUser(name="Guest").add_to_hass(hass)
    let_read(guest)
    return guest


def let_read(user: MockUser, *entity_ids: str) -> None:
    user.mock_policy({"entities": {"entity_ids": {entity_id: {"read": True} for entity_id in entity_ids}}})


def price_of(home: Home) -> str:
    return home.state("sensor", "current_price").entity_id


async def test_a_user_without_the_right_to_the_price_gets_no_card(home: Home, cards: Cards, guest: MockUser) -> None:
    let_read(guest, home.state("sensor", "next_price").entity_id)
    refusals = [
        await cards.refusal(guest),
        await cards.refusal(guest, entry_id="entry"),
        await cards.refusal(guest, entity_id=price_of(home)),
    ]
    assert [code for code, _ in refusals] == ["unauthorized"] * 3


async def test_a_user_with_the_right_to_the_price_alone_gets_only_the_price(
    home: Home, cards: Cards, guest: MockUser
) -> None:
    let_read(guest, price_of(home))
    card = await cards.open(guest)
    assert price_at(card, "prices", home.now) == float(home.value("current_price"))
    assert (card.shown["selling"], card.shown["plans"]) == (None, [])


async def test_the_selling_price_and_each_plan_have_their_own_rights(home: Home, cards: Cards, guest: MockUser) -> None:
    sold = home.state("sensor", "selling_price").entity_id
    let_read(guest, price_of(home), sold, home.state("binary_sensor", "window", "mine").entity_id)
    card = await cards.open(guest)
    assert price_at(card, "selling", home.now) == float(home.value("selling_price"))
    assert [plan["id"] for plan in card.shown["plans"]] == ["mine"]


async def test_an_open_card_gets_nothing_more_when_the_right_is_taken_away(
    home: Home, cards: Cards, guest: MockUser
) -> None:
    let_read(guest, price_of(home))
    card = await cards.open(guest)
    let_read(guest)
    await home.at(home.now - home.now % HOUR_S + HOUR_S)
    assert await card.events() == []


@pytest.mark.usefixtures("recorder_mock")
async def test_each_battery_has_the_right_of_its_action(make_home: MakeHome, cards: Cards, guest: MockUser) -> None:
    home = await make_home()
    batteries = {name: {**BATTERY, "state_of_charge": f"sensor.{name}"} for name in ("mine", "yours")}
    await home.add(batteries=batteries)
    let_read(guest, price_of(home), home.state("sensor", "action", "mine").entity_id)
    card = await cards.open(guest)
    [battery] = card.shown["batteries"]
    assert (battery["id"], battery["reason"], battery["course"]) == ("mine", "state_of_charge_unknown", None)
    assert len((await cards.open()).shown["batteries"]) == 2


async def test_users_without_limits_see_the_whole_card(home: Home, cards: Cards, hass_read_only_user: MockUser) -> None:
    card = await cards.open(hass_read_only_user)
    assert [plan["id"] for plan in card.shown["plans"]] == ["mine", "yours"]

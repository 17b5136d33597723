"""The days before today, which a card requests when somebody looks at them."""

import pytest
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockUser

from tests.integration.card.conftest import Cards
from tests.support.household.home import DAY_S, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

TODAY = instant("2026-01-14T00:00:00+02:00")
FEES = {"rows": [{"margin": 0.5}, {"valid_from": "2026-01-13", "margin": 1.5}]}


async def a_home(make_home: MakeHome, *, days: int = 20) -> Home:
    """Return a home whose server knows a number of days."""
    home = await make_home()
    home.known_for_s = days * DAY_S
    home.serve_quarters()
    await home.add(options=FEES | {"selling": {"resolution": "quarter", "rows": []}})
    return home


async def test_two_weeks_of_prices_use_the_rates_of_each_day(make_home: MakeHome, cards: Cards) -> None:
    home = await a_home(make_home)
    past = (await cards.past())["result"]
    prices, sold = past["prices"], past["selling"]
    starts = range(TODAY - 13 * DAY_S, TODAY, HOUR_S)
    assert (prices["start"], prices["step"], len(prices["price"])) == (starts.start, HOUR_S, len(starts))
    margins = [0.5 if start < TODAY - DAY_S else 1.5 for start in starts]
    paid = [(home.price_of(start) / 1000 + margin / 100) * 1.24 for start, margin in zip(starts, margins, strict=True)]
    assert prices["price"] == pytest.approx(paid, abs=6e-5)
    assert prices["low"] == [None] * len(starts)
    assert set(prices["level"]) == {0, 1, 2, 3, 4}
    assert (sold["step"], len(sold["price"])) == (QUARTER_S, 13 * 96)


async def test_while_the_server_does_not_answer_yesterday_is_shown(make_home: MakeHome, cards: Cards) -> None:
    home = await a_home(make_home)
    await home.server.runner.cleanup()
    prices = (await cards.past())["result"]["prices"]
    assert prices["start"] + len(prices["price"]) * HOUR_S == TODAY
    assert len(prices["price"]) >= 24


async def test_a_server_without_past_days_has_none_to_show(make_home: MakeHome, cards: Cards) -> None:
    home = await make_home("2026-01-14T00:20:00+02:00")
    home.known_for_s = 0
    home.serve()
    await home.add()
    assert (await cards.past())["result"] == {"prices": None, "selling": None}


async def test_past_days_have_the_rights_of_the_present(hass: HomeAssistant, make_home: MakeHome, cards: Cards) -> None:
    home = await a_home(make_home)
    guest = MockUser(name="Guest").add_to_hass(hass)
    guest.mock_policy({"entities": {"entity_ids": {}}})
    assert (await cards.past(guest))["error"]["code"] == "unauthorized"
    price = home.state("sensor", "current_price").entity_id
    guest.mock_policy({"entities": {"entity_ids": {price: {"read": True}}}})
    answer = (await cards.past(guest))["result"]
    assert answer["prices"] is not None
    assert answer["selling"] is None


async def test_past_days_of_an_entry_that_is_not_loaded_are_refused(make_home: MakeHome, cards: Cards) -> None:
    home = await a_home(make_home)
    await home.hass.config_entries.async_unload("entry")
    assert (await cards.past(entry_id="entry"))["error"]["code"] == "not_found"
    assert (await cards.past(entry_id="nowhere"))["error"]["code"] == "not_found"

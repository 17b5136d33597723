"""A home whose server dies: prices go on changing at the hour, over a restart too, for as long as they were told."""

from datetime import datetime

import pytest

from tests.support.hass.expected_states import Told
from tests.support.hass.real_home import House, next_hour
from tunnihind.market import DAY_S, HOUR_S

pytestmark = pytest.mark.timeout(180)


async def test_prices_go_on_without_the_server_and_end_with_what_is_known(house: House) -> None:
    told = await Told.by(house.server)
    await house.server.kill()
    await assert_price_changes_at_the_hour(house, told)
    await house.restart_home_assistant(later=3 * HOUR_S)
    await assert_price(house, told)
    problem = await house.until_shows("data_problem", lambda state: state.state == "on", say="a problem")
    assert problem.attributes["problems"] == ["server_unreachable"]
    await house.restart_home_assistant(later=4 * DAY_S)
    await house.until_shows("current_price", lambda state: state.state == "unavailable", say="unavailable")
    await house.start_server()
    await house.reload()
    await house.until_loaded()
    await assert_price(house, await Told.by(house.server))
    await house.until_shows("data_problem", lambda state: state.state == "off", say="no problem")


async def assert_price_changes_at_the_hour(house: House, told: Told) -> None:
    """The new hour's price is there within its first second."""
    hour = next_hour(house.clock.now())
    await house.come_to(hour)
    assert (await house.shows("current_price")).number == told.settled[hour - HOUR_S]
    price = await house.until_shows("current_price", lambda state: state.number == told.settled[hour], say="the hour's")
    assert 0 <= datetime.fromisoformat(price.last_changed).timestamp() - hour < 1
    assert (await house.shows("next_price")).number == told.settled[hour + HOUR_S]


async def assert_price(house: House, told: Told) -> None:
    """What is shown is what was told of the hour that the clock is in."""
    await house.until_shows(
        "current_price", lambda state: state.number == told.price_at(house.clock.now()), say="what was told"
    )

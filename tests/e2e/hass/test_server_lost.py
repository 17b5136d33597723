"""A home whose server dies: prices go on changing at the hour, also over a restart, until the known prices end."""

from datetime import datetime

import pytest

from tests.support.hass.expected_states import ExpectedStates
from tests.support.hass.real_home import AT_ONCE_S, RealHome, next_hour
from tunnihind.core.market import DAY_S, HOUR_S

pytestmark = pytest.mark.timeout(300)


async def test_prices_go_on_without_the_server_and_end_with_what_is_known(real_home: RealHome) -> None:
    told = await ExpectedStates.from_api(real_home.server)
    await real_home.server.kill()
    await assert_price_changes_at_the_hour(real_home, told)
    await real_home.restart_home_assistant(later=3 * HOUR_S)
    await assert_price(real_home, told)
    problem = await real_home.until_shows("data_problem", lambda state: state.state == "on", say="a problem")
    assert problem.attributes["problems"] == ["server_unreachable"]
    await real_home.restart_home_assistant(later=4 * DAY_S)
    await real_home.until_shows("current_price", lambda state: state.state == "unavailable", say="unavailable")
    await real_home.start_server()
    await real_home.reload()
    await real_home.until_loaded()
    await assert_price(real_home, await ExpectedStates.from_api(real_home.server))
    await real_home.until_shows("data_problem", lambda state: state.state == "off", say="no problem")


async def assert_price_changes_at_the_hour(real_home: RealHome, told: ExpectedStates) -> None:
    """The new hour's price comes at its start, and not at the next poll."""
    hour = next_hour(real_home.clock.now())
    await real_home.come_to(hour)
    assert (await real_home.shows("current_price")).number == told.settled[hour - HOUR_S]
    price = await real_home.until_shows(
        "current_price", lambda state: state.number == told.settled[hour], say="the hour's"
    )
    assert 0 <= datetime.fromisoformat(price.last_changed).timestamp() - hour < AT_ONCE_S
    assert (await real_home.shows("next_price")).number == told.settled[hour + HOUR_S]


async def assert_price(real_home: RealHome, told: ExpectedStates) -> None:
    """The states are the known prices of the present hour."""
    await real_home.until_shows(
        "current_price", lambda state: state.number == told.price_at(real_home.clock.now()), say="what was told"
    )

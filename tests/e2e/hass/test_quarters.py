"""A home that turns to billing by the quarter, in a real Home Assistant and beside a real server."""

from datetime import datetime

import pytest

from tests.support.hass.quarter_day import bill_by_quarter
from tests.support.hass.real_home import RealHome
from tunnihind.market import QUARTER_S

pytestmark = pytest.mark.timeout(180)


async def test_prices_go_by_the_quarter_once_the_household_says_so(real_home: RealHome) -> None:
    answer = (await real_home.server.get("/api/v1/quarters?days=1")).json()
    told = {quarter["ts"]: quarter["eurKwh"] for quarter in answer["dayAhead"]}
    await bill_by_quarter(real_home)
    now = real_home.clock.now()
    quarter = int(now - now % QUARTER_S) + QUARTER_S
    await real_home.come_to(quarter)
    price = await real_home.until_shows(
        "current_price", lambda state: state.number == told[quarter], say="the quarter's price"
    )
    listed = {
        datetime.fromisoformat(item["start"]).timestamp(): item["value"] for item in price.attributes["raw_today"]
    }
    assert len(listed) == 96
    assert listed.items() <= told.items()
    following = await real_home.hass.state(await real_home.entity("next_quarter_price"))
    assert following is not None
    assert following.number == told[quarter + QUARTER_S]

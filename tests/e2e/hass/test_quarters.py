"""A home that changes to billing by the quarter before a day of 100 quarters, with a real Home Assistant and server."""

from datetime import datetime

import pytest

from tests.support.hass.quarter_day import bill_by_quarter, live_quarters
from tests.support.hass.real_home import RealHome
from tunnihind.core.market import HOUR_S, QUARTER_S

pytestmark = pytest.mark.timeout(300)

BEGINS = "2026-10-24T20:00:00Z"
"""23:00 in Tallinn, an hour before the day on which the clocks go back."""
REPEATED_TS = round(datetime.fromisoformat("2026-10-25T03:00:00+03:00").timestamp())
"""The start of the hour that comes twice."""


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


async def test_each_quarter_around_the_repeated_hour_shows_the_price_the_server_has(real_home: RealHome) -> None:
    shown, served = await live_quarters(real_home, REPEATED_TS - HOUR_S, REPEATED_TS + 3 * HOUR_S)
    assert len(shown) == 16
    assert shown == served
    assert len(set(shown.values())) > 8, "the prices go by the hour"

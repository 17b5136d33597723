"""The day on which the clocks go back, in a real Home Assistant and beside a real server."""

from datetime import date

import pytest

from tests.support.hass.quarter_day import bill_by_quarter, live_quarters
from tests.support.hass.real_home import RealHome
from tunnihind.market import ESTONIA

pytestmark = pytest.mark.timeout(300)

BEGINS = "2026-10-24T20:00:00Z"
"""23:00 in Tallinn, an hour before the day begins."""


async def test_each_of_100_quarters_shows_the_price_that_the_server_has_for_it(real_home: RealHome) -> None:
    await bill_by_quarter(real_home)
    start_ts, end_ts = ESTONIA.midnight(date(2026, 10, 25)), ESTONIA.midnight(date(2026, 10, 26))
    shown, served = await live_quarters(real_home, start_ts, end_ts)
    assert len(shown) == 100
    assert shown == served
    assert len(set(shown.values())) > 50, "the prices go by the hour"

"""Data for other programs: the sensor *Price list*, and attributes of the other price sensors."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_bytes
from hypothesis import example, given
from hypothesis import strategies as st

from custom_components.tunnihind.client.answers import Band, MarketPrices
from custom_components.tunnihind.core.market import ESTONIA
from custom_components.tunnihind.core.tariff import Tariff
from custom_components.tunnihind.entities.price_sensor import MAX_HAEO_POINTS
from custom_components.tunnihind.household.prices_now import (
    PricesNow,
    haeo_points,
    prices_in_nord_pool_format,
    timeline_of,
)
from custom_components.tunnihind.prices.timeline import Period
from tests.integration.household.test_entities import enable_all
from tests.support.household.home import DAY_S, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.price_readers import HaeoSeries
from tests.support.household.recording_proxy import RecordingProxy
from tests.support.household.state_changes import record_state_changes
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.settings import Settings

AFTERNOON = "2026-01-14T15:20:00+02:00"
MIDNIGHT = instant("2026-01-14T00:00:00+02:00")
PRICE_SENSORS = (
    *("current_price", "next_price", "forecast", "price_list", "average_today", "lowest_today", "highest_today"),
    *("average_tomorrow", "lowest_tomorrow", "highest_tomorrow", "spread_today", "average_ahead"),
)


@pytest.fixture
async def afternoon(make_home: MakeHome, proxy: RecordingProxy) -> Home:
    """Return a home with tomorrow's prices, whose household asks through the proxy; not yet set up."""
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW)
    proxy.upstream, home.port = home.server.port, proxy.port
    return home


async def test_the_list_has_all_prices_from_midnight_on_without_a_gap(hass: HomeAssistant, afternoon: Home) -> None:
    await afternoon.add()
    await enable_all(hass, afternoon)
    listed = afternoon.state("sensor", "price_list").attributes["rates"]
    periods = afternoon.entry.runtime_data.prices.timeline.periods
    assert instant(listed[0]["start"]) == MIDNIGHT
    assert instant(listed[-1]["end"]) == periods[-1].end > afternoon.now + 71 * HOUR_S
    assert [rate["end"] for rate in listed[:-1]] == [rate["start"] for rate in listed[1:]]
    assert [rate["value"] for rate in listed] == [period.price for period in periods if period.start >= MIDNIGHT]


async def test_the_longest_list_of_quarters_reaches_to_the_end_in_less_than_100_kb(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW, settings=Settings(full_horizon=True))
    home.price_of = home.forecast_of = lambda start: -1234.56 - start // HOUR_S % 7
    home.serve_quarters(lambda start: -1234.56 - start // QUARTER_S % 7)
    await home.add(options={"billed_by": "quarter"})
    await enable_all(hass, home)
    attributes = home.state("sensor", "price_list").attributes
    end = home.entry.runtime_data.prices.timeline.periods[-1].end
    assert instant(attributes["rates"][-1]["end"]) == end > home.now + 7 * DAY_S
    assert len(attributes["rates"]) == (end - MIDNIGHT) // QUARTER_S
    assert len(attributes["forecast"]) == 4 * 96
    assert len(json_bytes(dict(attributes))) < 100_000


def test_the_longest_horizon_is_listed_to_its_end() -> None:
    """On the day of 25 hours, with tomorrow's prices and a forecast of seven delivery days after them."""
    midnight, end = instant("2026-10-25T00:00:00+03:00"), instant("2026-11-03T01:00:00+02:00")
    band = Band(1234.5, 1234.5, 1234.5)
    answer = MarketPrices(
        now=instant("2026-10-25T15:20:00+02:00"),
        made_at=None,
        last_refresh=None,
        backtest=None,
        settled={},
        forecast=dict.fromkeys(range(midnight, end, QUARTER_S), band),
        step_s=QUARTER_S,
    )
    timeline = timeline_of(answer, Tariff())
    prices = PricesNow(
        now=answer.now, answer=answer, timeline=timeline, level_prices=timeline, cheap_hours=6, outcomes={}
    )
    assert (prices.listed_periods[0].start, prices.listed_periods[-1].end) == (midnight, end)
    longest = json_bytes(
        {
            "rates": prices_in_nord_pool_format(ESTONIA, prices.listed_periods),
            "forecast": haeo_points(ESTONIA, prices.listed_periods[: MAX_HAEO_POINTS - 1], prices.now),
        }
    )
    assert len(longest) < 99_000


@given(
    step_s=st.sampled_from([QUARTER_S, HOUR_S]),
    hours=st.integers(1, 216),
    minute=st.integers(0, 9 * 24 * 60),
    factor=st.integers(1, 450),
    hole=st.integers(1, 216 * 4),
)
@example(step_s=QUARTER_S, hours=216, minute=0, factor=199, hole=864)
@example(step_s=HOUR_S, hours=24, minute=0, factor=199, hole=864)
@example(step_s=HOUR_S, hours=49, minute=60, factor=199, hole=20)
@example(step_s=HOUR_S, hours=49, minute=25 * 60, factor=199, hole=20)
def test_haeo_takes_every_listed_price_whenever_it_plans(
    step_s: int, hours: int, minute: int, factor: int, hole: int
) -> None:
    """Where a list of whole days begins, HAEO can't tell its first price from its last: it lacks the last.

    At a hole the list ends, or begins if the hole is over.
    """
    starts = range(MIDNIGHT, MIDNIGHT + hours * HOUR_S, step_s)
    prices = [(place * factor % 451 - 50) / 100 for place in range(len(starts))]
    every = [Period(ts, ts + step_s, price, price, price, True) for ts, price in zip(starts, prices, strict=True)]
    listed = every[: MAX_HAEO_POINTS - 1]
    now = MIDNIGHT + minute * 60 % (listed[-1].end - MIDNIGHT)
    gap = every[hole].start if hole < len(listed) else listed[-1].end
    points = haeo_points(ESTONIA, [period for period in listed if period.start != gap], now)
    listed = [period for period in listed if (period.start > gap if gap <= now else period.start < gap)]
    if listed and (listed[-1].end - listed[0].start) % DAY_S == 0:
        del listed[-1]
    assert [instant(point["time"]) for point in points] == [
        *(period.start for period in listed),
        *(period.end for period in listed[-1:]),
    ]
    if not listed:
        return
    series = HaeoSeries.read({"forecast": points, "interpolation_mode": "previous", "unit_of_measurement": "EUR/kWh"})
    ahead = [period for period in listed if period.end > now]
    taken = [series.mean(max(period.start, now), period.end, now=now) for period in ahead]
    assert taken == pytest.approx([period.price for period in ahead], abs=1e-4)


async def test_the_list_changes_only_with_the_data(hass: HomeAssistant, afternoon: Home, proxy: RecordingProxy) -> None:
    await afternoon.add()
    await enable_all(hass, afternoon)
    # Home Assistant itself reloads the entry of enabled entities, half a minute later.
    await afternoon.at(afternoon.now + QUARTER_S)
    before = afternoon.state("sensor", "price_list")
    proxy.refuse(503)
    with record_state_changes(hass) as changes:
        await afternoon.at(MIDNIGHT + DAY_S + HOUR_S)
    assert before.entity_id not in changes.changed
    assert len(changes.changed) > 3
    proxy.pass_on()
    afternoon.serve()
    await afternoon.poll()
    assert instant(afternoon.state("sensor", "price_list").attributes["rates"][0]["start"]) == MIDNIGHT + DAY_S


async def test_only_prices_have_a_currency_and_each_forecast_has_times_and_values(
    hass: HomeAssistant, afternoon: Home
) -> None:
    await afternoon.add()
    await enable_all(hass, afternoon)
    for key in PRICE_SENSORS:
        assert afternoon.state("sensor", key).attributes["currency"] == "EUR", key
    with_currency = [state for state in hass.states.async_all() if "currency" in state.attributes]
    assert len(with_currency) == len(PRICE_SENSORS)
    for key in ("current_price", "forecast"):
        items = afternoon.state("sensor", key).attributes["forecast"]
        assert len(items) > 24
        assert all((item["time"], item["value"]) == (item["start"], item["p50"]) for item in items)

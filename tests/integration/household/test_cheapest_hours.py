"""The prices of each day's cheapest hours, from the server's price paths and the household's fees."""

import json
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from homeassistant.core import HomeAssistant

from custom_components.tunnihind.entities.price_sensor import PriceSensor
from tests.support.household import recording_proxy as paths
from tests.support.household.home import PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import ESTONIA, HOUR_S

LEGAL_VAT = 0.24
DAY_AND_NIGHT = [{"network_day": 6.0, "network_night": 1.0, "margin": 0.5}]
"""In winter, the network's day rate applies from 7:00 to 22:00 on working days."""


async def scenarios_of(home: Home) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((await home.server.ask("/api/v1/scenarios")).body)
    return answer


def listed(home: Home) -> list[dict[str, Any]]:
    days: list[dict[str, Any]] = home.state("sensor", "forecast").attributes["cheapest_hours"]
    return days


def fee(start: int) -> float:
    """Return the fees of `DAY_AND_NIGHT` in EUR/kWh without VAT."""
    wall = ESTONIA.local_time(start)
    return 0.065 if wall.weekday() < 5 and 7 <= wall.hour < 22 else 0.015


def check_day(day: Mapping[str, Any], answer: Mapping[str, Any], now: int) -> None:
    """Check a day's prices against those of each path, for a household with the fees `DAY_AND_NIGHT`."""
    known = {hour["ts"]: hour["eurMwh"] for hour in answer["dayAhead"]}
    on_paths = [{**dict(zip(answer["ts"], path, strict=True)), **known} for path in answer["paths"]]
    first = date.fromisoformat(day["day"])
    hours = range(ESTONIA.midnight(first), ESTONIA.midnight(first + timedelta(days=1)), HOUR_S)
    ahead = [start for start in hours if start > now]
    prices = np.array([[(path[ts] / 1000 + fee(ts)) * (1 + LEGAL_VAT) for ts in ahead] for path in on_paths])
    counts = range(1, min(8, len(ahead)) + 1)
    means = np.array([np.sort(prices, axis=1)[:, :count].mean(axis=1) for count in counts])
    expected = np.percentile(means, [10, 50, 90], axis=1)
    assert np.abs(np.array([day["p10"], day["p50"], day["p90"]]) - expected).max() < 0.00011


async def test_fees_that_are_always_equal_are_added_to_the_servers_figures(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(options={"rows": [{"margin": 1.0, "excise": 0.5}]})
    answer = await scenarios_of(home)
    assert [day["day"] for day in listed(home)] == [day["day"] for day in answer["cheapestHours"]]
    assert len(listed(home)) == 3
    for day, market in zip(listed(home), answer["cheapestHours"], strict=True):
        for name in ("p10", "p50", "p90"):
            with_fees = [(price / 1000 + 0.015) * (1 + LEGAL_VAT) for price in market[name]]
            assert day[name] == pytest.approx(with_fees, abs=0.00011)


@pytest.mark.parametrize("billed_by", ["hour", "quarter"])
async def test_a_cheaper_night_rate_changes_which_hours_are_cheapest(make_home: MakeHome, billed_by: str) -> None:
    home = await make_home()
    home.serve_quarters()
    await home.add(options={"rows": DAY_AND_NIGHT, "billed_by": billed_by})
    answer = await scenarios_of(home)
    assert len(listed(home)) == 3
    for day in listed(home):
        check_day(day, answer, home.now)


async def test_published_prices_have_no_range_and_only_hours_ahead_count(home: Home) -> None:
    today = listed(home)[0]
    assert today["p10"] == today["p50"] == today["p90"]
    await home.at(instant("2026-01-14T20:05:00+02:00"))
    ahead = sorted(home.consumer_price(instant(f"2026-01-14T{hour}:00:00+02:00")) for hour in (21, 22, 23))
    assert listed(home)[0]["p50"] == pytest.approx(np.cumsum(ahead) / [1, 2, 3], abs=0.0001)
    await home.publish(instant(PUBLISHED_TOMORROW))
    tomorrow = listed(home)[1]
    assert (tomorrow["day"], tomorrow["p10"]) == ("2026-01-15", tomorrow["p90"])


@pytest.mark.parametrize(("now", "hours"), [("2026-03-28T10:20:00+02:00", 23), ("2026-10-24T10:20:00+03:00", 25)])
async def test_a_day_on_which_clocks_change_counts_with_all_its_hours(
    make_home: MakeHome, now: str, hours: int
) -> None:
    home = await make_home(now=now, settled_until=now)
    await home.add(options={"rows": DAY_AND_NIGHT})
    answer = await scenarios_of(home)
    change = ESTONIA.local_time(home.now + 24 * HOUR_S).date()
    assert ESTONIA.midnight(change + timedelta(days=1)) - ESTONIA.midnight(change) == hours * HOUR_S
    (day,) = (day for day in listed(home) if day["day"] == change.isoformat())
    check_day(day, answer, home.now)


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 404},
        {"status": 503},
        {"data": {"zone": "EE"}},
        {"data": {"zone": "FI", "ts": [0], "paths": [[1.0]]}},
        {"data": {"zone": "EE", "ts": [0], "paths": [[1.0, 2.0]]}},
        {"data": {"zone": "EE", "ts": [], "paths": []}},
        {"data": []},
    ],
    ids=["other make", "failing", "no paths", "other zone", "uneven", "none yet", "a list"],
)
async def test_without_price_paths_the_attribute_is_absent(
    proxied_home: Home, proxy: RecordingProxy, answer: dict[str, Any]
) -> None:
    proxy.answer(paths.SCENARIOS, **answer)
    await proxied_home.add()
    attributes = proxied_home.state("sensor", "forecast").attributes
    assert "cheapest_hours" not in attributes
    assert {"p10", "p50", "p90", "forecast"} <= attributes.keys()


async def test_price_paths_are_requested_hourly_and_outlive_a_failure(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    for _ in range(2):
        proxy.asked.clear()
        await proxied_home.at(proxied_home.now + 3700)
        assert [asked.path for asked in proxy.asked].count(paths.SCENARIOS) == 1
    proxy.answer(paths.SCENARIOS, status=503)
    await proxied_home.at(proxied_home.now + 3700)
    assert listed(proxied_home)


def test_the_recorder_does_not_store_the_list(hass: HomeAssistant) -> None:
    assert "cheapest_hours" in PriceSensor._unrecorded_attributes

"""The price sensors through a day."""

from bisect import bisect_right
from statistics import fmean

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity

from tests.support.household.automations import restart
from tests.support.household.home import PUBLISHED_TODAY, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import HOUR_S, QUARTER_S

MIDNIGHT = instant("2026-01-15T00:00:00+02:00")
TODAY = range(instant("2026-01-14T00:00:00+02:00"), MIDNIGHT, HOUR_S)
TOMORROW = range(MIDNIGHT, instant("2026-01-16T00:00:00+02:00"), HOUR_S)


async def test_each_hour_shows_its_price_at_once_and_at_midnight_tomorrow_becomes_today(
    home: Home,
) -> None:
    await home.publish(instant(PUBLISHED_TOMORROW))
    for hour in range(TODAY.start + 11 * HOUR_S, TOMORROW.stop, HOUR_S):
        assert home.is_on("tomorrow_known") is (hour <= MIDNIGHT)
        await home.at(hour)
        assert float(home.value("current_price")) == home.consumer_price(hour)
    tomorrow = [home.consumer_price(start) for start in TOMORROW]
    assert [item["value"] for item in home.state("sensor", "current_price").attributes["raw_today"]] == tomorrow
    assert float(home.value("average_today")) == pytest.approx(sum(tomorrow) / 24, abs=5e-5)


async def test_sensors_that_are_useful_in_a_chart_have_long_term_statistics(
    hass: HomeAssistant, make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Entity, "entity_registry_enabled_default", True)
    home = await make_home()
    sells = {"selling": {"resolution": "hour", "rows": [{"margin": 0.8}]}}
    await home.add(options=sells, plans={"car": {"energy": 20, "power": 10}})
    kept = {state.entity_id for state in hass.states.async_all("sensor") if "state_class" in state.attributes}
    registry = er.async_get(hass)
    assert {registry.entities[entity_id].translation_key for entity_id in kept} == {
        "current_price",
        "selling_price",
        "spread_today",
        "forecast_error",
        "forecast_baseline_error",
        "forecast_skill",
        "forecast_saving",
        "last_saving",
        "saved_total",
        "cost_total",
    }


@pytest.mark.parametrize("quarters", [False, True], ids=["hours", "quarters"])
async def test_yesterday_is_known_from_the_start_and_over_a_restart(make_home: MakeHome, quarters: bool) -> None:
    """Autumn repeats an hour that day. At its last minute Home Assistant starts again, without the server."""
    home = await make_home("2026-10-25T21:50:00+02:00", "2026-10-26T01:00:00+02:00")
    step = QUARTER_S if quarters else HOUR_S
    if quarters:
        home.serve_quarters()
    await home.add(options={"billed_by": "quarter"} if quarters else {})
    day = range(instant("2026-10-24T00:00:00+03:00"), instant("2026-10-25T00:00:00+03:00"), step)
    price = home.consumer_quarter_price if quarters else home.consumer_price

    def shown() -> list[float]:
        return [item["value"] for item in home.state("sensor", "current_price").attributes["raw_yesterday"]]

    assert shown() == [price(start) for start in day]
    await home.at(instant("2026-10-25T23:59:00+02:00"))
    await home.server.runner.cleanup()
    await restart(home)
    assert shown() == [price(start) for start in day]


async def test_a_server_without_yesterday_is_no_problem(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T10:20:00+02:00")
    home.known_for_s = 12 * HOUR_S
    home.serve()
    await home.add()
    assert home.state("sensor", "current_price").attributes["raw_yesterday"][0]["start"] == "2026-01-13T22:00:00+02:00"
    assert not home.is_on("data_problem")


async def test_todays_list_average_lowest_and_highest_begin_at_tallinns_midnight(home: Home) -> None:
    prices = {start: home.consumer_price(start) for start in TODAY}
    raw = home.state("sensor", "current_price").attributes["raw_today"]
    assert [hour["value"] for hour in raw] == list(prices.values())
    assert (raw[0]["start"], raw[-1]["end"]) == ("2026-01-14T00:00:00+02:00", "2026-01-15T00:00:00+02:00")
    cheapest, dearest = min(prices, key=prices.__getitem__), max(prices, key=prices.__getitem__)
    assert float(home.value("average_today")) == pytest.approx(sum(prices.values()) / 24, abs=5e-5)
    assert float(home.value("lowest_today")) == prices[cheapest]
    assert float(home.value("highest_today")) == prices[dearest]
    assert instant(home.state("sensor", "lowest_today").attributes["start"]) == cheapest
    assert instant(home.state("sensor", "highest_today").attributes["end"]) == dearest + HOUR_S


async def test_tomorrow_is_unknown_until_its_publication_fills_it_in(home: Home) -> None:
    await home.at(instant("2026-01-14T14:00:00+02:00"))
    assert [home.value(f"{what}_tomorrow") for what in ("average", "lowest", "highest")] == ["unknown"] * 3
    assert not home.is_on("tomorrow_known")
    assert home.state("sensor", "current_price").attributes["tomorrow_valid"] is False
    await home.publish(instant(PUBLISHED_TOMORROW))
    attributes = home.state("sensor", "current_price").attributes
    assert home.is_on("tomorrow_known")
    assert [hour["value"] for hour in attributes["raw_tomorrow"]] == [home.consumer_price(start) for start in TOMORROW]
    assert attributes["tomorrow_valid"] is True
    assert float(home.value("lowest_tomorrow")) == min(home.consumer_price(start) for start in TOMORROW)


async def test_predicted_prices_bear_vat_and_never_pass_for_published_ones(home: Home) -> None:
    attributes = home.state("sensor", "current_price").attributes
    first_unpublished = instant(PUBLISHED_TODAY)
    assert attributes["raw_tomorrow"] == [
        {
            "start": "2026-01-15T00:00:00+02:00",
            "end": "2026-01-15T01:00:00+02:00",
            "value": home.consumer_price(MIDNIGHT),
        }
    ]
    assert instant(attributes["raw_forecast"][0]["start"]) == first_unpublished
    first = attributes["forecast"][0]
    assert instant(first["start"]) == first_unpublished
    assert home.forecast_of
    median = home.forecast_of(first_unpublished)
    expected = [round((median + width) / 1000 * 1.24, 4) for width in (-10, 0, 10)]
    assert [first["p10"], first["p50"], first["p90"]] == expected


async def test_the_forecast_sensor_is_the_mean_median_of_the_first_unpublished_day(home: Home) -> None:
    assert home.forecast_of
    begins = instant(PUBLISHED_TODAY)
    medians = [round(home.forecast_of(begins + i * HOUR_S) / 1000 * 1.24, 4) for i in range(24)]
    state = home.state("sensor", "forecast")
    assert float(state.state) == pytest.approx(sum(medians) / 24, abs=5e-5)
    assert instant(state.attributes["start"]) == begins
    assert instant(state.attributes["end"]) == begins + 24 * HOUR_S
    assert state.attributes["p10"] < float(state.state) < state.attributes["p90"]


async def test_an_unpublished_current_hour_shows_its_forecast_as_not_settled(make_home: MakeHome) -> None:
    home = await make_home("2026-01-15T00:30:00+02:00", PUBLISHED_TODAY)
    await home.add()
    await home.at(instant(PUBLISHED_TODAY))
    state = home.state("sensor", "current_price")
    assert state.attributes["settled"] is False
    assert home.forecast_of
    assert float(state.state) == round(home.forecast_of(instant(PUBLISHED_TODAY)) / 1000 * 1.24, 4)


@pytest.mark.parametrize(("market", "shown", "is_negative"), [(-5.0, "-0.0062", True), (-0.01, "0.0", False)])
async def test_a_negative_price_is_shown_as_it_is_unless_it_rounds_to_zero(
    make_home: MakeHome, market: float, shown: str, is_negative: bool
) -> None:
    home = await make_home(price_of=lambda _: market)
    await home.add()
    assert (home.value("current_price"), home.is_on("negative_price")) == (shown, is_negative)


async def test_level_and_cheap_hour_follow_the_days_order(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=lambda start: float(start // HOUR_S % 24))
    await home.add(options={"cheap_hours": 3})
    levels, cheap = [], []
    for hour in TODAY:
        await home.at(hour)
        levels.append(home.value("price_level"))
        cheap.append(home.is_on("cheap_hour"))
    # The day begins with the two hours that are 22:00 and 23:00 in UTC, the dearest here.
    assert cheap == [hour in {2, 3, 4} for hour in range(24)]
    assert (levels[0], levels[2], levels[11], levels[12], levels[17], levels[23]) == (
        "very_high", "very_low", "low", "normal", "high", "very_high"
    )  # fmt: skip


async def test_the_level_of_the_month_goes_by_the_servers_scale_with_the_households_fees(
    hass: HomeAssistant, make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this zone, the network fee is lower at night, so the household's bounds are between those of day and night."""
    monkeypatch.setattr(Entity, "entity_registry_enabled_default", True)
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=lambda start: 5.0 * (start // HOUR_S % 24) - 5)
    await home.add(options={"rows": [{"margin": 0.5, "network_day": 4, "network_night": 2}]})
    market = home.server.snapshot.data.price_scale
    tariff, levels = home.entry.runtime_data.tariff, []
    listed = [period.start for period in home.entry.runtime_data.prices.listed_periods]
    scale = [fmean(tariff.price(bound, start) for start in listed) for bound in market]
    for hour in TODAY:
        await home.at(hour)
        levels.append(home.value("price_level_month"))
        price = float(home.value("current_price"))
        assert levels[-1] == ["very_low", "low", "normal", "high", "very_high"][bisect_right(scale, price)]
    assert set(levels) == {"very_low", "low", "normal", "high", "very_high"}


@pytest.mark.parametrize(
    ("market", "levels"),
    [(500.0, ("normal", "very_high")), (-500.0, ("normal", "very_low")), (None, ("normal", "unknown"))],
)
async def test_on_a_day_of_equal_prices_only_the_level_of_the_month_differs(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch, market: float | None, levels: tuple[str, str]
) -> None:
    """Without the server's scale, this level is unknown."""
    monkeypatch.setattr(Entity, "entity_registry_enabled_default", True)
    today = 50.0 if market is None else market
    home = await make_home(price_of=lambda start: today if start >= TODAY.start else 20.0 + start // HOUR_S % 24)
    if market is None:
        monkeypatch.setattr(ServedData, "price_scale", ())
    await home.add()
    assert (home.value("price_level"), home.value("price_level_month")) == levels

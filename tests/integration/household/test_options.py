"""Options that are changed at runtime: prices follow at once, and no entity turns unavailable."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.core import HomeAssistant

from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.state_changes import record_state_changes
from tunnihind.core.market import HOUR_S

FLAT: Mapping[str, Any] = {"vat_percent": 0}


async def change(home: Home, **options: Any) -> None:  # noqa: ANN401  whatever the form keeps
    """Change options, and assert that it is done in place."""
    with record_state_changes(home.hass) as states:
        home.hass.config_entries.async_update_entry(home.entry, options=options)
        await home.settle()
    assert not states.turned_unavailable


def price_at(home: Home, wall: str) -> float:
    """Return the published price of the hour that starts then."""
    attributes = home.state("sensor", "current_price").attributes
    hours = [*attributes["raw_today"], *attributes["raw_tomorrow"]]
    [price] = [hour["value"] for hour in hours if instant(hour["start"]) == instant(wall)]
    assert isinstance(price, float)
    return price


@pytest.fixture
async def free(make_home: MakeHome) -> Home:
    """Return a home with a market price of zero, on the evening before a holiday on a Tuesday."""
    home = await make_home(
        "2026-02-23T16:00:00+02:00", settled_until="2026-02-25T01:00:00+02:00", price_of=lambda _: 0.0
    )
    home.forecast_of = lambda _: 10.0
    home.serve()
    await home.add()
    return home


async def test_vat_and_fees_apply_at_once_to_published_and_predicted_prices_alike(free: Home) -> None:
    fees = {"vat_percent": 24, "margin": 0.5, "network_day": 4.0, "network_night": 2.0, "excise": 0.3, "renewable": 1.2}
    await change(free, rows=[fees])
    day = (0.5 + 4.0 + 0.3 + 1.2) / 100 * 1.24
    assert free.value("current_price") == str(round(day, 4))
    first = free.state("sensor", "current_price").attributes["forecast"][0]
    night = (0.5 + 2.0 + 0.3 + 1.2) / 100 * 1.24
    assert [first[key] for key in ("p10", "p50", "p90")] == [
        round(night + eur_mwh / 1000 * 1.24, 4) or 0.0 for eur_mwh in (0, 10, 20)
    ]


async def test_fees_may_have_been_typed_with_vat_in_them(free: Home) -> None:
    row = {"vat_percent": 24, "margin": 10.0}
    await change(free, rows=[row], fees_include_vat=True)
    assert free.value("current_price") == "0.1"
    await change(free, rows=[row])
    assert free.value("current_price") == "0.124"


async def test_a_dated_row_holds_from_tallinns_midnight_on(free: Home) -> None:
    await change(free, rows=[{**FLAT, "margin": 1.0}, {**FLAT, "valid_from": "2026-02-24", "margin": 2.0}])
    assert price_at(free, "2026-02-23T23:00:00+02:00") == 0.01
    assert price_at(free, "2026-02-24T00:00:00+02:00") == 0.02
    await free.at(instant("2026-02-23T23:59:59+02:00"))
    assert free.value("current_price") == "0.01"
    await free.at(instant("2026-02-24T00:00:00+02:00"))
    assert free.value("current_price") == "0.02"


async def test_night_rate_hours_holidays_and_weekends(free: Home) -> None:
    rows = [{**FLAT, "network_day": 10.0, "network_night": 5.0}]
    await change(free, rows=rows)
    assert price_at(free, "2026-02-23T06:00:00+02:00") == 0.05
    assert price_at(free, "2026-02-23T07:00:00+02:00") == 0.1
    assert price_at(free, "2026-02-24T12:00:00+02:00") == 0.05  # Independence Day
    await change(free, rows=rows, holidays_at_night_rate=False, day_rate_starts="08:00:00", day_rate_ends="23:00:00")
    assert price_at(free, "2026-02-23T07:00:00+02:00") == 0.05
    assert price_at(free, "2026-02-23T22:00:00+02:00") == 0.1
    assert price_at(free, "2026-02-24T12:00:00+02:00") == 0.1


async def test_weekends_are_at_the_night_rate_unless_the_contract_says_otherwise(make_home: MakeHome) -> None:
    home = await make_home("2026-01-17T12:00:00+02:00", "2026-01-18T01:00:00+02:00", price_of=lambda _: 0.0)
    rows = [{**FLAT, "network_day": 10.0, "network_night": 5.0}]
    await home.add(options={"rows": rows})
    assert home.value("current_price") == "0.05"
    await change(home, rows=rows, weekends_at_night_rate=False)
    assert home.value("current_price") == "0.1"


async def test_the_option_sets_how_many_hours_are_cheap(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T05:00:00+02:00", price_of=lambda start: float(start // HOUR_S % 24))
    await home.add(options={"cheap_hours": 3})
    assert not home.is_on("cheap_hour")  # 03:00 in UTC, the fourth
    await change(home, cheap_hours=4)
    assert home.is_on("cheap_hour")


async def test_a_plan_follows_changed_prices_before_it_has_begun(make_home: MakeHome) -> None:
    """With a flat market the night rate decides."""
    home = await make_home("2026-01-14T12:00:00+02:00", PUBLISHED_TOMORROW, price_of=lambda _: 50.0)
    window = {"duration": 60, "split": False, "earliest": "14:00:00", "deadline": "23:00:00"}
    await home.add(plans={PLAN_ID: window})
    assert instant(home.value("window_start", PLAN_ID)) == instant("2026-01-14T14:00:00+02:00")
    await change(home, rows=[{"network_day": 10.0, "network_night": 5.0}])
    assert instant(home.value("window_start", PLAN_ID)) == instant("2026-01-14T22:00:00+02:00")


async def test_options_that_change_nothing_change_no_state(hass: HomeAssistant, home: Home) -> None:
    with record_state_changes(hass) as states:
        await change(home, cheap_hours=6)
    assert states.changed == {}


async def test_an_option_survives_a_reload(hass: HomeAssistant, home: Home) -> None:
    await change(home, rows=[{"vat_percent": 0, "margin": 100.0}])
    price = home.value("current_price")
    await hass.config_entries.async_reload(home.entry.entry_id)
    await home.settle()
    assert home.value("current_price") == price
    assert float(price) == round(home.price_of(home.now - home.now % HOUR_S) / 1000 + 1, 4)

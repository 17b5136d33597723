"""Options that are changed at runtime: prices follow at once, and no entity turns unavailable."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.core import HomeAssistant

from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.state_changes import record_state_changes

FLAT: Mapping[str, Any] = {"vat_percent": 0}


async def change(home: Home, **options: Any) -> None:  # noqa: ANN401  whatever the form keeps
    """Change options, and assert that it is done in place."""
    with record_state_changes(home.hass) as states:
        home.hass.config_entries.async_update_entry(home.entry, options=options)
        await home.settle()
    assert not states.turned_unavailable


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


async def test_a_dated_row_holds_from_tallinns_midnight_on(free: Home) -> None:
    await change(free, rows=[{**FLAT, "margin": 1.0}, {**FLAT, "valid_from": "2026-02-24", "margin": 2.0}])
    assert free.state("sensor", "current_price").attributes["raw_tomorrow"][0]["value"] == 0.02
    await free.at(instant("2026-02-23T23:59:59+02:00"))
    assert free.value("current_price") == "0.01"
    await free.at(instant("2026-02-24T00:00:00+02:00"))
    assert free.value("current_price") == "0.02"


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

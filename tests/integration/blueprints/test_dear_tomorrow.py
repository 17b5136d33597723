"""The message on the day before an expensive day."""

from typing import Any, Final

import pytest
from homeassistant.core import State
from pytest_homeassistant_custom_component.common import async_mock_service, mock_restore_cache

from tests.support.household.automations import device_of, restart
from tests.support.household.blueprints import use, use_from_a_start_on
from tests.support.household.home import PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S

MIDNIGHT: Final = instant("2026-01-15T00:00:00+02:00")


def market(usual: float, dearest: float) -> Any:  # noqa: ANN401, a price by its start
    """Return a market that is cheapest at 03:00 and most expensive at 18:00 tomorrow, EUR/MWh."""
    return lambda start: {3: 10.0, 18: dearest}.get((start - MIDNIGHT) // HOUR_S, usual)


def inputs(home: Home, language: str = "en") -> dict[str, Any]:
    server = device_of(home.hass, "sensor", "current_price")
    return {"server": server, "notifier": {"entity_id": "notify.phone"}, "language": language}


@pytest.mark.parametrize(
    ("language", "title", "message"),
    [
        (
            "en",
            "Electricity is expensive tomorrow",
            "On average 31.3 c/kWh. Highest at 18:00: 74.4 c/kWh. Lowest at 03:00: 1.2 c/kWh.",
        ),
        (
            "et",
            "Homne elekter on kallis",
            "Keskmiselt 31,3 s/kWh. Kõrgeim kell 18:00: 74,4 s/kWh. Madalaim kell 03:00: 1,2 s/kWh.",
        ),
        (
            "ru",
            "Завтра электричество дорогое",
            "В среднем 31,3 цент/кВт·ч. Дороже всего в 18:00: 74,4 цент/кВт·ч. Дешевле всего в 03:00: 1,2 цент/кВт·ч.",
        ),
    ],
)
async def test_an_expensive_day_is_announced_once_when_its_prices_are_published(
    make_home: MakeHome, language: str, title: str, message: str
) -> None:
    home = await make_home(price_of=market(248.0, 600.0))
    await home.add(options={"selling": {"resolution": "hour", "rows": [{"margin": 1.0}]}})
    told = async_mock_service(home.hass, "notify", "send_message")
    await use(home, "notify_dear_tomorrow", inputs(home, language))
    assert told == []
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert [call.data for call in told] == [{"entity_id": ["notify.phone"], "title": title, "message": message}]
    await restart(home)
    await home.at(home.now + HOUR_S)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("usual", "dearest", "is_told"),
    [(100.0, 390.0, False), (100.0, 410.0, True), (210.0, 300.0, True)],
    ids=["neither", "one hour", "on average"],
)
async def test_only_an_expensive_day_is_announced(
    make_home: MakeHome, usual: float, dearest: float, *, is_told: bool
) -> None:
    home = await make_home(price_of=market(usual, dearest))
    await home.add()
    told = async_mock_service(home.hass, "notify", "send_message")
    await use(home, "notify_dear_tomorrow", inputs(home))
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert len(told) == is_told


@pytest.mark.parametrize("billed_by", ["hour", "quarter"])
async def test_one_expensive_quarter_does_not_make_an_expensive_hour(make_home: MakeHome, billed_by: str) -> None:
    home = await make_home()
    home.serve_quarters(lambda start: 600.0 if start == MIDNIGHT else 100.0)
    await home.add(options={"billed_by": billed_by})
    told = async_mock_service(home.hass, "notify", "send_message")
    await use(home, "notify_dear_tomorrow", inputs(home))
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert told == []


@pytest.mark.parametrize(
    ("last_looked", "told_now"),
    [("2026-01-13T14:05:00+02:00", 1), ("2026-01-14T14:05:00+02:00", 0), (None, 1)],
    ids=["yesterday", "today", "never"],
)
async def test_prices_published_while_home_assistant_was_off_are_announced_at_a_start(
    make_home: MakeHome, last_looked: str | None, told_now: int
) -> None:
    home = await make_home("2026-01-14T16:00:00+02:00", PUBLISHED_TOMORROW, price_of=market(300.0, 600.0))
    await home.add()
    mock_restore_cache(home.hass, [State("automation.home", "on", {"last_triggered": last_looked})])
    told = async_mock_service(home.hass, "notify", "send_message")
    await use_from_a_start_on(home, "notify_dear_tomorrow", inputs(home))
    assert len(told) == told_now

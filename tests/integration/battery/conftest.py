"""A home with a battery."""

import pytest

from tests.support.household.battery import BATTERY, BATTERY_ID, LOAD, charge, count
from tests.support.household.home import PUBLISHED_TOMORROW, Home, MakeHome


@pytest.fixture
async def roofless(make_home: MakeHome) -> Home:
    """Return a home in the afternoon with a half full battery, without sun; the integration is not yet set up."""
    home = await make_home("2026-01-14T15:00:00+02:00", PUBLISHED_TOMORROW)
    await count(home, LOAD)
    charge(home.hass, 50)
    return home


@pytest.fixture
async def house(roofless: Home) -> Home:
    """Return the home with the battery's plan."""
    await roofless.add(batteries={BATTERY_ID: BATTERY})
    return roofless

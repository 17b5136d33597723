"""Homes whose plans are changed beside their forms."""

import pytest

from tests.integration.household.test_entities import enable_all
from tests.support.household.home import PLAN_ID, Home, MakeHome
from tests.support.household.steering import CAR, ONE_PIECE, cheap_from_one_to_four


@pytest.fixture
async def night(make_home: MakeHome) -> Home:
    """Return a home at midnight, with a plan in one piece whose window is from 01:00 to 04:00."""
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.add(plans={PLAN_ID: ONE_PIECE})
    return home


@pytest.fixture
async def car(make_home: MakeHome) -> Home:
    """Return a home in the morning with the plan of a car, with all entities enabled."""
    home = await make_home()
    await home.add(plans={PLAN_ID: CAR})
    await enable_all(home.hass, home)
    return home

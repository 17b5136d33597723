"""A home whose market trades quarters."""

import pytest

from tests.support.household.home import Home, MakeHome


@pytest.fixture
async def quarter_home(make_home: MakeHome) -> Home:
    """Return a home in the morning whose server has prices of quarters; the integration is not yet set up."""
    home = await make_home()
    home.serve_quarters()
    return home

"""A Home Assistant that records nothing."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError

from tests.integration.household.test_services import ask
from tests.support.household.energy_meter import METER
from tests.support.household.home import Home


@pytest.mark.parametrize(
    ("action", "data"),
    [("import_prices", {}), ("import_costs", {"energy": METER}), ("compare_contracts", {"energy": METER})],
)
async def test_the_actions_say_that_they_need_the_recorder(
    hass: HomeAssistant, home: Home, action: str, data: dict[str, str]
) -> None:
    with pytest.raises(ServiceValidationError) as refusal:
        await ask(hass, action, **data)
    assert refusal.value.translation_key == "no_recorder"

"""What a repair notice offers to do."""

from homeassistant.components.repairs import ConfirmRepairFlow, RepairsFlow
from homeassistant.core import HomeAssistant


async def async_create_fix_flow(
    hass: HomeAssistant, issue_id: str, data: dict[str, str | int | float | None] | None
) -> RepairsFlow:
    """Let a notice be read and put away: there is nothing to mend."""
    return ConfirmRepairFlow()

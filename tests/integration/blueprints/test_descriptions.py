"""The description of every blueprint."""

from pathlib import Path
from typing import Final

from homeassistant.components.blueprint.models import Blueprint, DomainBlueprints
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.support.household.blueprints import BLUEPRINTS

FILES: Final = sorted(BLUEPRINTS.rglob("*.yaml"))
OLDEST: Final = "2026.4.0"
OLDEST_WITH_TRIGGERS: Final = "2026.7.0"


async def test_each_blueprint_names_its_address_its_inputs_and_the_oldest_home_assistant_for_it(
    hass: HomeAssistant,
) -> None:
    await async_setup_component(hass, "automation", {})
    found: DomainBlueprints = hass.data["automation_blueprints"]
    loaded = {Path(path).stem: blueprint for path, blueprint in (await found.async_get_blueprints()).items()}
    assert loaded.keys() == {file.stem for file in FILES}
    for file in FILES:
        blueprint, text = loaded[file.stem], file.read_text()
        assert isinstance(blueprint, Blueprint), blueprint
        uses_triggers = "trigger: tunnihind." in text or "condition: tunnihind." in text
        oldest = blueprint.metadata["homeassistant"]["min_version"]
        assert oldest == (OLDEST_WITH_TRIGGERS if uses_triggers else OLDEST), file
        assert uses_triggers or blueprint.validate() is None, file
        assert all(one["name"] and one["selector"] for one in blueprint.inputs.values()), file
        assert blueprint.metadata["source_url"].endswith(f"/blob/main/{file.relative_to(BLUEPRINTS.parent)}")

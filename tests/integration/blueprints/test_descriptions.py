"""The description of every blueprint."""

from pathlib import Path
from typing import Final

import pytest
from homeassistant.components.blueprint.models import Blueprint, DomainBlueprints
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.support.household.blueprints import BLUEPRINTS

FILES: Final = sorted(BLUEPRINTS.rglob("*.yaml"))
OLDEST: Final = "2026.4.0"
OLDEST_WITH_TRIGGERS: Final = "2026.7.0"
each_blueprint: Final = pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])


@pytest.fixture
async def blueprints(hass: HomeAssistant) -> dict[str, Blueprint]:
    """Return the blueprints as Home Assistant has read them, by their names."""
    await async_setup_component(hass, "automation", {})
    found: DomainBlueprints = hass.data["automation_blueprints"]
    loaded = await found.async_get_blueprints()
    sound = {Path(path).stem: blueprint for path, blueprint in loaded.items() if isinstance(blueprint, Blueprint)}
    assert sound.keys() == {file.stem for file in FILES}
    return sound


@each_blueprint
def test_each_blueprint_names_the_oldest_home_assistant_that_can_run_it(
    blueprints: dict[str, Blueprint], file: Path
) -> None:
    text = file.read_text()
    uses_triggers = "trigger: tunnihind." in text or "condition: tunnihind." in text
    blueprint = blueprints[file.stem]
    asked = blueprint.metadata["homeassistant"]["min_version"]
    assert asked == (OLDEST_WITH_TRIGGERS if uses_triggers else OLDEST)
    if asked == OLDEST:
        assert blueprint.validate() is None


@each_blueprint
def test_every_input_has_a_description_or_a_clear_name(blueprints: dict[str, Blueprint], file: Path) -> None:
    blueprint = blueprints[file.stem]
    assert all(one["name"] and one["selector"] for one in blueprint.inputs.values())


@each_blueprint
def test_each_blueprint_names_its_own_address(blueprints: dict[str, Blueprint], file: Path) -> None:
    blueprint = blueprints[file.stem]
    assert blueprint.metadata["source_url"].endswith(f"/blob/main/{file.relative_to(BLUEPRINTS.parent)}")

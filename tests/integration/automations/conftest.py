"""Automations in a household's world."""

from typing import Final

from custom_components.tunnihind.const import KNOWS_TRIGGERS
from tests.integration.household.conftest import _custom_integrations, make_world, world

__all__ = ["_custom_integrations", "make_world", "world"]

# Left out rather than skipped: where Home Assistant is too old for them there is nothing to try.
collect_ignore_glob: Final = [] if KNOWS_TRIGGERS else ["test_*.py"]

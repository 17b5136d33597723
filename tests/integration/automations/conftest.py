"""Automations in a household's world."""

from tests.integration.household.conftest import _custom_integrations, make_world, world

__all__ = ["_custom_integrations", "make_world", "world"]

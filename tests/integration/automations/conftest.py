"""Triggers, conditions and blueprints, on versions of Home Assistant that have them."""

from typing import Final

from custom_components.tunnihind.const import KNOWS_TRIGGERS

# The tests are left out rather than skipped, because there is nothing to test if Home Assistant is too old.
collect_ignore_glob: Final = [] if KNOWS_TRIGGERS else ["test_*.py"]

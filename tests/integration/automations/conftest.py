"""Triggers, conditions and blueprints, on versions of Home Assistant that have them."""

from typing import Final

from custom_components.tunnihind.const import KNOWS_TRIGGERS

# Left out rather than skipped: where Home Assistant is too old for them there is nothing to try.
collect_ignore_glob: Final = [] if KNOWS_TRIGGERS else ["test_*.py"]

"""What tests find in the log of a Home Assistant."""

from tests.support.hass.process import entries_to_heed


def test_an_entry_that_names_us_is_found_with_its_traceback() -> None:
    log = """\
before any entry
/config/custom_components/tunnihind/sensor.py:1: DeprecationWarning: old
2026-11-08 12:00:00.000 INFO (MainThread) [custom_components.tunnihind] fine
2026-11-08 12:00:00.000 ERROR (MainThread) [homeassistant.core] it failed
Traceback (most recent call last):
  File "/config/custom_components/tunnihind/sensor.py", line 1
2026-11-08 12:00:00.000 WARNING (MainThread) [homeassistant.loader] another
"""
    python, error, other = entries_to_heed(log)
    assert python.endswith("DeprecationWarning: old")
    assert error.splitlines()[-1].endswith('sensor.py", line 1')
    assert "another" in other

"""Real Home Assistant beside a real server on the loopback."""

import pytest

# Home Assistant's own web server still does so, and would not start with warnings as errors.
HOME_ASSISTANT_KEYS = "ignore:It is recommended to use web.AppKey"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let Home Assistant's web server start."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings(HOME_ASSISTANT_KEYS))

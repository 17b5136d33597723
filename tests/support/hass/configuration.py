"""The configuration folder of a fresh Home Assistant in an Estonian home, without an owner."""

import json
from pathlib import Path
from typing import Any

INTEGRATIONS = Path(__file__).parents[3] / "custom_components"

_CONFIGURATION = """\
homeassistant:
  name: Kodu
  latitude: 59.437
  longitude: 24.7536
  elevation: 10
  unit_system: metric
  time_zone: Europe/Tallinn
  currency: EUR
  country: EE
api:
auth:
automation: !include automations.yaml
config:
frontend:
history:
logger:
  default: info
lovelace:
  dashboards:
    of-a-file:
      mode: yaml
      title: Of a file
      show_in_sidebar: false
      filename: dashboard.yaml
onboarding:
recorder:
  commit_interval: 1
system_health:
websocket_api:
"""

_DASHBOARD = """\
views:
  - path: prices
    cards:
      - type: custom:tunnihind-card
"""


def write_configuration(folder: Path, port: int, *, discovery: bool = False) -> None:
    """Fill a configuration folder with the settings of the home, and with this integration as HACS installs it."""
    extra = "zeroconf:\n" if discovery else ""
    (folder / "configuration.yaml").write_text(_CONFIGURATION + extra)
    (folder / "automations.yaml").write_text("[]\n")
    (folder / "dashboard.yaml").write_text(_DASHBOARD)
    (folder / "custom_components").symlink_to(INTEGRATIONS)
    (folder / ".storage").mkdir()
    # Home Assistant would use an `http:` block of the configuration file only on trial, until somebody confirms it on
    # the page.
    _store(
        folder,
        "http",
        version=2,
        minor_version=2,
        data={"stable": _http(port), "pending": None, "yaml_migration_done": True},
    )
    # The core's own step of the onboarding would set up integrations that send requests to the internet.
    _store(folder, "onboarding", version=4, minor_version=1, data={"done": ["core_config", "analytics", "integration"]})


def _store(folder: Path, key: str, *, version: int, minor_version: int, data: Any) -> None:  # noqa: ANN401  any JSON
    document = {"version": version, "minor_version": minor_version, "key": key, "data": data}
    (folder / ".storage" / key).write_text(json.dumps(document))


def _http(port: int) -> dict[str, Any]:
    return {
        "server_host": ["127.0.0.1"],
        "server_port": port,
        "cors_allowed_origins": [],
        "login_attempts_threshold": -1,
        "ip_ban_enabled": False,
        "ssl_profile": "modern",
        "use_x_frame_options": True,
    }

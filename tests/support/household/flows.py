"""Answers of servers, and values in the forms of flows."""

import json
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from typing import Any, Final, cast

from aiohttp import web
from homeassistant.config_entries import SOURCE_USER, SOURCE_ZEROCONF, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo
from pytest_homeassistant_custom_component.common import MockConfigEntry
from yarl import URL

from custom_components.tunnihind.const import DOMAIN

type Imitate = Callable[..., Awaitable[str]]
"""A function that starts a server with the given answers and returns its address: see the fixture `imitate`."""

NOBODY: Final = "http://127.0.0.1:9"
"""An address where nothing listens."""

ABOUT: Final = json.dumps(
    {
        "version": "1.0.0",
        "instanceId": "other",
        "vatRate": 0.24,
        "attribution": "Other (other.example)",
        "zone": "EE",
        "zones": [{"zone": "EE", "url": "http://localhost:8080"}],
        "vatRateIsChosen": False,
    }
)
FORECAST: Final = json.dumps(
    {
        "zone": "EE",
        "currency": "EUR",
        "now": 1_765_792_800,
        "madeAt": None,
        "lastRefresh": None,
        "backtest": None,
        "dayAhead": [],
        "forecast": [],
    }
)
MALFORMED: Final = FORECAST.replace('"EUR"', '"SEK"')


def about_of(**fields: object) -> str:
    """Return a server's description of itself with changes in these fields."""
    return json.dumps(json.loads(ABOUT) | fields)


def zones_of(*zones: str, public_url: str = "http://localhost:8080") -> dict[str, tuple[str, str]]:
    """Return the answers of a server with several zones: each zone's description and prices by the zone's path."""
    paths = {zone: "" if zone == zones[0] else f"/{zone.lower()}" for zone in zones}
    listed = [{"zone": zone, "url": f"{public_url}{path}"} for zone, path in paths.items()]
    return {
        path: (
            about_of(instanceId="other" if zone == "EE" else f"other-{zone.lower()}", zone=zone, zones=listed),
            FORECAST.replace('"EE"', f'"{zone}"'),
        )
        for zone, path in paths.items()
    }


def json_of(text: str) -> web.Response:
    return web.Response(text=text, content_type="application/json")


def entry_of(
    url: str,
    instance_id: str | None = "test",
    *,
    unique_id: str | None = None,
    options: Mapping[str, Any] | None = None,
    source: str = SOURCE_USER,
    zone: str = "EE",
) -> MockConfigEntry:
    """Return an entry of a zone of a server."""
    of_zone = {} if zone == "EE" else {"zone": zone}
    return MockConfigEntry(
        domain=DOMAIN,
        title="Tunnihind",
        data={"url": url, "instance_id": instance_id, **of_zone} if source == SOURCE_USER else {},
        unique_id=unique_id or instance_id,
        options=options or {},
        source=source,
    )


async def announce(hass: HomeAssistant, address: str, properties: dict[str, str] | None = None) -> ConfigFlowResult:
    """Announce a server at the address in the way that our servers do."""
    url = URL(address)
    found = ZeroconfServiceInfo(
        ip_address=ip_address(url.host or ""),
        ip_addresses=[ip_address(url.host or "")],
        port=url.port,
        hostname="box.local.",
        type="_tunnihind._tcp.local.",
        name="Tunnihind._tunnihind._tcp.local.",
        properties=properties or {},
    )
    return await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_ZEROCONF}, data=found)


def placeholders_of(result: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the placeholders of a step's texts."""
    placeholders = result["description_placeholders"]
    assert placeholders is not None
    return cast("Mapping[str, str]", placeholders)


def shown(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the suggested values of a form by section, without empty sections."""
    return _shown(result["data_schema"].schema)


def _shown(fields: Mapping[Any, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for marker, value in fields.items():
        if isinstance(value, section):
            if within := _shown(value.schema.schema):
                values[marker.schema] = within
        elif marker.description and "suggested_value" in marker.description:
            values[marker.schema] = marker.description["suggested_value"]
    return values

"""`serve --zones`: each further zone has the whole server under its name, and Estonia's follows the specification."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import jsonschema_rs
import pytest

from tests.support.machine.processes import Launch, Server
from tests.support.machine.shifted_clock import AFTERNOON, ShiftedClock
from tunnihind.core.market import MARKETS, ZONES, Zone, vat_rate_at

RESOURCES = ("/api/v1/forecast", "/api/v1/quarters", "/api/v1/scenarios", "/api/series", "/api/about")
PATHS: Mapping[Zone, str] = {"ee": "", "lv": "/lv", "lt": "/lt", "fi": "/fi"}


async def answer_of(server: Server, path: str) -> Any:  # noqa: ANN401  any JSON document
    reply = await server.get(path)
    assert reply.status == 200, path
    return reply.json()


def schema_of(document: dict[str, Any], path: str) -> dict[str, Any]:
    content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    return {**content["schema"], "components": document["components"]}


async def holds_its_own_description(server: Server, zone: Zone) -> None:
    base = PATHS[zone]
    document = await answer_of(server, f"{base}/api/openapi.json")
    assert urlsplit(document["servers"][0]["url"]).path == base
    for path in RESOURCES:
        answer = await answer_of(server, base + path)
        jsonschema_rs.validator_for(schema_of(document, path), validate_formats=True).validate(answer)
        assert answer.get("zone", zone.upper()) == zone.upper(), path


async def has_all_that_its_pages_need(server: Server, zone: Zone) -> None:
    for page in ("/", "/docs", "/accuracy"):
        reply = await server.get(PATHS[zone] + page)
        assert reply.status == 200
        for asset in re.findall(r'(?:href|src)="(static/[^"]+)"', reply.body.decode()):
            assert (await server.get(f"{PATHS[zone]}/{asset}")).status == 200


async def has_its_rate_of_vat(server: Server, zone: Zone) -> None:
    rates = ((0, 0.22),) if zone == "ee" else MARKETS[zone].legal_vat_rates
    series = await answer_of(server, f"{PATHS[zone]}/api/series")
    for hour in series["actuals"]:
        with_vat = hour["eurMwh"] / 1000 * (1 + vat_rate_at(rates, hour["ts"]))
        assert hour["eurKwh"] == pytest.approx(with_vat, abs=0.00006)


async def test_each_zone_has_the_whole_server_under_its_name(launch: Launch, clock: ShiftedClock) -> None:
    clock.set(AFTERNOON)
    server = launch("--demo", "--zones", ",".join(ZONES), clock=clock)
    for zone in ZONES:
        await server.until(
            f"{PATHS[zone]}/api/v1/forecast", lambda reply: reply.json().get("forecast"), say=f"a forecast of {zone}"
        )
    about = await answer_of(server, "/api/about")
    assert [(one["zone"], urlsplit(one["url"]).path) for one in about["zones"]] == [
        (zone.upper(), path) for zone, path in PATHS.items()
    ]
    for zone in ZONES:
        await holds_its_own_description(server, zone)
        await has_all_that_its_pages_need(server, zone)
        await has_its_rate_of_vat(server, zone)
    identities = {(await answer_of(server, f"{path}/api/about"))["instanceId"] for path in PATHS.values()}
    feeds = [await answer_of(server, f"{path}/api/feeds/emhass?price=market") for path in PATHS.values()]
    assert len(identities) == len(ZONES)
    assert len({tuple(feed.values()) for feed in feeds}) == len(ZONES)
    metrics = (await server.get("/metrics")).body.decode()
    assert set(re.findall(r'forecast_age_seconds\{zone="(\w+)"\}', metrics)) == {"EE", "LV", "LT", "FI"}

"""The description of the API, and the server against it."""

import asyncio
import csv
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.support.api.api_server import RunningServer, Serve, make_view
from tests.support.documents import leaves
from tunnihind.api.feeds import FEED_FORMATS
from tunnihind.api.openapi.document import openapi_document, vat_text
from tunnihind.api.score_table import SCORE_COLUMNS
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA
from tunnihind.pipeline.accuracy_record import FORECAST_COLUMNS
from tunnihind.settings import Settings

REQUIRED = {
    "ForecastResponse": "zone currency now madeAt lastRefresh freeUntil gated backtest docs dayAhead forecast",
    "DayAheadHour": "ts startsAt eurMwh eurKwh",
    "ForecastHour": "ts startsAt p10 p50 p90 p10Kwh p50Kwh p90Kwh",
    "Backtest": "mae baselineMae skill horizonH",
    "QuartersResponse": "zone currency now madeAt lastRefresh freeUntil gated backtest docs dayAhead forecast",
    "DayAheadQuarter": "ts startsAt eurMwh eurKwh hourly",
    "ForecastQuarter": "ts startsAt p10 p50 p90 p10Kwh p50Kwh p90Kwh",
    "ScenariosResponse": (
        "zone currency now madeAt lastRefresh freeUntil gated docs probability dayAhead ts paths pathsKwh cheapestHours"
    ),
    "SeriesResponse": "now actuals forecast freeUntil gated",
    "SeriesActual": "ts eurMwh eurKwh",
    "SeriesForecastPoint": "ts p10 p50 p90 p10Kwh p50Kwh p90Kwh",
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi_document(Settings(public_url="https://tunnihind.example"))


def schema_of(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "components": document["components"]}


@pytest.mark.parametrize("name", REQUIRED)
def test_required_fields_are_exactly_the_specifications(document: dict[str, Any], name: str) -> None:
    assert set(document["components"]["schemas"][name]["required"]) == set(REQUIRED[name].split())


def test_the_series_declares_its_optional_and_summary_fields(document: dict[str, Any]) -> None:
    schema = document["components"]["schemas"]["SeriesResponse"]
    optional = "lastRefresh madeAt backtest current cheapest priciest cheapestForecast priciestForecast"
    assert " ".join(name for name in schema["properties"] if name not in schema["required"]) == optional


def test_zone_and_currency_are_constants(document: dict[str, Any]) -> None:
    fields = document["components"]["schemas"]["ForecastResponse"]["properties"]
    assert (fields["zone"]["const"], fields["currency"]["const"]) == ("EE", "EUR")


def test_versions_are_the_specifications(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["version"] == "1.0.0"


def test_every_field_is_described_and_every_plain_one_has_a_valid_example(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, about in schema["properties"].items():
            assert about["description"], (name, field)
            validator = jsonschema_rs.validator_for(schema_of(document, about), validate_formats=True)
            assert about.get("examples") or "$ref" in json.dumps(about), (name, field)
            for example in about.get("examples", []):
                validator.validate(example)


def test_every_example_answer_is_valid_under_its_schema(document: dict[str, Any]) -> None:
    answers = [
        answer
        for item in document["paths"].values()
        for answer in [*item["get"]["responses"].values(), *document["components"]["responses"].values()]
    ]
    contents = [content for answer in answers for content in answer.get("content", {}).values()]
    examples = [content for content in contents if "example" in content]
    assert len(examples) > 10
    for content in examples:
        jsonschema_rs.validator_for(schema_of(document, content["schema"]), validate_formats=True).validate(
            content["example"]
        )


def test_every_answer_of_a_resource_has_an_example(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for answer in item["get"]["responses"].values():
            assert all(content["example"] for content in answer.get("content", {}).values()), path


def test_the_example_of_the_table_has_a_cell_for_each_column(document: dict[str, Any]) -> None:
    contents = document["paths"]["/api/v1/accuracy"]["get"]["responses"]["200"]["content"]
    names, day = csv.reader(contents["text/csv; charset=utf-8"]["example"].splitlines())
    assert names == [*SCORE_COLUMNS]
    assert dict(zip(names, day, strict=True))["deliveryDay"] == "2025-12-15"


def test_the_example_of_a_record_has_its_columns(document: dict[str, Any]) -> None:
    contents = document["paths"]["/accuracy/{file}"]["get"]["responses"]["200"]["content"]
    names, hour = csv.reader(contents["text/csv; charset=utf-8"]["example"].splitlines())
    assert names == [*FORECAST_COLUMNS]
    assert len(hour) == len(names)


@pytest.mark.parametrize("path", ["/api/v1/forecast", "/api/v1/quarters", "/api/v1/scenarios", "/api/series"])
def test_every_answer_of_the_price_resources_is_described(document: dict[str, Any], path: str) -> None:
    assert set(document["paths"][path]["get"]["responses"]) == {"200", "304", "400", "405", "429", "500", "503"}
    assert "404" in document["components"]["responses"]


def test_every_path_but_the_pages_and_metrics_is_described(server: RunningServer, document: dict[str, Any]) -> None:
    served = {resource.canonical for resource in server.runner.app.router.resources()}
    assert served - set(document["paths"]) == {
        *("/", "/accuracy", "/compare", "/docs", "/static/{digest}/{name}", "/metrics")
    }
    assert set(document["paths"]) <= served


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for text in leaves(document):
        if text.startswith("#/"):
            node: Any = document
            for step in text[2:].split("/"):
                node = node[step]


def test_the_vat_rate_is_the_servers_own_everywhere() -> None:
    document = openapi_document(Settings(vat_rate=0.24))
    whole = json.dumps(document, ensure_ascii=False)
    assert "including 24% Estonian VAT" in whole
    assert "× 1.24" in whole
    assert "22%" not in whole
    assert "1.22" not in whole
    assert not [text for text in leaves(document) if "$vat" in text]
    assert document["components"]["schemas"]["DayAheadHour"]["properties"]["eurKwh"]["examples"] == [0.1046]
    scenarios = document["paths"]["/api/v1/scenarios"]["get"]["responses"]["200"]["content"]["application/json"]
    example = scenarios["example"]
    assert example["pathsKwh"] == [[round(price / 1000 * 1.24, 4) for price in path] for path in example["paths"]]


@pytest.mark.parametrize(("rate", "text"), [(0.22, "22%"), (0.24, "24%"), (0.255, "25.5%"), (0.0, "0%")])
def test_a_vat_rate_is_written_as_people_do(rate: float, text: str) -> None:
    assert vat_text(rate) == text


async def test_the_served_document_and_answers_agree(server: RunningServer) -> None:
    document = json.loads((await server.ask("/api/openapi.json")).body)
    for path, item in document["paths"].items():
        content = item["get"]["responses"]["200"]["content"].get("application/json")
        if content is None:
            assert path == "/accuracy/{file}"
            continue
        required = [given for given in item["get"].get("parameters", ()) if given["required"]]
        query = "&".join(f"{given['name']}={given['example']}" for given in required)
        body = json.loads((await server.ask(f"{path}?{query}")).body)
        jsonschema_rs.validator_for(schema_of(document, content["schema"]), validate_formats=True).validate(body)


@pytest.mark.parametrize(
    ("view", "but"),
    [
        pytest.param(make_view(), (), id="data"),
        # Without data these resources answer 503 by design, and schemathesis takes any 503 as a fault.
        pytest.param(
            ServedData("empty", ESTONIA),
            ("/readyz", *(f"/api/feeds/{reader}" for reader in FEED_FORMATS)),
            id="no data",
        ),
    ],
)
async def test_schemathesis_finds_nothing_with_all_its_checks(
    serve: Serve, view: ServedData, but: tuple[str, ...], tmp_path: Path
) -> None:
    server = await serve(view)
    description = tmp_path / "openapi.json"
    # The description comes from a file, because schemathesis leaves out an operation that serves the description.
    description.write_bytes((await server.ask("/api/openapi.json")).body)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "schemathesis.cli",
        "run",
        str(description),
        f"--url=http://127.0.0.1:{server.port}",
        "--checks=all",
        "--max-examples=30",
        "--continue-on-failure",
        "--generation-deterministic",
        "--request-timeout=5",
        "--no-color",
        *(f"--exclude-path={path}" for path in but),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    report, _ = await asyncio.wait_for(process.communicate(), 110)
    assert process.returncode == 0, report.decode()
    tested = len(json.loads(description.read_bytes())["paths"]) - len(but)
    assert f"Tested: {tested}".encode() in report, report.decode()

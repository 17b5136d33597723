"""Prometheus accepts the alert rules and the scrape configuration, and each rule fires when it should."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.scripts import PROJECT

FOLDER: Final = PROJECT / "packaging/observability"
RULES: Final[list[dict[str, Any]]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD: Final[dict[str, Any]] = json.loads((FOLDER / "dashboard.json").read_text())
PANELS: Final[list[dict[str, Any]]] = DASHBOARD["panels"]
EXPRESSIONS: Final[list[str]] = [target["expr"] for panel in PANELS for target in panel.get("targets", ())]

type Series = Mapping[str, str]
"""Samples of each series, one every 15 seconds, in Prometheus's notation."""

HEALTHY: Final[Series] = {
    **{f'up{{job="tunnihind",instance="{name}"}}': "1x99" for name in "ab"},
    **{f'tunnihind_{age}_age_seconds{{instance="{name}"}}': "0x99" for name in "ab" for age in ("settled", "refresh")},
    **{f'tunnihind_forecast_age_seconds{{instance="{name}"}}': "2000+15x99" for name in "ab"},
    **{f'tunnihind_publication_late{{instance="{name}"}}': "0x99" for name in "ab"},
    **{f'tunnihind_data_version{{instance="{name}"}}': "1+1x99" for name in "ab"},
    **{f'tunnihind_replica_lag_seconds{{instance="{name}"}}': "5x99" for name in "ab"},
    **{f'tunnihind_database_up{{instance="{name}"}}': "1x99" for name in "ab"},
    **{f'tunnihind_troubles{{instance="{name}"}}': "0x99" for name in "ab"},
    'tunnihind_pipeline_held{instance="a"}': "1x99",
    'tunnihind_pipeline_held{instance="b"}': "0x99",
    'tunnihind_pipeline_takeovers_total{instance="a"}': "1x99",
    'tunnihind_requests_total{instance="a",route="/api/v1/forecast",status="200"}': "0+1500x99",
    'tunnihind_requests_total{instance="a",route="/api/v1/forecast",status="503"}': "0+10x99",
    'tunnihind_requests_total{instance="a",route="/readyz",status="503"}': "0+9000x99",
    'tunnihind_database_errors_total{instance="a",access="read"}': "0x99",
    'tunnihind_database_transaction_seconds_bucket{instance="a",access="read",le="5"}': "0+10x99",
    'tunnihind_database_transaction_seconds_bucket{instance="a",access="read",le="+Inf"}': "0+10x99",
    'tunnihind_source_requests_total{source="elering",outcome="failed"}': "0+1x99",
    'tunnihind_source_requests_total{source="elering",outcome="answered"}': "0+1x99",
    'tunnihind_held_days_total{source="elering",reason="zeros"}': "1x99",
}
"""Two servers for 25 minutes."""

GONE: Final = "_x99"

CASES: Final[dict[str, tuple[Series, set[str]]]] = {
    "all is well": ({}, set()),
    "a server is down": ({'up{job="tunnihind",instance="b"}': "0x99"}, {"ServerDown"}),
    "all servers are down": (
        {f'up{{job="tunnihind",instance="{name}"}}': "0x99" for name in "ab"},
        {"ServerDown", "AllServersDown"},
    ),
    "nothing is scraped": (dict.fromkeys(HEALTHY, GONE), {"AllServersDown", "NoPipeline"}),
    "there is no price now": ({'tunnihind_settled_age_seconds{instance="a"}': "0x60 1+15x38"}, {"NoPriceNow"}),
    "the forecast is stale": ({'tunnihind_forecast_age_seconds{instance="a"}': "10000+15x99"}, {"ForecastStale"}),
    "no prices are refreshed": ({'tunnihind_refresh_age_seconds{instance="a"}': "10000+15x99"}, {"RefreshStale"}),
    "publication is late": (
        {f'tunnihind_publication_late{{instance="{name}"}}': "1x99" for name in "ab"},
        {"PublicationLate"},
    ),
    "a zone has no price": (
        {f'tunnihind_publication_late{{instance="{name}",zone="LT"}}': "1x99" for name in "ab"},
        {"PublicationLate"},
    ),
    "one server has not seen that it is not late": ({'tunnihind_publication_late{instance="a"}': "1x99"}, set()),
    "no pipeline runs": ({'tunnihind_pipeline_held{instance="a"}': "1x60 0x38"}, {"NoPipeline"}),
    "another takes the pipeline over": (
        {
            'tunnihind_pipeline_held{instance="a"}': "1x97 0x1",
            'tunnihind_pipeline_held{instance="b"}': "0x98 1",
        },
        set(),
    ),
    "two pipelines run": ({'tunnihind_pipeline_held{instance="b"}': "1x99"}, {"TwoPipelines"}),
    "the pipeline changes hands": (
        {'tunnihind_pipeline_takeovers_total{instance="a"}': "1+1x99"},
        {"PipelineChangesHands"},
    ),
    "requests fail": (
        {'tunnihind_requests_total{instance="a",route="/api/v1/forecast",status="503"}': "0+20x99"},
        {"Errors"},
    ),
    "a replica has seen nothing new": ({'tunnihind_replica_lag_seconds{instance="b"}': "0+15x99"}, {"ReplicaBehind"}),
    "a replica serves older data": ({'tunnihind_data_version{instance="b"}': "1+1x50 51x48"}, {"ReplicaBehind"}),
    "the database is away": ({'tunnihind_database_up{instance="a"}': "1x90 0x8"}, {"DatabaseAway"}),
    "transactions fail": (
        {'tunnihind_database_errors_total{instance="a",access="read"}': "0+1x99"},
        {"DatabaseErrors"},
    ),
    "transactions are slow": (
        {'tunnihind_database_transaction_seconds_bucket{instance="a",access="read",le="5"}': "0+8x99"}
        | {'tunnihind_database_transaction_seconds_bucket{instance="a",access="read",le="15"}': "0+10x99"},
        {"DatabaseSlow"},
    ),
    "a source is silent": (
        {'tunnihind_source_requests_total{source="elering",outcome="answered"}': "5x99"},
        {"SourceSilent"},
    ),
    "prices were refused": (
        {'tunnihind_held_days_total{source="elering",reason="zeros"}': "1x60 2x38"},
        {"PricesHeldBack"},
    ),
    "the disk is full": ({'tunnihind_troubles{instance="a"}': "0x60 1x38"}, {"InTrouble"}),
}
"""Situations, and the alerts that fire 25 minutes later, without their common first word."""


@pytest.fixture(scope="module")
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("needs promtool: Debian's package prometheus")
    return found


def check(promtool: str, *arguments: str | Path) -> None:
    done = subprocess.run([promtool, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def case(name: str, changed: Series, alerts: set[str]) -> dict[str, Any]:
    series = [{"series": key, "values": values} for key, values in (dict(HEALTHY) | dict(changed)).items()]
    firing = [{"labels": f'{{alertname="Tunnihind{alert}"}}', "value": 1} for alert in sorted(alerts)]
    tested = {"expr": 'max by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "24m45s", "exp_samples": firing}
    return {"name": name, "interval": "15s", "input_series": series, "promql_expr_test": [tested]}


def test_each_rule_fires_when_it_should_and_no_other_does(promtool: str, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    cases = [case(name, *about) for name, about in CASES.items()]
    file.write_text(
        yaml.safe_dump(
            {"rule_files": [str(FOLDER / "alerts.yaml")], "evaluation_interval": "15s", "tests": cases}, sort_keys=False
        )
    )
    check(promtool, "test", "rules", file)


def test_every_rule_has_a_case_in_which_it_fires() -> None:
    fired = set().union(*(alerts for _, alerts in CASES.values()))
    assert {f"Tunnihind{name}" for name in fired} == {rule["alert"] for rule in RULES}


def test_every_rule_says_how_urgent_it_is_and_what_to_look_at() -> None:
    for rule in RULES:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"].keys() == {"summary", "description"}


def test_prometheus_takes_the_configuration_with_its_rules(promtool: str) -> None:
    check(promtool, "check", "config", FOLDER / "prometheus.yaml")


def test_prometheus_understands_every_expression_of_the_dashboard(promtool: str, tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{n}", "expr": expr.replace("$__rate_interval", "1m").replace("$instance", ".*")}
        for n, expr in enumerate(EXPRESSIONS)
    ]
    file = tmp_path / "expressions.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    check(promtool, "check", "rules", file)


def test_no_two_panels_of_the_dashboard_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)


def test_every_panel_asks_the_chosen_prometheus() -> None:
    assert {target["datasource"]["uid"] for panel in PANELS for target in panel.get("targets", ())} == {"${datasource}"}
    assert {variable["name"] for variable in DASHBOARD["templating"]["list"]} == {"datasource", "instance"}


def test_every_metric_of_a_rule_and_of_its_cases_is_of_the_same_name() -> None:
    in_rules = {name for rule in RULES for name in re.findall(r"tunnihind_\w+", rule["expr"])}
    assert in_rules == {re.findall(r"\w+", series)[0] for series in HEALTHY} - {"up"}

"""The compose file of packaging/scale and its edge fit each other, the image and the settings."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.scripts import PROJECT
from tunnihind.service.site import MAX_DESCRIPTORS
from tunnihind.settings import ENVIRONMENT_PREFIX, Settings

SCALE: Final = PROJECT / "packaging/scale"
TEXT: Final = (SCALE / "compose.yaml").read_text()
COMPOSE: Final[dict[str, Any]] = yaml.safe_load(TEXT)
SERVICES: Final[dict[str, Any]] = COMPOSE["services"]
REPLICAS: Final = [service for name, service in SERVICES.items() if name.startswith("replica-")]
SERVERS: Final = [SERVICES["pipeline"], *REPLICAS]
EDGE: Final = (SCALE / "nginx.conf").read_text()
EDGE_OF_ONE: Final = (PROJECT / "packaging/nginx/tunnihind.conf").read_text()


def words(text: str) -> str:
    return " ".join(text.split())


def addresses(services: list[dict[str, Any]]) -> list[str]:
    return [service["networks"]["inside"]["ipv4_address"] for service in services]


def test_there_are_three_replicas_and_one_pipeline() -> None:
    assert [server["command"] for server in SERVERS] == [["serve"], *[["serve", "--no-pipeline"]] * 3]


def test_the_edge_balances_just_the_replicas() -> None:
    assert re.findall(r"^ +server ([\d.]+):8080 ", EDGE, re.MULTILINE) == addresses(REPLICAS)


def test_all_servers_use_the_database_that_is_there() -> None:
    [address] = addresses([SERVICES["database"]])
    for server in SERVERS:
        url = server["environment"]["TUNNIHIND_DATABASE_URL"]
        assert re.fullmatch(
            rf"postgresql\+psycopg://tunnihind:\$\{{\w+:\?[^}}]+\}}@{re.escape(address)}/tunnihind", url
        )
    made = SERVICES["database"]["environment"]
    assert (made["POSTGRES_USER"], made["POSTGRES_DB"]) == ("tunnihind", "tunnihind")
    assert made["POSTGRES_PASSWORD"] in SERVERS[0]["environment"]["TUNNIHIND_DATABASE_URL"]
    assert ".[postgresql]" in (PROJECT / "Dockerfile").read_text(), "the image has its driver"


def test_no_password_is_in_the_file() -> None:
    assert not re.search(r"PASSWORD[}\w]*: (?!\$\{)", TEXT)


@pytest.mark.parametrize("server", SERVERS, ids=["pipeline", "replica 1", "replica 2", "replica 3"])
def test_every_variable_that_is_set_is_a_setting(server: dict[str, Any]) -> None:
    named = {name.removeprefix(ENVIRONMENT_PREFIX).lower() for name in server["environment"]}
    assert named <= set(Settings.__dataclass_fields__) | {"log_format"}
    # Otherwise all clients would count as one, with the edge's address.
    assert server["environment"]["TUNNIHIND_TRUST_PROXY"] == "yes"


def test_no_container_may_write_but_where_it_is_given_room() -> None:
    for service in SERVICES.values():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


def test_only_the_edge_can_be_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["edge"]


def test_containers_and_edge_allow_as_many_descriptors_as_they_use() -> None:
    for service in (*REPLICAS, SERVICES["edge"]):
        assert service["ulimits"] == {"nofile": MAX_DESCRIPTORS}
    assert f"worker_rlimit_nofile {MAX_DESCRIPTORS};" in EDGE


def test_what_the_edge_reads_and_writes_is_mounted() -> None:
    mounted = dict(volume.split(":")[:2] for volume in SERVICES["edge"]["volumes"])
    assert mounted == {"./nginx.conf": "/etc/nginx/nginx.conf", "./edge": "/etc/nginx/tunnihind"}
    assert all((SCALE / Path(source)).exists() for source in mounted)
    [included] = re.findall(r"include (\S+);", EDGE)
    assert included == "/etc/nginx/tunnihind/*.conf"
    [cache] = re.findall(r"proxy_cache_path (\S+)", EDGE)
    assert cache in SERVICES["edge"]["tmpfs"]


def test_every_name_in_the_file_is_there() -> None:
    volumes = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())}
    assert {name for name in volumes if not name.startswith(".")} == set(COMPOSE["volumes"])
    assert {name for service in SERVICES.values() for name in service["networks"]} == set(COMPOSE["networks"])
    assert {name for service in SERVICES.values() for name in service.get("depends_on", ())} <= set(SERVICES)


@pytest.mark.parametrize(
    "name", ["proxy_cache_key", "proxy_ignore_headers", "proxy_cache_background_update", "proxy_pass_header"]
)
def test_both_edges_keep_answers_alike(name: str) -> None:
    ours, theirs = (re.findall(rf"^ *({name} .+;)$", text, re.MULTILINE) for text in (EDGE, EDGE_OF_ONE))
    assert ours == theirs
    assert ours


@pytest.mark.parametrize("variable", ["language", "new_quarter", "request_id"])
def test_both_edges_tell_answers_apart_alike(variable: str) -> None:
    ours, theirs = (
        [words(found) for found in re.findall(rf"map [^{{\n]+ \$tunnihind_{variable} {{.+?\n *}}\n", text, re.DOTALL)]
        for text in (EDGE, EDGE_OF_ONE)
    )
    assert ours == theirs
    assert len(ours) == 1


def test_the_page_about_it_names_the_limits_that_the_edge_has() -> None:
    page = words((PROJECT / "docs/scale.md").read_text())
    [rate], [burst] = re.findall(r"rate=(\d+)r/s", EDGE), re.findall(r"burst=(\d+)", EDGE)
    assert f"above {rate} requests a second, after {burst} at once" in page
    [pause] = {*re.findall(r"fail_timeout=(\d+)s", EDGE)}
    assert (pause, "doesn't ask this one for five seconds" in page) == ("5", True)
    assert f"nginx {re.search(r'nginx ([\d.]+) or newer', EDGE)[1]} and later" in page  # type: ignore[index]

"""The workflows, compose file and container file name existing files, and agree with each other."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.scripts import PROJECT
from tunnihind.service.site import MAX_DESCRIPTORS
from tunnihind.settings import Settings

WORKFLOWS: Final = sorted((PROJECT / ".github/workflows").glob("*.yaml"))
COMPOSE: Final[dict[str, Any]] = yaml.safe_load((PROJECT / "compose.yaml").read_text())
DOCKERFILE: Final = (PROJECT / "Dockerfile").read_text()
UNIT: Final = (PROJECT / "packaging/systemd/tunnihind.service").read_text()


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    return [step for job in jobs for step in (*job.get("steps", ()), job)]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_uses_and_runs_is_there(workflow: Path) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert all((PROJECT / name).is_file() for name in used if name.startswith("./"))
    action = r"[\w-]+(/[\w-]+)+@(v\d+(\.\d+\.\d+)?|main|master|[0-9a-f]{40})"
    assert all(re.fullmatch(action, name) for name in used if not name.startswith("./"))
    named = {
        word for step in steps(workflow) for word in re.findall(r"(?<![\w/$.])[\w.-]+/[\w./-]+", step.get("run", ""))
    }
    own = {word for word in named if word.split("/")[0] in {".ci", "scripts", "packaging", "tests"}}
    assert all((PROJECT / path).exists() for path in own)


def test_dependabot_sees_every_file_with_versions_and_asks_once_for_each_kind() -> None:
    updates = yaml.safe_load((PROJECT / ".github/dependabot.yml").read_text())["updates"]
    watched = {one["package-ecosystem"]: one.get("directories", [one.get("directory")]) for one in updates}
    assert len(watched) == len(updates)
    kinds = {"docker": "Dockerfile", "docker-compose": "compose.yaml", "npm": "package.json"}
    there = {
        kind: [f"/{file.parent.relative_to(PROJECT)}".removesuffix(".") for file in files if not is_of_ours(file)]
        for kind, name in kinds.items()
        for files in [[*PROJECT.glob(name), *sorted(PROJECT.glob(f"*/*/{name}"))]]
    }
    assert watched == {"github-actions": ["/"], **there}
    for one in updates:
        [group] = one["groups"].values()
        assert group == {"patterns": ["*"]}


def is_of_ours(file: Path) -> bool:
    """Return whether a container file builds only on our own image."""
    images = re.findall(r"^FROM (\S+)", file.read_text(), re.MULTILINE)
    return bool(images) and all(image.startswith("ghcr.io/tunnihind/") for image in images)


def test_workflows_have_only_the_secrets_that_the_security_policy_tells_of() -> None:
    texts = [path.read_text() for path in WORKFLOWS]
    secrets = {name for text in texts for name in re.findall(r"secrets\.(\w+)", text)}
    # SECURITY.md tells of these two: a token for the daily check of the sources, and the one of the run.
    assert secrets == {"ENTSOE_TOKEN", "GITHUB_TOKEN"}


def test_the_tests_of_the_forge_are_those_of_everybody() -> None:
    assert ".ci/run" in [step.get("run") for step in steps(PROJECT / ".github/workflows/test.yaml")]


def test_every_variable_that_is_set_is_a_setting() -> None:
    texts = (DOCKERFILE, UNIT, (PROJECT / "compose.yaml").read_text())
    named = {name.lower() for text in texts for name in re.findall(r"TUNNIHIND_([A-Z_]+)(?==|: )", text)}
    assert named == {
        "announce",
        "contact",
        "database_url",
        "entsoe_token_file",
        "host",
        "public_url",
        "trust_proxy",
        "vat_rate",
        "zones",
    }
    assert named - {"entsoe_token_file"} <= set(Settings.__dataclass_fields__)


def test_the_image_takes_in_what_its_build_asks_for() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    wanted = {name for line in copied for name in line.split()}
    taken = set(re.findall(r"^!(\S+)$", (PROJECT / ".dockerignore").read_text(), re.MULTILINE))
    assert wanted == taken
    assert all((PROJECT / name).exists() for name in wanted)


def test_neither_container_may_write_but_where_it_is_given_room() -> None:
    for service in COMPOSE["services"].values():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert COMPOSE["services"]["tunnihind"]["volumes"] == ["data:/data"]
    assert "USER tunnihind" in DOCKERFILE


def test_the_edge_of_the_compose_file_is_the_one_that_is_tested() -> None:
    [mounted] = COMPOSE["services"]["edge"]["volumes"]
    source = PROJECT / mounted.split(":")[0]
    assert source == PROJECT / "packaging/nginx/tunnihind.conf"
    [cache] = re.findall(r"^proxy_cache_path (\S+)", source.read_text(), re.MULTILINE)
    assert cache in COMPOSE["services"]["edge"]["tmpfs"]


def test_unit_and_compose_file_allow_as_many_descriptors_as_the_server_uses() -> None:
    assert f"LimitNOFILE={MAX_DESCRIPTORS}\n" in UNIT
    assert COMPOSE["services"]["tunnihind"]["ulimits"] == {"nofile": MAX_DESCRIPTORS}

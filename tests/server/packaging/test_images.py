"""The images: what is tried is what is published, signed, and open to inspection. No test here needs a registry."""

import re
from typing import Any, Final

import yaml

from tests.support.scripts import PROJECT

WORKFLOW: Final = PROJECT / ".github/workflows/images.yaml"
JOBS: Final[dict[str, Any]] = yaml.safe_load(WORKFLOW.read_text())["jobs"]
RUNS: Final = {name: [step.get("run", "") for step in job["steps"]] for name, job in JOBS.items()}
DOCKERFILES: Final = {
    path: (PROJECT / path).read_text() for path in ("Dockerfile", "packaging/home-assistant-app/Dockerfile")
}


def place(job: str, part: str) -> int:
    """Return the place of the only step with a command."""
    [found] = [place for place, run in enumerate(RUNS[job]) if part in run]
    return found


def test_each_image_has_a_list_of_its_packages_and_a_record_of_its_build() -> None:
    building = RUNS["build"][place("build", "build()")]
    assert "docker build --sbom=true --provenance=mode=max " in building
    assert len(re.findall(r"^ *build --tag ", building, re.MULTILINE)) == len(DOCKERFILES)
    # Docker's classic store of images can't hold them.
    assert place("build", '"containerd-snapshotter": true') < place("build", "build()")


def test_the_images_that_are_pushed_are_those_that_were_tried() -> None:
    pushing = place("build", "docker push ")
    assert place("build", "build()") < place("build", "docker compose up") < pushing
    assert place("build", "docker run --detach --name app ") < pushing
    assert "docker build" not in RUNS["build"][pushing]
    assert JOBS["publish"]["needs"] == "build"


def test_both_architectures_are_built_on_a_machine_of_their_own_and_published_under_one_name() -> None:
    built = {one["arch"]: one["runner"] for one in JOBS["build"]["strategy"]["matrix"]["include"]}
    assert built == {"amd64": "ubuntu-24.04", "arm64": "ubuntu-24.04-arm"}
    joining = RUNS["publish"][place("publish", "imagetools create")]
    assert set(re.findall(r'"\$image:\$VERSION-(\w+)"', joining)) == built.keys()


def test_what_is_published_is_signed_by_its_digest_and_verified_as_users_are_told_to() -> None:
    signing = place("publish", 'cosign sign --yes --recursive "$image@$digest"')
    assert signing < place("publish", "cosign verify ")
    verifying = RUNS["publish"][place("publish", "cosign verify ")]
    assert f"/.github/workflows/{WORKFLOW.name}@$GITHUB_REF" in verifying
    guide = (PROJECT / "docs/server.md").read_text()
    for part in (f"/.github/workflows/{WORKFLOW.name}@", "--certificate-oidc-issuer https://token.actions.githubus"):
        assert part in verifying
        assert part in guide.replace("\\.", ".")


def test_only_the_job_that_signs_may_ask_github_to_vouch_for_it() -> None:
    assert "id-token" not in JOBS["build"]["permissions"]
    assert JOBS["publish"]["permissions"] == {"packages": "write", "id-token": "write"}
    # A called workflow has at most the rights of the job that calls it.
    release = yaml.safe_load((WORKFLOW.parent / "release.yaml").read_text())["jobs"]
    callers = {name: job for name, job in release.items() if WORKFLOW.name in job.get("uses", "")}
    assert callers["images"]["permissions"] == {"contents": "read", "packages": "write", "id-token": "write"}
    assert [name for name, job in release.items() if "id-token" in job.get("permissions", {})] == ["images"]


def test_the_server_runs_without_root_and_neither_container_needs_a_writable_root() -> None:
    assert re.findall(r"^USER (\w+)$", DOCKERFILES["Dockerfile"], re.MULTILINE)[-1] == "tunnihind"
    app = RUNS["build"][place("build", "docker run --detach --name app ")]
    assert "--security-opt apparmor=tunnihind --read-only --tmpfs /tmp" in app
    # start.py begins as root, and starts the server as the image's user: `test_home_assistant_app.py` shows it.
    assert (
        'USER root\nENTRYPOINT ["/opt/tunnihind/bin/python", "/usr/local/bin/start.py"]'
        in DOCKERFILES["packaging/home-assistant-app/Dockerfile"]
    )

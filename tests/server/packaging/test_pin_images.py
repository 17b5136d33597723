"""`scripts/pin-images`, with a stub of docker that answers as `docker buildx imagetools inspect` does."""

import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.scripts import PROJECT, load

FILES: Final[tuple[str, ...]] = load("scripts/pin-images").FILES
FOUND: Final = re.findall(
    r"(?:ghcr\.io/astral-sh/uv|nginx|postgres|python):[\w.-]+(?=\s|@)",
    "\n".join((PROJECT / name).read_text() for name in FILES),
)
"""The third-party images, each as often as it is named."""
UV, NGINX, POSTGRES, PYTHON = sorted(set(FOUND))

DOCKER: Final = """\
#!{python}
import json, sys
from hashlib import sha256

*command, image = sys.argv[1:]
assert command == ["buildx", "imagetools", "inspect", "--format", "{{{{json .Manifest}}}}"], command
if image == {unknown!r}:
    sys.exit(f"ERROR: docker.io/library/{{image}}: not found")
index = "application/vnd.oci.image.index.v1+json"
digest = "sha256:" + sha256(image.encode()).hexdigest()
answer = {{"schemaVersion": 2, "mediaType": index, "digest": digest, "size": 10321}}
platforms = [("linux", "amd64"), ("linux", "arm64"), ("unknown", "unknown")]
answer["manifests"] = [
    {{
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "digest": "sha256:" + str(n) * 64,
        "size": 2295,
        "platform": {{"architecture": architecture, "os": system}},
    }}
    for n, (system, architecture) in enumerate(platforms)
    if architecture != "arm64" or image != {small!r}
]
print(json.dumps(answer, indent=2))
"""


def digest_of(image: str) -> str:
    return f"sha256:{sha256(image.encode()).hexdigest()}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the files that the script changes, with the repository's present images."""
    for name in (*FILES, "scripts/pin-images"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    return tmp_path


def run(project: Path, *, unknown: str = "", small: str = "", docker: bool = True) -> subprocess.CompletedProcess[str]:
    folder = project / "bin"
    folder.mkdir(exist_ok=True)
    if docker:
        stand_in = folder / "docker"
        stand_in.write_text(DOCKER.format(python=sys.executable, unknown=unknown, small=small))
        stand_in.chmod(0o755)
    return subprocess.run(
        [sys.executable, project / "scripts/pin-images"],
        env=os.environ | {"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def texts(project: Path) -> list[str]:
    return [(project / name).read_text() for name in FILES]


def test_each_image_of_others_gets_the_digest_of_its_tag(project: Path) -> None:
    done = run(project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [f"{image}@{digest_of(image)}" for image in (UV, NGINX, POSTGRES, PYTHON)]
    together = "\n".join(texts(project))
    assert [together.count(f"{image}@{digest_of(image)}") for image in FOUND] == [*map(FOUND.count, FOUND)]
    assert together.count("@sha256:") == len(FOUND) == 6
    assert f"FROM {PYTHON}@{digest_of(PYTHON)} AS build\n" in together


def test_an_older_digest_gives_way_and_a_current_one_stays(project: Path) -> None:
    run(project)
    expected = texts(project)
    dockerfile = project / "Dockerfile"
    dockerfile.write_text(expected[0].replace(digest_of(PYTHON), f"sha256:{'0' * 64}"))
    for _ in range(2):
        assert run(project).returncode == 0
        assert texts(project) == expected


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"unknown": POSTGRES}, f"{POSTGRES}: ERROR: docker.io/library/{POSTGRES}: not found\n"),
        ({"small": NGINX}, f"{NGINX}: not there for linux/arm64\n"),
        ({"docker": False}, "there is no docker here: install it, with buildx\n"),
    ],
    ids=["unknown", "one platform", "no docker"],
)
def test_where_an_image_cannot_be_pinned_nothing_is_changed(project: Path, wrong: dict[str, Any], said: str) -> None:
    before = texts(project)
    done = run(project, **wrong)
    assert (done.returncode, done.stderr) == (1, said)
    assert texts(project) == before

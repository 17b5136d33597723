"""`scripts/pin-actions`, with git's own `ls-remote` on local repositories in place of those on GitHub."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.scripts import PROJECT

WORKFLOWS: Final = ".github/workflows"
USED: Final = {
    (repository, named)
    for path in (PROJECT / WORKFLOWS).glob("*.yaml")
    for repository, named in re.findall(r"uses: ([\w-]+/[\w-]+)[\w/-]*@(?:[0-9a-f]{40} # )?(\S+)", path.read_text())
}


def git(repository: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    command = ["git", "-C", str(repository), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def github(tmp_path: Path) -> Path:
    """Return a folder with a repository for each action, each with an annotated tag or a branch of the used name."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    folder = tmp_path / "github"
    for repository, named in USED:
        path = folder / repository
        path.mkdir(parents=True)
        git(path, "init", "--quiet", "--initial-branch", named if named in {"main", "master"} else "main")
        git(path, "commit", "--quiet", "--allow-empty", "--message", repository)
        if named not in {"main", "master"}:
            git(path, "tag", "--annotate", "--message", "A release", named)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the script and of the workflows."""
    project = tmp_path / "project"
    shutil.copytree(PROJECT / WORKFLOWS, project / WORKFLOWS)
    (project / "scripts").mkdir()
    shutil.copy(PROJECT / "scripts/pin-actions", project / "scripts")
    return project


def run(project: Path, github: Path) -> subprocess.CompletedProcess[str]:
    local = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{github.as_uri()}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
    }
    command = [sys.executable, str(project / "scripts/pin-actions")]
    return subprocess.run(command, env=os.environ | local, capture_output=True, text=True, check=False)


def texts(project: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (project / WORKFLOWS).glob("*.yaml")}


def test_each_action_is_pinned_to_the_commit_of_its_tag_or_branch(project: Path, github: Path) -> None:
    before = texts(project)
    done = run(project, github)
    assert (done.returncode, done.stderr) == (0, "")
    commits = {(repository, named): git(github / repository, "rev-parse", "HEAD") for repository, named in USED}
    assert sorted(done.stdout.splitlines()) == sorted(f"{one}@{commits[one, name]} # {name}" for one, name in USED)
    # The same files but for the commits: with these taken away, nothing else has changed.
    assert {name: re.sub(r"@[0-9a-f]{40} # ", "@", text) for name, text in texts(project).items()} == {
        name: re.sub(r"@[0-9a-f]{40} # ", "@", text) for name, text in before.items()
    }
    together = "\n".join(texts(project).values())
    assert len(re.findall(r"uses: (?!\./).*@[0-9a-f]{40} # \S+$", together, re.MULTILINE)) == len(
        re.findall(r"uses: (?!\./)", together)
    )
    assert f"uses: home-assistant/actions/hassfest@{commits['home-assistant/actions', 'master']} # master" in together


def test_an_older_commit_gives_way_to_that_of_its_tag_today(project: Path, github: Path) -> None:
    run(project, github)
    checkout = github / "actions/checkout"
    [named] = [named for repository, named in USED if repository == "actions/checkout"]
    old = git(checkout, "rev-parse", "HEAD")
    git(checkout, "commit", "--quiet", "--allow-empty", "--message", "A repair")
    git(checkout, "tag", "--force", named)  # a tag without a note, which is the commit itself
    assert run(project, github).returncode == 0
    together = "\n".join(texts(project).values())
    assert old not in together
    assert f"actions/checkout@{git(checkout, 'rev-parse', 'HEAD')} # {named}\n" in together


@pytest.mark.parametrize("gone", ["tag", "repository"])
def test_where_an_action_cannot_be_pinned_nothing_is_changed(project: Path, github: Path, gone: str) -> None:
    before = texts(project)
    if gone == "repository":
        shutil.rmtree(github / "hacs/action")
    else:
        git(github / "hacs/action", "branch", "--move", "main", "other")
    done = run(project, github)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "pin-actions: hacs/action has no tag or branch main" if gone == "tag" else "pin-actions: hacs/action: fatal: "
    )
    assert texts(project) == before

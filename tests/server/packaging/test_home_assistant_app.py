"""The Home Assistant app: its options are settings of the server, and it announces the server to Home Assistant."""

import asyncio
import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest
import yaml
from aiohttp import web

from tests.support import documents
from tests.support.scripts import PROJECT, load
from tunnihind.cli.serve import serve
from tunnihind.settings import Settings

APP: Final = PROJECT / "packaging/home-assistant-app"
CONFIG: Final[dict[str, Any]] = yaml.safe_load((APP / "config.yaml").read_text())
DEFAULTS: Final = Settings()
start: Final = load("packaging/home-assistant-app/start.py")


def served_with(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of `tunnihind serve` in the environment that the app makes."""
    with patch.dict(os.environ, start.settings(options)):
        return serve.make_context("serve", []).params


def test_the_options_as_they_come_are_the_servers_defaults_but_for_a_homes_whole_forecast() -> None:
    assert served_with(CONFIG["options"]) == served_with({}) | {"full_horizon": True}


def test_the_server_takes_every_option() -> None:
    options = {
        "zones": "fi,ee",
        "vat_rate": 0.24,
        "weather": False,
        "full_horizon": True,
        "log_level": "debug",
        "entsoe_token": "secret",
        "contact": "me@example.org",
        "public_url": "https://prices.example.org",
    }
    assert options.keys() == CONFIG["schema"].keys()
    params = served_with(options)
    assert {name: params[name] for name in options} == options | {"zones": ("fi", "ee")}


def test_an_option_that_was_emptied_is_left_to_the_server() -> None:
    assert start.settings({"entsoe_token": "", "contact": None, "weather": False}) == {"TUNNIHIND_WEATHER": "False"}


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_every_option_and_port_is_explained(language: str) -> None:
    texts = yaml.safe_load((APP / f"translations/{language}.yaml").read_text())
    assert texts["configuration"].keys() == CONFIG["schema"].keys()
    assert all(text["name"] and text["description"] for text in texts["configuration"].values())
    assert texts["network"].keys() == CONFIG["ports"].keys()


def test_the_documentation_names_every_option_and_no_other() -> None:
    named = re.findall(r"^\| `(\w+)` \|", (APP / "DOCS.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(CONFIG["schema"])


def test_the_documentation_gives_each_option_its_first_value() -> None:
    [table] = documents.tables((APP / "DOCS.md").read_text())
    told = {option.strip("`"): first.strip("`") for option, _, first, _ in table}
    said = {True: "on", False: "off"}
    assert told == {name: said.get(value, value) for name, value in CONFIG["options"].items()} | dict.fromkeys(
        CONFIG["schema"].keys() - CONFIG["options"].keys(), "none"
    )


def test_the_only_number_has_its_unit_and_limits_wherever_it_is_chosen() -> None:
    bounded = {name: kind for name, kind in CONFIG["schema"].items() if kind.startswith(("int", "float"))}
    assert bounded == {"vat_rate": "float(0,0.99)?"}
    for language, said in {
        "en": "a fraction from 0 to 0.99 (0.24 is 24%)",
        "et": "kümnendmurruna 0 kuni 0,99 (0,24 on 24%)",
        "ru": "десятичной дробью от 0 до 0,99 (0,24 — это 24%)",
    }.items():
        assert said in (APP / f"translations/{language}.yaml").read_text()
    assert "| a fraction from 0 to 0.99 (0.24 is 24%) |" in (APP / "DOCS.md").read_text()


def test_an_update_shows_the_changes_since_the_version_in_use() -> None:
    changelog = (APP / "CHANGELOG.md").read_text()
    newer = changelog.replace(f"## {CONFIG['version']}\n", f"## 99.0.0\n\nNew.\n\n## {CONFIG['version']}\n")
    # Home Assistant finds the changes this way, in `AddonUpdateEntity.async_release_notes`.
    shown = re.search(rf"^#* 99\.0\.0\n(?:^(?!#* {re.escape(CONFIG['version'])}).*\n)*", newer, re.MULTILINE)
    assert shown is not None
    assert shown[0] == "## 99.0.0\n\nNew.\n\n"


def test_the_port_is_the_servers() -> None:
    assert {CONFIG["ingress_port"], start.PORT} == {DEFAULTS.port}
    assert list(CONFIG["ports"]) == [f"{DEFAULTS.port}/tcp"]


def test_the_supervisor_finds_one_app_in_the_repository() -> None:
    # The Supervisor looks for config.* in all folders except hidden ones.
    found = []
    for folder, folders, names in PROJECT.walk():
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        found += [folder / name for name in names if name in {"config.json", "config.yaml", "config.yml"}]
    assert found == [APP / "config.yaml"]
    assert yaml.safe_load((PROJECT / "repository.yaml").read_text())["url"] == CONFIG["url"]


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, as in the container, to give files away")
def test_the_servers_user_is_given_the_data_and_nothing_that_links_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start, "USER", "nobody")
    data, secret = tmp_path / "data", tmp_path / "secret"
    data.mkdir()
    secret.write_text("root's")
    (data / "tunnihind.db").write_text("")
    (data / "tunnihind.db-wal").symlink_to(secret)
    (data / "tunnihind.db-shm").hardlink_to(secret)
    os.mkfifo(data / "tunnihind.db-journal")
    start.hand_over(data)
    nobody = pwd.getpwnam("nobody").pw_uid
    assert {path.name for path in (data, *data.iterdir()) if path.lstat().st_uid == nobody} == {"data", "tunnihind.db"}
    assert secret.stat().st_uid == 0
    complaints = capsys.readouterr().err
    assert all(f"{data}/tunnihind.db-{kind} stays as it is" in complaints for kind in ("wal", "shm", "journal"))


async def test_home_assistant_is_told_where_the_server_is() -> None:
    told: list[tuple[str | None, Any]] = []

    async def discovery(request: web.Request) -> web.Response:
        told.append((request.headers.get("Authorization"), await request.json()))
        return web.json_response({"result": "ok", "data": {"uuid": "1"}})

    app = web.Application()
    app.router.add_post("/discovery", discovery)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    supervisor = f"http://127.0.0.1:{runner.addresses[0][1]}"
    await asyncio.to_thread(start.announce, supervisor, "token", host="abc-tunnihind", port=8080)
    await runner.cleanup()
    assert told == [("Bearer token", {"service": "tunnihind", "config": {"host": "abc-tunnihind", "port": 8080}})]
    # The service's name is the integration's domain. The Supervisor accepts only names that the app declares.
    assert CONFIG["discovery"] == ["tunnihind"]


PROFILE: Final = (APP / "apparmor.txt").read_text()


def test_the_profile_is_one_that_apparmor_loads(tmp_path: Path) -> None:
    parser = shutil.which("apparmor_parser")
    if parser is None:
        pytest.skip("needs apparmor_parser: Debian's package apparmor")
    # The Supervisor gives the profile the app's full name, in the only line that begins with `profile`.
    [line] = [line for line in PROFILE.splitlines() if line.startswith("profile ")]
    assert line.split()[1] == CONFIG["slug"]
    for name, returned in {"a0d7b954_tunnihind": 0, "a0d7b954_tunnihind oops": 1}.items():
        renamed = tmp_path / "profile"
        renamed.write_text(PROFILE.replace(line, line.replace(CONFIG["slug"], name, 1)))
        command = [parser, "--skip-kernel-load", "--skip-cache", str(renamed)]
        assert subprocess.run(command, capture_output=True, check=False).returncode == returned


def test_the_profile_lets_the_app_write_its_data_and_run_nothing_that_it_wrote() -> None:
    rules = dict(re.findall(r"^  (/\S*) ([a-z]+),$", PROFILE, re.MULTILINE))
    writable = {path for path, rights in rules.items() if set("wal") & set(rights)}
    assert writable == {"/data/{,**}", "/tmp/{,**}", "/dev/{null,zero,full,tty,ptmx,pts/*}"}  # noqa: S108  a rule
    assert not [path for path in writable if set("xm") & set(rules[path])]
    # What start.py does as root: read and give away files, become another user, and end the server.
    assert re.findall(r"^  capability (\w+),$", PROFILE, re.MULTILINE) == [
        *("chown", "dac_override", "kill", "setgid", "setuid"),
    ]


def test_the_app_asks_home_assistant_for_no_rights() -> None:
    # Each of these keys would give the app rights, or take them from the profile.
    rights = {"apparmor", "auth_api", "devices", "docker_api", "full_access", "hassio_api", "hassio_role"}
    rights |= {"homeassistant_api", "host_ipc", "host_network", "host_pid", "host_uts", "map", "privileged"}
    assert not rights & CONFIG.keys()

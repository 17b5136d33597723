"""The environment variables of the options."""

from pathlib import Path

import click
import pytest

from tests.server.cli.conftest import Run
from tests.support.commands import COMMANDS


def test_options_of_several_commands_share_a_variable_only_if_they_mean_the_same() -> None:
    meanings: dict[str, list[object]] = {}
    for command in COMMANDS.values():
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.envvar, str):
                meaning = option.opts, option.type.to_info_dict(), option.is_flag, option.default
                meanings.setdefault(option.envvar, []).append(meaning)
    assert meanings
    assert [name for name, found in meanings.items() if any(meaning != found[0] for meaning in found)] == []


def test_the_days_of_a_backtest_are_no_settings() -> None:
    days = {option.name: option.envvar for option in COMMANDS["backtest"].params if option.name in {"first", "last"}}
    assert days == {"first": None, "last": None}


def test_a_backtest_does_not_read_or_print_an_address_in_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNNIHIND_TO", "postgresql+psycopg://tunnihind:s3cret@db.example/tunnihind")
    result = run("backtest", "--from", "2024-03-10")
    assert result.exit_code == 2
    assert "Missing option '--to'" in result.output
    assert "s3cret" not in result.output


def test_a_copy_takes_its_address_from_its_variable(
    run: Run, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy.db"
    monkeypatch.setenv("TUNNIHIND_COPY_TO", f"sqlite:///{copy}")
    assert run("status").exit_code == 0  # makes the database
    result = run("copy")
    assert result.exit_code == 0, result.output
    assert copy.exists()

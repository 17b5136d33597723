"""The options and their environment variables, and the messages about covariates that the forecast does not use."""

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


@pytest.mark.parametrize(
    ("given", "advised"), [("2025-12-15", "2025-12-15T00:00:00Z"), ("2025-12-15T10:00", "2025-12-15T10:00:00Z")]
)
def test_a_time_without_a_zone_is_refused_with_advice_that_works(run: Run, given: str, advised: str) -> None:
    refused = run("status", "--as-of", given)
    assert refused.exit_code == 2
    assert f"for UTC write {advised}" in " ".join(refused.output.split())
    assert run("status", "--as-of", advised).exit_code == 0


@pytest.mark.parametrize("given", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"])
def test_a_time_centuries_away_is_refused(run: Run, given: str) -> None:
    refused = run("status", "--as-of", given)
    assert refused.exit_code == 2
    assert "2010 to 2100" in " ".join(refused.output.split())


def test_a_token_file_that_is_no_text_is_refused_by_the_name_of_its_option(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"\xff\xfe")
    refused = run("check", "--entsoe-token-file", str(file))
    assert refused.exit_code == 2
    assert "--entsoe-token-file" in refused.output
    assert "can't be read as a text file" in " ".join(refused.output.split())


def test_only_the_present_status_has_a_line_about_the_running_pipeline(run: Run) -> None:
    assert "pipeline    not running" in run("status").stdout
    assert "pipeline" not in run("status", "--as-of", "2025-12-15T10:00:00Z").stdout


@pytest.mark.parametrize("option", ["price-cap", "vat-rate", "rate-limit", "port", "history-start"])
@pytest.mark.parametrize("given", ["2_020", "٢٠٢٠", " 2020", "nan", "two"])
def test_an_option_takes_only_plain_numbers(run: Run, option: str, given: str) -> None:
    result = run("serve", f"--{option}", given)
    assert result.exit_code == 2
    assert "number" in result.stderr


@pytest.mark.parametrize(
    ("name", "is_used"),
    [("ee_wind_mw", True), ("wind_speed_100m@ee_west", True), ("no_wind_mw", False), ("wind_speed_100m@west", False)],
)
def test_covariates_that_the_forecast_does_not_use_are_taken_in_and_told(
    run: Run, tmp_path: Path, name: str, is_used: bool
) -> None:
    file = tmp_path / "covariates.csv"
    file.write_text(f"issued_ts,target_ts,{name}\n1765753200,1765756800,900\n")
    imported, status = run("import", "covariates", str(file)), run("status")
    assert (imported.exit_code, status.exit_code) == (0, 0)
    assert "stored:  1 values" in imported.output
    assert (f"not used by the forecast: {name}; it uses <zone>_" in imported.output) is not is_used
    assert (f"not used by the forecast: {name}" in status.output) is not is_used


def test_observations_are_stored_and_unused_names_told(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "observations.csv"
    file.write_text("target_ts,ee_wind_mw,no_wind_mw\n1765756800,900,\n1765760400,910,5\n")
    first, again = (run("import", "observations", str(file)).output for _ in range(2))
    assert "stored:  3 observations of ee_wind_mw, no_wind_mw" in first
    assert "not used by the forecast: no_wind_mw; it uses <zone>_" in first
    assert "stored:  0 observations" in again
    assert "skipped: 3 already known, 1 empty cells" in again


@pytest.mark.parametrize(
    ("zones", "reason"),
    [
        ("ee,se", "'se' is not a zone; choose from ee, lv, lt, fi"),
        ("fi,ee,fi", "'fi' is named twice; name each of ee, lv, lt, fi at most once"),
    ],
)
def test_a_zone_that_is_unknown_or_named_twice_is_refused(run: Run, zones: str, reason: str) -> None:
    refused = run("serve", "--zones", zones)
    assert refused.exit_code == 2
    assert reason in " ".join(refused.output.split())

"""The messages of the command line about covariates that the forecast does not use."""

from pathlib import Path

import pytest

from tests.server.cli.conftest import Run


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

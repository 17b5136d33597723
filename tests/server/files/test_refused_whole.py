"""A file with one bad line leaves no trace in the store."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.server.files.conftest import Write
from tunnihind.cli.main import main
from tunnihind.store.store import Store

GOOD = [f"{1_765_753_200 + n * 3600},{n}" for n in range(48)]
FORECASTS = [f"1765753200,{row}" for row in GOOD]


@pytest.mark.parametrize(
    ("kind", "lines", "message"),
    [
        (
            "prices",
            ["ts,ee", *GOOD, "1765929600,free"],
            "line 50, column ee: 'free' is not a number; leave the cell empty if no value is known",
        ),
        (
            "covariates",
            ["issued_ts,target_ts,ee_wind_mw", *FORECASTS, "1765753200,1765929600,much"],
            "line 50, column ee_wind_mw: 'much' is not a number; leave the cell empty if no value is known",
        ),
    ],
)
def test_of_a_file_with_a_bad_last_line_nothing_is_stored(
    write: Write, database: Path, store: Store, kind: str, lines: list[str], message: str
) -> None:
    arguments = ["import", kind, str(write(*lines)), "--database-url", f"sqlite:///{database}"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [f"Error: history.csv, {message}"]
    assert (store.prices.count(), store.covariates.read_archive().series, store.state.served_version()) == (0, {}, 0)

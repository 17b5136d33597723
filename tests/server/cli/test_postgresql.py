"""The commands have the same output on PostgreSQL as on SQLite."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.server.cli.conftest import FIRST, LAST, Run, lively
from tunnihind.cli.main import main
from tunnihind.core.market import day_end, day_start
from tunnihind.store.store import Store

AS_OF = "2024-04-20T10:00:00Z"
COMMANDS = [
    "import prices {prices}",
    "import covariates {covariates}",
    "import observations {observations}",
    f"forecast --json --as-of {AS_OF}",
    f"forecast --as-of {AS_OF}",
    f"export prices --as-of {AS_OF}",
    "export prices --format json",
    f"export forecast --as-of {AS_OF}",
    "backtest --from 2024-04-10 --to 2024-04-20 --json",
    f"status --json --as-of {AS_OF}",
]
WHICH_DATABASE = ("database", "database_bytes", "databaseBytes")


@pytest.mark.usefixtures("quick_model", "run")
def test_every_command_answers_alike_on_both_systems(database: Path, postgresql_url: str, tmp_path: Path) -> None:
    prices, covariates, observations = (tmp_path / f"{kind}.csv" for kind in ("prices", "covariates", "observations"))
    hours = range(day_start(FIRST), day_end(LAST), 3600)
    prices.write_text("ts,ee\n" + "".join(f"{ts},{lively(ts):.2f}\n" for ts in hours))
    issued = [(ts - 86_400, ts) for ts in hours[::7]]
    covariates.write_text(
        "issued_ts,target_ts,ee_wind_da_mw\n" + "".join(f"{at},{ts},{ts % 900}\n" for at, ts in issued)
    )
    observations.write_text("target_ts,ee_wind_mw\n" + "".join(f"{ts},{ts % 900}\n" for ts in hours))
    for command in COMMANDS:
        arguments = command.format(prices=prices, covariates=covariates, observations=observations).split()
        answers = []
        for url in (f"sqlite:///{database}", postgresql_url):
            done = CliRunner().invoke(main, arguments, env={"TUNNIHIND_DATABASE_URL": url, "COLUMNS": "100"})
            assert done.exit_code == 0, (command, done.output)
            answers.append(without_the_database(done.stdout) if command.startswith("status") else done.stdout)
        assert answers[0] == answers[1], command
        assert answers[0]


def without_the_database(status: str) -> object:
    return {name: value for name, value in json.loads(status).items() if name not in WHICH_DATABASE}


def test_status_names_the_database_without_its_password_and_its_size(postgresql_url: str, run: Run) -> None:
    url = postgresql_url.replace("tunnihind@", "tunnihind:s3cret@")
    Store(url).close()
    done = CliRunner().invoke(main, ["status"], env={"TUNNIHIND_DATABASE_URL": url})
    first = done.output.splitlines()[0]
    assert first.startswith("database    postgresql+psycopg://tunnihind:***@/test_")
    assert " MB, 0 prices" in first
    assert "s3cret" not in done.output


@pytest.mark.usefixtures("run")
def test_an_import_that_the_server_refuses_in_the_middle_of_a_batch_is_told_in_one_line(
    postgresql_url: str, tmp_path: Path
) -> None:
    with Store(postgresql_url) as store, store.database.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE prices ADD CONSTRAINT small CHECK (eur_mwh < 50)")
    prices = tmp_path / "prices.csv"
    hours = range(day_start(FIRST), day_end(LAST), 3600)
    prices.write_text("ts,ee\n" + "".join(f"{ts},{n % 51}\n" for n, ts in enumerate(hours)))
    environment = {"TUNNIHIND_DATABASE_URL": postgresql_url, "COLUMNS": "100"}
    # The command is a separate process, because in this process the log lines before the error would be lost.
    command = [str(Path(sys.executable).with_name("tunnihind")), "import", "prices", str(prices)]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "small" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr

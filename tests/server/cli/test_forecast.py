"""`tunnihind forecast` at a terminal."""

import json
from collections.abc import Callable

from tests.server.cli.conftest import Price, Run, lively

INSTANT = "2024-04-20T10:00:00Z"


def test_a_drawn_forecast_fits_a_terminal_and_says_what_it_rests_on(
    run: Run, imported: Callable[[Price], None], quick_model: None
) -> None:
    imported(lively)
    drawn = run("forecast", "--as-of", INSTANT)
    assert drawn.exit_code == 0
    lines = drawn.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    hours = json.loads(run("forecast", "--as-of", INSTANT, "--json").stdout)["hours"]
    assert sum("●" in line for line in lines) == len(hours)
    assert "made at 2024-04-20T10:00:00Z by tier last-weeks-mean" in drawn.output
    assert "prices      ee of" in drawn.output
    assert "p10 to p90  from the errors of" in drawn.output


def test_from_prices_that_ended_long_ago_no_forecast_is_made(run: Run, imported: Callable[[Price], None]) -> None:
    imported(lively)
    for refused in (run("forecast"), run("forecast", "--as-of", "2024-05-08T00:00:00Z")):
        assert refused.exit_code == 1
        assert refused.stderr == (
            "Error: no forecast can be made: the newest price is from 2024-04-30, and a forecast reaches 7 delivery "
            "days past that day; fetch newer prices with `./run ingest`, or `./run import prices FILE`\n"
        )
    assert "forecast    none yet" in run("status").output
    assert run("forecast", "--as-of", "2024-05-07T00:00:00Z").exit_code == 0


def test_without_a_price_there_is_a_word_on_where_to_get_some(run: Run) -> None:
    refused = run("forecast", "--as-of", INSTANT)
    assert refused.exit_code == 1
    assert "./run import prices FILE" in refused.output

import csv
import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.judge_model import (
    BEDS,
    JANUARIES,
    LOOKS,
    Figures,
    HalfYear,
    Verdict,
    half_years,
    model_digest,
    note,
    paired,
    pinball_losses,
    tables,
)
from tests.benchmarks.judged_forecasts import columns_of, result_of
from tunnihind.core.market import HOUR_S, day_start
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.scoring.backtest import BacktestForecasts, BacktestResult
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import Floats

DAYS = days_between(date(2025, 5, 1), date(2025, 8, 31))
HOURS = np.array([day_start(day) + hour * HOUR_S for day in DAYS for hour in range(24)])
ACTUAL = 80 + 30 * np.random.default_rng(1).normal(size=HOURS.size)


def issued_a_day_ahead(p50: Floats, half_width: float = 30) -> BacktestResult:
    issued = BacktestForecasts(
        issued_ts=np.repeat([day_start(day) - 13 * HOUR_S for day in DAYS], 24),
        target_ts=HOURS,
        lead_days=np.ones(HOURS.size, np.int64),
        p10=p50 - half_width,
        p50=p50,
        p90=p50 + half_width,
        seven_day_mean=np.full(HOURS.size, 80.0),
    )
    return BacktestResult(issued, ACTUAL, np.full(HOURS.size, 80.0))


def half_year(pinball: float, t: float) -> HalfYear:
    before = Figures(skill=0.3, next_day_skill=0.4, pinball=10, coverage=0.8, winkler=150, share=0.8)
    return HalfYear(BEDS[0], "2025H1", before, replace(before, pinball=pinball), t)


def test_forecasts_are_paired_by_issue_and_hour() -> None:
    result = issued_a_day_ahead(np.arange(HOURS.size, dtype=float))
    columns = columns_of(result)
    shuffled = np.random.default_rng(2).permutation(HOURS.size)
    first = result_of({name: column[shuffled][24:] for name, column in columns.items()})
    second = result_of({name: column[:-24] for name, column in columns.items()})
    before, after = paired(first, second)
    assert before.forecasts.target_ts.tolist() == after.forecasts.target_ts.tolist()
    assert before.forecasts.p50.tolist() == after.forecasts.p50.tolist()
    assert {*before.forecasts.target_ts} == {*first.forecasts.target_ts} & {*second.forecasts.target_ts}


def test_two_issues_with_the_same_days_ahead_are_two_forecasts() -> None:
    earlier = columns_of(issued_a_day_ahead(np.zeros(HOURS.size)))
    later = columns_of(issued_a_day_ahead(np.ones(HOURS.size))) | {"issued_ts": earlier["issued_ts"] + HOUR_S}
    both = result_of({name: np.concatenate([earlier[name], later[name]]) for name in earlier})
    before, after = paired(both, result_of(later))
    assert before.forecasts.p50.tolist() == after.forecasts.p50.tolist() == np.ones(HOURS.size).tolist()


def test_the_pinball_loss_that_decides_is_the_one_that_is_reported() -> None:
    result = issued_a_day_ahead(np.full(HOURS.size, 75.0))
    issued = result.forecasts
    scores = Scores.of(actual=result.actual, baseline=result.baseline, p10=issued.p10, p50=issued.p50, p90=issued.p90)
    assert pinball_losses(result).mean() == pytest.approx(scores.pinball)


def test_each_half_year_is_judged_by_itself() -> None:
    noise = np.random.default_rng(3).normal(size=HOURS.size)
    before, after = (issued_a_day_ahead(ACTUAL + size * noise) for size in (20, 10))
    first, second = half_years(BEDS[0], before, after)
    assert (first.label, second.label) == ("2025H1", "2025H2")
    for one in (first, second):
        assert one.t < -5
        assert one.gain > 0
        assert one.after.skill > one.before.skill


def test_an_unchanged_model_moves_nothing_and_gains_nothing() -> None:
    same = issued_a_day_ahead(np.full(HOURS.size, 80.0))
    verdict = Verdict.of([*half_years(BEDS[0], same, same)])
    assert (verdict.moved, verdict.gaining, verdict.mean_gain, verdict.losses) == (0, 0, 0, ())
    assert not verdict.stays


@pytest.mark.parametrize(
    ("judged", "stays"),
    [
        ([half_year(9.8, -2.0), half_year(9.9, -0.5), half_year(10.1, 0.9)], True),
        ([half_year(9.0, -4.0), half_year(9.0, -4.0), half_year(10.1, 1.6)], False),
        ([half_year(9.8, -2.0), half_year(10.1, 0.9)], False),
        ([half_year(9.8, -2.0), half_year(10, math.nan), half_year(10, math.nan)], True),
        ([half_year(9.8, math.nan)], True),
    ],
    ids=["most gain", "one clear loss", "only half gain", "most are not moved", "too few days to know"],
)
def test_a_change_stays_if_none_loses_clearly_and_most_gain(judged: Sequence[HalfYear], stays: bool) -> None:
    assert Verdict.of(judged).stays is stays


def test_januaries_are_shown_and_not_judged() -> None:
    gaining = half_year(9.8, -2.0)
    verdict = Verdict.of([gaining, replace(half_year(12, 5.0), label=JANUARIES)])
    assert verdict == Verdict.of([gaining])
    assert verdict.stays


def test_half_of_the_mean_gain_is_claimed() -> None:
    assert "+2.00% of pinball loss on the mean, +1.00% may be claimed" in str(
        Verdict.of([half_year(9.7, -2.0), half_year(9.9, -1.0)])
    )


def test_a_table_has_both_figures_of_each_half_year() -> None:
    assert "| 2025H1 prices | 0.300 0.300 | 0.400 0.400 | 10.00 9.80 | +2.00% (-2.1) |" in tables(
        [half_year(9.8, -2.1)]
    )


def test_looks_are_counted_in_their_file(tmp_path: Path) -> None:
    looks = tmp_path / "looks.csv"
    looks.write_text(LOOKS.read_text().splitlines()[0] + "\n")
    verdict = Verdict.of([half_year(9.8, -2.0)])
    assert [note(looks, subject, "1/1", ("a", "b"), verdict) for subject in ("one", "another")] == [1, 2]
    with looks.open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [(row["number"], row["subject"], row["verdict"], row["mean gain"]) for row in rows] == [
        ("1", "one", "stays", "+2.00%"),
        ("2", "another", "stays", "+2.00%"),
    ]


def test_a_model_is_known_by_its_code(tmp_path: Path) -> None:
    code = tmp_path / "server/tunnihind/forecast/point/ridge.py"
    code.parent.mkdir(parents=True)
    code.write_text("A = 1\n")
    before = model_digest(tmp_path)
    (code.parent / "README.md").write_text("Nothing of the model.\n")
    assert model_digest(tmp_path) == before
    code.write_text("A = 2\n")
    assert model_digest(tmp_path) != before

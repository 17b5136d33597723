"""Compare a changed model with the old one in several years and two zones, with the data that was known then.

    python -m tests.benchmarks.judge_model BEFORE AFTER --subject "kernel over 900 days" --database all.db

BEFORE and AFTER are trees (a folder, changed or not) or git revisions. The database holds all data that `tunnihind
import` accepts (`server/tunnihind/forecast/README.md`). Each half-year is judged on a part of this data. A change stays
if no half-year of either zone loses with abs(t) > 1.5, and most of the changed half-years gain. Only half of the mean
gain may be claimed. Models are compared by their pinball loss, paired by issue and hour, with one mean a day.

Each look is noted in `looks.csv`, because a gain means less after many looks. Note other kinds of looks there by hand.
For exploring, `--every 3` judges a third of the issues, and `--only temperature` only the half-years with that input.
Forecasts are cached by the inputs and the code that made them, so the next look needs the forecasts of one tree only.
"""

import csv
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

import click
import numpy as np
from numpy.typing import NDArray

from tests.benchmarks import judged_forecasts
from tests.benchmarks.judged_forecasts import columns_of, result_of
from tunnihind.core.market import DAY_S, MARKETS, Zone, delivery_day
from tunnihind.forecast.run import LEAD_DAYS, QUANTILE_LEVELS
from tunnihind.forecast.scoring.backtest import BacktestForecasts, BacktestResult
from tunnihind.forecast.scoring.report import BacktestReport
from tunnihind.forecast.scoring.significance import diebold_mariano
from tunnihind.known import Floats, Instants

LAST: Final = date(2025, 12, 31)
PLAN_HOURS: Final = 4
CLEAR_LOSS: Final = 1.5
"""A half-year that loses by a larger t rejects a change."""
CLAIMED: Final = 0.5
"""The claimed part of the mean gain, because many looks also find lucky gains."""
JANUARIES: Final = "Januaries"
"""The coldest months are shown separately, because a forecast matters most then. They are not judged."""
_LONGEST_S: Final = 100 * DAY_S
"""No forecast reaches this far."""
LOOKS: Final = Path(__file__).with_name("looks.csv")


@dataclass(frozen=True, slots=True)
class Bed:
    """A zone with some inputs: the covariates whose whole name matches a pattern, from the start of their history.

    The temperature's two months are a short history, but there are few winters.
    """

    zone: Zone
    inputs: str
    covariates: str
    first: date


BEDS: Final = (
    Bed("ee", "prices", "", date(2023, 1, 1)),
    Bed("ee", "ENTSO-E's", ".*_da_mw", date(2024, 7, 1)),
    Bed("ee", "wind", "fi_wind_mw", date(2025, 1, 1)),
    Bed("ee", "wind, temperature", "fi_wind_mw|temperature_2m@.*", date(2025, 1, 1)),
    Bed("fi", "prices", "", date(2024, 1, 1)),
    Bed("fi", "ENTSO-E's", ".*_da_mw", date(2024, 7, 1)),
    Bed("fi", "wind", "fi_wind_mw", date(2025, 1, 1)),
    Bed("fi", "wind, temperature", "fi_wind_mw|temperature_2m@.*", date(2025, 1, 1)),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """The scores of one model.

    `share` is the caught share of the possible saving by a day's cheapest hours, as a mean over the leads.
    """

    skill: float
    next_day_skill: float
    pinball: float
    coverage: float
    winkler: float
    share: float

    @classmethod
    def of(cls, result: BacktestResult, zone: Zone) -> Self:
        """Score a result of a zone."""
        report = BacktestReport.of(result, MARKETS[zone])
        # Further leads belong to days on which the newest prices were stale.
        leads = {lead: scores for lead, scores in report.leads.items() if lead in LEAD_DAYS}
        plans = (of_lead[PLAN_HOURS] for lead, of_lead in report.decisions.by_days_ahead.items() if lead in LEAD_DAYS)
        return cls(
            skill=_mean(scores.skill for scores in leads.values()),
            next_day_skill=leads[1].skill if 1 in leads else float("nan"),
            pinball=report.overall.pinball,
            coverage=report.overall.coverage80,
            winkler=report.overall.winkler80,
            share=_mean(of_lead.share for of_lead in plans),
        )


@dataclass(frozen=True, slots=True)
class HalfYear:
    """One half-year of a bed, or its Januaries, with both models.

    `t` is negative if the new model has the smaller loss.
    """

    bed: Bed
    label: str
    before: Figures
    after: Figures
    t: float

    @property
    def gain(self) -> float:
        """The saved part of the pinball loss."""
        return 1 - self.after.pinball / self.before.pinball


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rule's verdict on half-years. `mean_gain` is over all of them, including unchanged ones."""

    losses: tuple[HalfYear, ...]
    gaining: int
    moved: int
    mean_gain: float

    @classmethod
    def of(cls, half_years: Sequence[HalfYear]) -> Self:
        """Judge all half-years, without the Januaries. An unknown t, from too few days, rejects nothing."""
        half_years = [one for one in half_years if one.label != JANUARIES]
        return cls(
            losses=tuple(one for one in half_years if one.t > CLEAR_LOSS),
            gaining=sum(one.gain > 0 for one in half_years),
            moved=sum(one.gain != 0 for one in half_years),
            mean_gain=_mean(one.gain for one in half_years),
        )

    @property
    def stays(self) -> bool:
        """Return whether the change may stay."""
        return not self.losses and 2 * self.gaining > self.moved

    def __str__(self) -> str:
        lost = ", ".join(f"{one.bed.zone} {one.label} {one.bed.inputs} (t {one.t:+.1f})" for one in self.losses)
        return (
            f"{'stays' if self.stays else 'goes'}: {self.gaining} of {self.moved} half-years that it moves gain, "
            f"{self.mean_gain:+.2%} of pinball loss on the mean, {CLAIMED * self.mean_gain:+.2%} may be claimed; "
            f"clear losses: {lost or 'none'}"
        )


def paired(before: BacktestResult, after: BacktestResult) -> tuple[BacktestResult, BacktestResult]:
    """Return the forecasts that both models made of the same hours at the same issues, in the same order."""
    first, second = _issue_and_target(before.forecasts), _issue_and_target(after.forecasts)
    _, in_before, in_after = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return _picked(before, in_before), _picked(after, in_after)


def _issue_and_target(issued: BacktestForecasts) -> Instants:
    """Return a number for each forecast, (n,). The days ahead are not enough: stale prices give two issues the same."""
    pairs: Instants = issued.issued_ts * _LONGEST_S + issued.target_ts - issued.issued_ts
    return pairs


def _picked(result: BacktestResult, rows: NDArray[Any]) -> BacktestResult:
    return result_of({name: column[rows] for name, column in columns_of(result).items()})


def half_years(bed: Bed, before: BacktestResult, after: BacktestResult) -> Iterator[HalfYear]:
    """Compare two models on a bed: in each half-year of delivery, then in all Januaries."""
    before, after = paired(before, after)
    days = [delivery_day(int(ts)) for ts in before.forecasts.target_ts]
    numbers = np.array([day.toordinal() for day in days])
    of_half_year = np.array([f"{day.year}H{1 + (day.month > 6)}" for day in days])
    spans = {label: of_half_year == label for label in np.unique(of_half_year).tolist()}
    spans[JANUARIES] = np.array([day.month == 1 for day in days])
    for label, rows in spans.items():
        if rows.any():
            old, new = (_picked(result, rows) for result in (before, after))
            t = diebold_mariano(pinball_losses(new), pinball_losses(old), numbers[rows]).t
            yield HalfYear(bed, label, Figures.of(old, bed.zone), Figures.of(new, bed.zone), t)


def pinball_losses(result: BacktestResult) -> Floats:
    """Return the pinball loss of each forecast, the mean over its three percentiles, (n,)."""
    issued = result.forecasts
    errors = np.stack([result.actual - quantile for quantile in (issued.p10, issued.p50, issued.p90)])
    levels = np.array(QUANTILE_LEVELS)[:, None]
    losses: Floats = np.maximum(levels * errors, (levels - 1) * errors).mean(axis=0)
    return losses


def _mean(values: Iterable[float]) -> float:
    return float(np.mean([*values]))


COLUMNS: Final[Mapping[str, Callable[[HalfYear], str]]] = {
    "half-year": lambda one: f"{one.label} {one.bed.inputs}",
    "mean skill": lambda one: _both(one, "skill", ".3f"),
    "D+1 skill": lambda one: _both(one, "next_day_skill", ".3f"),
    "pinball": lambda one: _both(one, "pinball", ".2f"),
    "gain (t)": lambda one: f"{one.gain:+.2%} ({one.t:+.1f})",
    "coverage": lambda one: _both(one, "coverage", ".3f"),
    "Winkler": lambda one: _both(one, "winkler", ".1f"),
    "saving": lambda one: _both(one, "share", ".3f"),
}


def _both(one: HalfYear, figure: str, form: str) -> str:
    return " ".join(f"{getattr(figures, figure):{form}}" for figures in (one.before, one.after))


def tables(judged: Sequence[HalfYear]) -> str:
    """Return a table in Markdown for each zone. Two figures in a cell are before and after the change."""
    lines: list[str] = []
    for zone, of_zone in groupby(judged, attrgetter("bed.zone")):
        lines += ["", f"{MARKETS[zone].adjective}: before and after", "", _row(COLUMNS), _row("---" for _ in COLUMNS)]
        lines += [_row(column(one) for column in COLUMNS.values()) for one in of_zone]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


@contextmanager
def tree(of: str) -> Iterator[Path]:
    """Yield a folder with the server of a tree or of a git revision. Raises CalledProcessError for anything else."""
    if Path(of).is_dir():
        yield Path(of)
        return
    archived = subprocess.run(["git", "archive", of, "server"], check=True, capture_output=True).stdout
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archived)) as packed:
            packed.extractall(folder, filter="data")
        yield Path(folder)


def model_digest(folder: Path) -> str:
    """Return a digest of the model's code and of the market's facts that the model uses."""
    package = folder / "server" / "tunnihind"
    return _digest(path.read_bytes() for path in sorted([*package.glob("*.py"), *package.glob("forecast/**/*.py")]))


def _digest(parts: Iterable[bytes]) -> str:
    digest = blake2b(digest_size=6)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def forecast(database: Path, every: int, cache: Path, folder: Path, bed: Bed) -> BacktestResult:
    """Return a tree's forecasts on a bed, from the cache if possible."""
    made_from = repr(bed), str(every), LAST.isoformat()
    key = _digest([model_digest(folder).encode(), database.read_bytes(), *(fact.encode() for fact in made_from)])
    kept = cache / f"{key}.npz"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(f".{os.getpid()}.npz")
        options = f"--zone={bed.zone} --from={bed.first} --to={LAST} --every={every}".split()
        subprocess.run(
            [
                sys.executable,
                judged_forecasts.__file__,
                database,
                unfinished,
                f"--covariates={bed.covariates}",
                *options,
            ],
            check=True,
            env={**os.environ, "PYTHONPATH": str(folder / "server"), "OPENBLAS_NUM_THREADS": "1"},
        )
        unfinished.rename(kept)
    with np.load(kept) as columns:
        return result_of(columns)


def note(looks: Path, subject: str, scope: str, models: Sequence[str], verdict: Verdict) -> int:
    """Note a look in a file, and return the number of looks so far."""
    with looks.open(newline="") as file:
        number = sum(1 for _ in csv.reader(file))
    with looks.open("a", newline="") as file:
        outcome = "stays" if verdict.stays else "goes", f"{verdict.gaining} of {verdict.moved}", len(verdict.losses)
        today = datetime.now(UTC).date()
        gain = f"{verdict.mean_gain:+.2%}"
        csv.writer(file, lineterminator="\n").writerow([number, today, subject, scope, *models, *outcome, gain])
    return number


@click.command(help=__doc__)
@click.argument("before")
@click.argument("after")
@click.option("--subject", required=True, help="What is changed, in a few words.")
@click.option("--database", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--every", default=1, show_default=True, help="Judge one issue day in so many.")
@click.option("--only", default="", help="Judge on inputs whose name holds this.")
@click.option("--jobs", default=2, show_default=True, help="Backtests at a time, each on one processor.")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    default=lambda: Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tunnihind" / "judged",
    help="Where forecasts are kept; by default the user's cache folder.",
)
def main(before: str, after: str, subject: str, database: Path, every: int, only: str, jobs: int, cache: Path) -> None:
    """Judge, print and note."""
    beds = [bed for bed in BEDS if only in bed.inputs]
    with ExitStack() as stack, ThreadPoolExecutor(jobs) as pool:
        folders = [stack.enter_context(tree(of)) for of in (before, after)]
        made = [pool.map(partial(forecast, database, every, cache, folder), beds) for folder in folders]
        judged = [one for bed, *both in zip(beds, *made, strict=True) for one in half_years(bed, *both)]
        models = [model_digest(folder) for folder in folders]
    verdict = Verdict.of(judged)
    click.echo(tables(judged))
    click.echo(f"\nLook {note(LOOKS, subject, f'{only} 1/{every}'.strip(), models, verdict)}, {subject}: {verdict}")


if __name__ == "__main__":
    main()

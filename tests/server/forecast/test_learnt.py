"""A point model's learning can be stored as plain data, and a model made from this data gives the same results."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.markets.mean_model import Mean
from tests.support.markets.windy_market import windy_archive, with_covariates
from tunnihind.core.market import DAY_S, ESTONIA, day_end, day_start
from tunnihind.forecast.columns.lead import ColumnData
from tunnihind.forecast.known_days.known_days import KnownDays
from tunnihind.forecast.known_days.season import SeasonCache
from tunnihind.forecast.point.model import Fit, LearningModel, PointModelFactory
from tunnihind.forecast.point.ridges_and_kernel import RidgesAndKernel
from tunnihind.forecast.replay.learner import Learner, RowBlocks
from tunnihind.forecast.replay.learnt import LearntData
from tunnihind.forecast.replay.replay import era_start
from tunnihind.forecast.run import LEAD_DAYS
from tunnihind.known import Archive, Floats, IssuedSeries, KnownData

type Utc = Callable[..., int]

FIRST, DAYS = date(2025, 7, 1), 149
LEADS = tuple(LEAD_DAYS)
NEXT_DAY = ("ee_load_da_mw", "ee_wind_da_mw", "fi_load_da_mw", "fi_wind_da_mw")


MODELS = (RidgesAndKernel, Mean)
"""Every point model. Add each new one here."""


def next_day(seed: int) -> tuple[IssuedSeries, ...]:
    """Return megawatts for every delivery day, issued on the morning of the day before."""
    rng = np.random.default_rng(seed)
    days = [FIRST + timedelta(days=number) for number in range(DAYS)]
    return tuple(
        IssuedSeries(
            (day_start(day) + 2 * 3600) // DAY_S * DAY_S - 16 * 3600,
            day_start(day),
            rng.uniform(100, 2000, (day_end(day) - day_start(day)) // 3600).astype(np.float32),
        )
        for day in days
    )


@pytest.fixture(scope="module")
def archive() -> Archive:
    nearest = {name: next_day(seed) for seed, name in enumerate(NEXT_DAY)}
    return with_covariates(windy_archive(FIRST, DAYS), **nearest)


def columns_of(known: KnownData) -> ColumnData:
    newest = known.prices.series_of("ee").newest_day
    assert newest is not None
    days = KnownDays.of(known, ESTONIA, FIRST, newest, SeasonCache(), era_start(newest))
    assert days is not None
    return ColumnData.of(days, days.issue_lag, days.newest_row - 40)


def restored(learner: Learner, model: PointModelFactory) -> Learner:
    kept = LearntData.from_dataclass(learner)
    shapes = {LearningModel: type(learner.learning), Fit: learner.learning.fit_type}
    # The arrays are copies with the same content, as after reading a file.
    arrays = tuple(np.frombuffer(bytearray(one.tobytes()), one.dtype).reshape(one.shape) for one in kept.arrays)
    return LearntData(kept.document, arrays).restore(Learner, shapes)


def said_by(learner: Learner, columns: ColumnData) -> list[bytes]:
    """Return all results of a learner: its past forecasts, its corrections, and the predictions of its fits."""
    blocks = RowBlocks(columns, learner.through)
    days = range(learner.through - 6, learner.through + 1)
    fits = [learner.fit(LEADS), *(dated.fit for dated in learner.fits)]
    predicted = [fit.predict(lead, blocks.of(days, lead)) for fit in fits for lead in LEADS]
    shifts = np.array([learner.level_correction(lead) for lead in LEADS])
    return [learner.issued_forecasts(LEADS).tobytes(), shifts.tobytes(), *(one.tobytes() for one in predicted)]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("hour", [9, 15])
@pytest.mark.parametrize("refits", [2, 5])
def test_a_learner_that_is_made_again_goes_on_bit_for_bit(
    archive: Archive, utc: Utc, model: Callable[[], Any], hour: int, refits: int
) -> None:
    columns = columns_of(archive.as_of(utc(2025, 11, 20, hour)))
    blocks = RowBlocks(columns, 19 + 20 * 6)
    learner = Learner.begin(model, LEADS, 200)
    for refit in range(refits):
        learner.learn(blocks, 19 + 20 * (refit + 1))
        learner.refit(thorough=refit % 2 == 0)
    again = restored(learner, model)
    assert said_by(again, columns) == said_by(learner, columns)
    for one in (learner, again):
        one.learn(blocks, 19 + 20 * (refits + 1))
        one.refit(thorough=False)
    assert said_by(again, columns) == said_by(learner, columns)


def test_one_that_is_made_again_goes_its_own_way(archive: Archive, utc: Utc) -> None:
    columns = columns_of(archive.as_of(utc(2025, 11, 20, 9)))
    learner = Learner.begin(RidgesAndKernel, LEADS, 200)
    learner.learn(RowBlocks(columns, 100), 80)
    learner.refit(thorough=True)
    kept, before = LearntData.from_dataclass(learner.copy()), said_by(learner, columns)
    again = kept.restore(Learner, {LearningModel: RidgesAndKernel, Fit: RidgesAndKernel.fit_type})
    again.learn(RowBlocks(columns, 100), 100)
    assert said_by(learner, columns) == before


@dataclass
class Small:
    values: NDArray[np.float64]
    same: NDArray[np.float64]
    flags: NDArray[np.bool_]
    number: float
    names: frozenset[str]
    by_lead: dict[int, float | None]


SMALL: Floats = np.array([0.0, 1.0, 2.0])


def small() -> Small:
    return Small(SMALL, SMALL, np.array([True, False]), 0.1 + 0.2, frozenset({"a"}), {1: None, 2: -1e300})


def test_an_array_that_two_parts_share_is_kept_once_and_shared_again() -> None:
    kept = LearntData.from_dataclass(small())
    assert len(kept.arrays) == 2
    again = kept.restore(Small, {})
    assert again.values is again.same
    assert (again.number, again.names, again.by_lead) == (0.1 + 0.2, frozenset({"a"}), {1: None, 2: -1e300})


def test_anything_but_plain_data_is_refused() -> None:
    with pytest.raises(TypeError, match="a function is not plain data"):
        LearntData.from_dataclass(Small(SMALL, SMALL, SMALL > 1, 1.0, frozenset(), {1: next_day}))  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("field_name", "value"),
    [("values", {"array": 7}), ("values", {"array": 1}), ("values", None), ("number", "x"), ("number", None)],
)
def test_a_document_that_does_not_fit_is_refused(field_name: str, value: object) -> None:
    kept = LearntData.from_dataclass(small())
    document = json.dumps({**json.loads(kept.document), field_name: value}).encode()
    with pytest.raises(ValueError, match=r"."):
        LearntData(document, kept.arrays).restore(Small, {})


def test_a_document_that_is_cut_short_is_refused() -> None:
    kept = LearntData.from_dataclass(small())
    with pytest.raises(ValueError, match=r"truncated"):
        LearntData(kept.document[:-3], kept.arrays).restore(Small, {})

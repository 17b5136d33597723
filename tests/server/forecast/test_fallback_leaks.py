from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from tunnihind.core.market import ESTONIA, HOUR_S, day_end, day_start, delivery_day
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.run import Run
from tunnihind.known import Archive, Floats

type Market = Callable[[date, date, Callable[[int], float]], Archive]
type Utc = Callable[..., int]

FIRST, LAST = date(2025, 6, 20), date(2025, 12, 5)
"""A span with hours first, and with quarters from 1 October on."""
BEFORE_PUBLICATION, AFTER_PUBLICATION = (2025, 11, 20, 9), (2025, 11, 20, 15)


@pytest.fixture(scope="module")
def archive(market: Market) -> Archive:
    rng = np.random.default_rng(3)
    return market(FIRST, LAST, lambda ts: 60 + 30 * np.sin(ts / 86400 * np.pi) + float(rng.normal(0, 20)))


def with_noise(archive: Archive, rows: NDArray[np.bool_]) -> Archive:
    noise = np.random.default_rng(11).uniform(-500, 4000, archive.prices.ts.size)
    return replace(archive, prices=replace(archive.prices, eur_mwh=np.where(rows, noise, archive.prices.eur_mwh)))


def rows_of_day(archive: Archive, day: date) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = (archive.prices.ts >= day_start(day)) & (archive.prices.ts < day_end(day))
    return rows


def percentiles(archive: Archive, as_of: int) -> tuple[Run, Floats]:
    run = LastWeeksMean(ESTONIA).forecast(archive.as_of(as_of))
    assert run is not None
    return run, np.stack([run.p10, run.p50, run.p90])


def changed_days(archive: Archive, tampered: Archive, as_of: int) -> set[date]:
    run, before = percentiles(archive, as_of)
    _, after = percentiles(tampered, as_of)
    changed = np.flatnonzero((before != after).any(axis=0))
    return {delivery_day(run.start_ts + int(hour) * HOUR_S) for hour in changed}


@pytest.mark.parametrize("issue", [BEFORE_PUBLICATION, AFTER_PUBLICATION, (2025, 10, 26, 9), (2025, 10, 1, 9)])
def test_what_becomes_known_after_the_issue_changes_no_bit(archive: Archive, utc: Utc, issue: tuple[int, ...]) -> None:
    as_of = utc(*issue)
    tampered = with_noise(archive, archive.prices.known_ts > as_of)
    assert changed_days(archive, tampered, as_of) == set()
    assert LastWeeksMean(ESTONIA).forecast(tampered.as_of(as_of)) is not None


@pytest.mark.parametrize("issue", [BEFORE_PUBLICATION, AFTER_PUBLICATION])
def test_todays_prices_of_any_zone_change_nothing_of_todays_forecast(
    archive: Archive, utc: Utc, issue: tuple[int, ...]
) -> None:
    today = date(2025, 11, 20)
    changed = changed_days(archive, with_noise(archive, rows_of_day(archive, today)), utc(*issue))
    assert today not in changed
    assert today + timedelta(days=1) in changed


def test_settled_tomorrow_changes_nothing_of_its_own_forecast_nor_of_todays(archive: Archive, utc: Utc) -> None:
    tomorrow = date(2025, 11, 21)
    changed = changed_days(archive, with_noise(archive, rows_of_day(archive, tomorrow)), utc(*AFTER_PUBLICATION))
    assert changed == set(days_between(date(2025, 11, 22), date(2025, 11, 28)))


def test_the_forecast_of_a_settled_day_is_the_one_issued_before_it_was_known(archive: Archive, utc: Utc) -> None:
    tomorrow = date(2025, 11, 21)
    runs = [percentiles(archive, utc(*issue)) for issue in (BEFORE_PUBLICATION, AFTER_PUBLICATION)]
    before, after = (values[:, (day_start(tomorrow) - run.start_ts) // HOUR_S :][:, :24] for run, values in runs)
    assert before == pytest.approx(after, abs=0.011)

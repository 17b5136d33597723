"""Whether savings come true as expected, for the served model on the simulated market, which wind moves."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from custom_components.tunnihind.plans.saving import Saving, average_percentiles, window_saving
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.support.clocks import StillClock
from tests.support.household.savings import Judged, as_came, as_issued, as_on_path, judged, reliability, share_inside
from tunnihind.core.market import (
    ESTONIA,
    HOUR_S,
    ZONES,
    consumer_price,
    day_end,
    day_start,
    delivery_day,
    publication_time,
)
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.run import Run, Runs
from tunnihind.forecast.scenarios.dependence import ranks_of
from tunnihind.forecast.scenarios.values import scenario_values
from tunnihind.known import Archive, CovariateArchive, IssuedSeries, KnownPrice, PriceArchive
from tunnihind.sources.simulated import SimulatedSource
from tunnihind.sources.simulated_market import SimulatedMarket

FIRST, LAST = date(2024, 9, 1), date(2025, 7, 10)
FIRST_ISSUE = date(2025, 1, 6)
ISSUES, DAYS_BETWEEN = 26, 7
VAT_RATE = 0.22
SEED = 1
COMPARED = 7
"""Every so many savings, one is compared with the price paths."""


@pytest.fixture(scope="module")
def prices() -> Mapping[int, tuple[float, ...]]:
    """Return the hours' prices of all zones, EUR/MWh."""
    starts = np.arange(day_start(FIRST), day_end(LAST), HOUR_S, dtype=np.float64)
    zones = np.stack(list(SimulatedMarket(SEED).prices(starts + HOUR_S / 2).values()))
    return {int(start): tuple(row) for start, row in zip(starts, zones.T.tolist(), strict=True)}


@dataclass(frozen=True)
class OnPaths:
    """An expected saving, and its value on each of the server's price paths."""

    told: Saving
    drawn: Sequence[float]


@dataclass(frozen=True)
class Mornings:
    """Expected savings of plans, all of them with the actual saving, and some with the price paths."""

    savings: Sequence[Judged]
    on_paths: Sequence[OnPaths]


@pytest.fixture(scope="module")
def mornings(prices: Mapping[int, tuple[float, ...]]) -> Mornings:
    """Return the expected savings of plans on 26 mornings, a week apart."""
    archive = Archive(_published(prices), CovariateArchive(asyncio.run(_wind())))
    truth = {start: consumer_price(row[0], VAT_RATE) for start, row in prices.items()}
    forecaster = TieredForecaster(ESTONIA)
    found: list[Judged] = []
    on_paths: list[OnPaths] = []
    for number in range(ISSUES):
        day = FIRST_ISSUE + timedelta(days=number * DAYS_BETWEEN)
        now = int(datetime(day.year, day.month, day.day, 9, tzinfo=UTC).timestamp())
        runs = Runs.made_by(forecaster, archive.as_of(now))
        assert runs is not None
        known = as_issued(truth, _bands(runs.hours), now)
        here = list(judged(known, as_came(truth), now))
        found += here
        paths = [as_on_path(known, path) for path in _paths(runs)]
        on_paths += (OnPaths(one.saving, [one.on(path) for path in paths]) for one in here[::COMPARED])
    return Mornings(found, on_paths)


@pytest.fixture(scope="module")
def savings(mornings: Mornings) -> Sequence[Judged]:
    return mornings.savings


def _paths(runs: Runs) -> list[dict[int, float]]:
    """Return the price paths of a run, EUR/kWh by the start of the hour."""
    assert runs.scenarios is not None
    return [
        {ts: consumer_price(price, VAT_RATE) for ts, price in zip(runs.hours.starts(), path, strict=True)}
        for path in runs.scenarios.eur_mwh.tolist()
    ]


def _published(prices: Mapping[int, tuple[float, ...]]) -> PriceArchive:
    return PriceArchive.of(
        KnownPrice(zone, start, HOUR_S, publication_time(delivery_day(start)), price)
        for start, row in prices.items()
        for zone, price in zip(ZONES, row, strict=True)
    )


async def _wind() -> dict[str, tuple[IssuedSeries, ...]]:
    series = await SimulatedSource(SEED, clock=StillClock(day_end(LAST))).archived_forecasts(FIRST, LAST)
    return {name: tuple(issues) for name, issues in series.items() if name.startswith("wind")}


def _bands(run: Run) -> dict[int, tuple[float, float, float]]:
    """Return the hours of the run that are not published, EUR/kWh."""
    unpublished = day_end(delivery_day(run.made_at))
    percentiles = zip(run.starts(), run.p10.tolist(), run.p50.tolist(), run.p90.tolist(), strict=True)
    return {
        start: (consumer_price(p10, VAT_RATE), consumer_price(p50, VAT_RATE), consumer_price(p90, VAT_RATE))
        for start, p10, p50, p90 in percentiles
        if start >= unpublished
    }


def test_about_eight_of_ten_savings_come_between_their_p10_and_p90(savings: Sequence[Judged]) -> None:
    assert len(savings) > 1000
    assert 0.73 <= share_inside(savings) <= 0.87


def test_as_many_savings_fall_short_of_p10_as_pass_p90(savings: Sequence[Judged]) -> None:
    below = sum(one.realised < one.saving.low for one in savings) / len(savings)
    above = sum(one.realised > one.saving.high for one in savings) / len(savings)
    assert 0.04 <= below <= 0.16
    assert 0.04 <= above <= 0.16


def test_waiting_pays_about_as_often_as_was_told(savings: Sequence[Judged]) -> None:
    for held in reliability(savings):
        if held.count >= 100:
            assert held.came == pytest.approx(held.chance, abs=0.15)


def test_savings_are_as_sure_as_on_the_servers_price_paths(mornings: Mornings) -> None:
    """The integration's rule and the paths take the dependence between hours from different sources."""
    told = np.array([(one.told.low, one.told.high, one.told.chance) for one in mornings.on_paths])
    drawn = np.array([one.drawn for one in mornings.on_paths])
    # The usual percentiles of 20 draws are a tenth too close to each other; these are right on average.
    low, high = np.percentile(drawn, [10, 90], axis=1, method="median_unbiased")
    assert (told[:, 1] - told[:, 0]).mean() == pytest.approx((high - low).mean(), rel=0.15)
    chance = (drawn > 0).mean(axis=1) + (drawn == 0).mean(axis=1) / 2
    assert told[:, 2].mean() == pytest.approx(chance.mean(), abs=0.03)
    assert np.abs(told[:, 2] - chance).mean() < 0.08


def test_savings_and_averages_are_those_of_paths_that_err_as_the_served_model_does() -> None:
    """Paths of 48 hours with the correlation that was fitted: the rule's shortcuts must not lose it."""
    start = day_start(FIRST_ISSUE)
    p50 = 80 + 40 * np.sin(np.arange(48) / 24 * 2 * np.pi)
    run = Run.of(
        made_at=start - HOUR_S,
        tier="test",
        zone="ee",
        step_s=HOUR_S,
        start_ts=start,
        percentiles=np.array([p50 - 30, p50, p50 + 45]),
        inputs={},
    )
    apart = np.abs(np.subtract.outer(np.arange(48), np.arange(48)))
    factor = np.linalg.cholesky(0.45 * np.exp(-apart / 2.5) + 0.55 * np.exp(-apart / 34))
    values, rng = scenario_values(run, -np.inf, ESTONIA.limits), np.random.default_rng(1)
    ranks = [ranks_of((factor @ rng.standard_normal((48, 20))).T) for _ in range(50)]
    paths = np.concatenate([np.take_along_axis(values, one, axis=0) for one in ranks]) / 1000
    bands = zip(run.starts(), *(one.tolist() for one in (run.p10 / 1000, run.p50 / 1000, run.p90 / 1000)), strict=True)
    periods = [Period(ts, ts + HOUR_S, p50, p10, p90, settled=False) for ts, p10, p50, p90 in bands]
    low, _, high = average_percentiles(periods[:24])
    drawn = np.percentile(paths[:, :24].mean(axis=1), [10, 90])
    assert high - low == pytest.approx(drawn[1] - drawn[0], rel=0.1)
    for first, hours in ((3, 1), (17, 3), (16, 6), (40, 4)):
        piece = start + first * HOUR_S, start + (first + hours) * HOUR_S
        saving = window_saving(Timeline(HOUR_S, periods), [piece], start)
        assert saving is not None
        saved = paths[:, :hours].mean(axis=1) - paths[:, first : first + hours].mean(axis=1)
        drawn = np.percentile(saved, [10, 90])
        assert saving.high - saving.low == pytest.approx(drawn[1] - drawn[0], rel=0.1)
        assert saving.chance == pytest.approx((saved > 0).mean(), abs=0.04)

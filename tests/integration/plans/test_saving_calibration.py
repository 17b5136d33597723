"""Whether savings come as they are told: the served model on the simulated market, which wind moves."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from tests.support.clocks import StillClock
from tests.support.savings import Judged, as_came, as_issued, judged, reliability, share_inside
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.run import Run
from tunnihind.known import Archive, CovariateArchive, IssuedSeries, KnownPrice, PriceArchive
from tunnihind.market import HOUR_S, ZONES, consumer_price, day_end, day_start, delivery_day, publication_time
from tunnihind.sources.simulated import Simulated
from tunnihind.sources.simulated_market import SimulatedMarket

FIRST, LAST = date(2024, 6, 1), date(2025, 7, 10)
FIRST_ISSUE = date(2025, 1, 6)
ISSUES, DAYS_BETWEEN = 26, 7
VAT_RATE = 0.22
SEED = 1


@pytest.fixture(scope="module")
def prices() -> Mapping[int, tuple[float, ...]]:
    """Return the hours' prices of all zones, EUR/MWh."""
    starts = np.arange(day_start(FIRST), day_end(LAST), HOUR_S, dtype=np.float64)
    zones = np.stack(list(SimulatedMarket(SEED).prices(starts + HOUR_S / 2).values()))
    return {int(start): tuple(row) for start, row in zip(starts, zones.T.tolist(), strict=True)}


@pytest.fixture(scope="module")
def savings(prices: Mapping[int, tuple[float, ...]]) -> Sequence[Judged]:
    """Return every saving that plans are told at 26 mornings, a week apart, beside what came."""
    archive = Archive(_published(prices), CovariateArchive(asyncio.run(_wind())))
    truth = {start: consumer_price(row[0], VAT_RATE) for start, row in prices.items()}
    forecaster = TieredForecaster()
    found: list[Judged] = []
    for number in range(ISSUES):
        day = FIRST_ISSUE + timedelta(days=number * DAYS_BETWEEN)
        now = int(datetime(day.year, day.month, day.day, 9, tzinfo=UTC).timestamp())
        run = forecaster.forecast(archive.as_of(now))
        assert run is not None
        found += judged(as_issued(truth, _bands(run), now), as_came(truth), now)
    return found


def _published(prices: Mapping[int, tuple[float, ...]]) -> PriceArchive:
    return PriceArchive.of(
        KnownPrice(zone, start, HOUR_S, publication_time(delivery_day(start)), price)
        for start, row in prices.items()
        for zone, price in zip(ZONES, row, strict=True)
    )


async def _wind() -> dict[str, tuple[IssuedSeries, ...]]:
    series = await Simulated(SEED, clock=StillClock(day_end(LAST))).archived(FIRST, LAST)
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

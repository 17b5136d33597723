"""A made-up market whose quarters differ within the hour.

They rise and fall with the day, at some hours more steeply.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime

import numpy as np

from tests.support.markets.windy_market import archive_of
from tunnihind.core.market import DELIVERY_TZ, HOUR_S, QUARTER_S, day_end, day_start
from tunnihind.known import Archive, Floats, Instants

TURNED_HOURS = (6, 17)
"""Clock hours, in Central European time, in which the quarters run against the day's trend."""


def quarter_archive(
    first: date,
    last: date,
    *,
    noisy_day: date | None = None,
    noisy_zones: Sequence[int] = (),
    reversed_day: date | None = None,
    seed: int = 3,
) -> Archive:
    """Return the market's prices.

    On `noisy_day` the prices of some zones are noise. On `reversed_day` each hour's quarters are in reverse order.
    """
    days = (last - first).days + 1
    rng = np.random.default_rng(seed)
    start = day_start(first) - HOUR_S
    level = 80 + 25 * rng.normal(size=days + 2)
    noise = rng.normal(size=(days + 2) * 96)

    def price(ts: Instants) -> Floats:
        quarter = (ts - start) // QUARTER_S
        day = quarter // 96
        wave = 50 * np.sin((ts % 86_400) / 86_400 * 2 * np.pi * 2)
        return np.asarray(level[day] + wave + within_hour(ts) + 4 * noise[quarter])

    archive = archive_of(first, last, price, by_quarter=True)
    prices = archive.prices
    eur = prices.eur_mwh.copy()
    if noisy_day is not None:
        rows = _of_day(prices.ts, noisy_day) & np.isin(prices.zone, list(noisy_zones))
        eur[rows] = np.random.default_rng(11).uniform(-500, 4000, int(rows.sum()))
    if reversed_day is not None:
        by_start = {(z, t): e for z, t, e in zip(prices.zone.tolist(), prices.ts.tolist(), eur.tolist(), strict=True)}
        for row in np.flatnonzero(_of_day(prices.ts, reversed_day)):
            ts = int(prices.ts[row])
            eur[row] = by_start[int(prices.zone[row]), ts // HOUR_S * HOUR_S + HOUR_S - QUARTER_S - ts % HOUR_S]
    return replace(archive, prices=replace(prices, eur_mwh=eur))


def within_hour(ts: Instants) -> Floats:
    """Return the planned difference of quarters from their hour, EUR/MWh."""
    hours = np.array([datetime.fromtimestamp(int(one), DELIVERY_TZ).hour for one in ts])
    place = (ts % HOUR_S) / HOUR_S - 0.375
    return np.asarray(np.where(np.isin(hours, TURNED_HOURS), -60.0, 0.0) * place)


def _of_day(ts: Instants, day: date) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return (ts >= day_start(day)) & (ts < day_end(day))

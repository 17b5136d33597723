"""Keeps the history for forecasts in memory until stored data change, or another history is needed."""

from functools import partial
from typing import Final

from tunnihind.core.market import DAY_S
from tunnihind.forecast.known_days.vintages import superseded_forecast_mask
from tunnihind.forecast.run import Forecaster
from tunnihind.known import Archive
from tunnihind.store.store import Store

_SPARE_S: Final = 14 * DAY_S
"""The history is read from this many seconds before the first day that the forecaster needs."""
_SURPLUS_S: Final = 120 * DAY_S
"""A kept archive is used even if it begins up to this many seconds before the needed history, so that all forecasts of
past days can use one archive."""


def needed_history_start(forecaster: Forecaster, as_of: int) -> int:
    """Return the start of the history that is read for a forecast at `as_of`."""
    return as_of - forecaster.history_days * DAY_S - _SPARE_S


def _fingerprint(store: Store) -> tuple[object, ...]:
    """Return values that identify a store and the state of its prices, covariates and observations."""
    prices = store.prices.count(), store.state.prices_changed_at()
    weather = *store.covariates.change_and_row_counts(), store.state.observation_change_count()
    return store.state.instance_id(), str(store.database), *prices, *weather


class ArchiveCache:
    """Keeps the last read history in memory, because reading years of history takes longer than a forecast."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[object, ...], int, Archive] | None = None

    def read_archive(self, store: Store, forecaster: Forecaster, as_of: int) -> Archive:
        """Return the history that a forecaster needs at `as_of`, or a longer history. Raises StoreError."""
        since_ts, fingerprint = needed_history_start(forecaster, as_of), _fingerprint(store)
        if self._kept is not None:
            kept_fingerprint, kept_since_ts, archive = self._kept
            if kept_fingerprint == fingerprint and kept_since_ts <= since_ts <= kept_since_ts + _SURPLUS_S:
                return archive
        # The old archive is dropped first, because two archives would take too much memory.
        self._kept = None
        archive = store.read_archive(since_ts, superseded=partial(superseded_forecast_mask, as_of=as_of))
        self._kept = fingerprint, since_ts, archive
        return archive

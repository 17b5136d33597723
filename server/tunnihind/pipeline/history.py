"""The history that a process forecasts from, read from the store again only when there is more of it."""

from dataclasses import dataclass
from typing import Final

from tunnihind.forecast.replay.replay import HISTORY_DAYS
from tunnihind.known import Archive
from tunnihind.market import DAY_S
from tunnihind.store.store import Store

MEMORY_S: Final = (HISTORY_DAYS + 14) * DAY_S
"""How much history a forecast is given: what the model looks at, and two weeks to spare."""
_SURPLUS_S: Final = 14 * DAY_S
"""How much more than is asked for may be kept on."""


@dataclass(frozen=True, slots=True)
class _State:
    """What tells one content of a store from another: prices are added and sometimes withdrawn, covariates merged."""

    instance: str
    address: str
    prices: tuple[int, int | None]
    covariates: tuple[int, int]

    @classmethod
    def of(cls, store: Store) -> _State:
        """Look at a store. Raises StoreError."""
        prices = store.prices.count(), store.journal.prices_stored_at()
        return cls(store.journal.instance_id(), str(store.database), prices, store.covariates.changes())


class History:
    """Archives of a store, the last one kept: reading years takes longer than a forecast from them."""

    def __init__(self) -> None:
        self._kept: tuple[_State, int, Archive] | None = None

    def archive(self, store: Store, as_of: int) -> Archive:
        """Return at least all that a forecast at an instant may look at. Raises StoreError."""
        since_ts, state = as_of - MEMORY_S, _State.of(store)
        if self._kept is not None:
            kept_state, kept_since_ts, archive = self._kept
            if kept_state == state and kept_since_ts <= since_ts <= kept_since_ts + _SURPLUS_S:
                return archive
        archive = store.archive(since_ts)
        self._kept = state, since_ts, archive
        return archive

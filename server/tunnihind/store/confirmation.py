"""Whether a second source has confirmed what the first fill brought, and what becomes of it where it contradicts."""

from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import delete

from tunnihind.store.database import Database
from tunnihind.store.schema import backtest_forecasts, prices, runs
from tunnihind.store.state import Fact, StateBook

_KEY: Final = "price_doubt"


@dataclass(frozen=True, slots=True)
class Doubt:
    """Either unconfirmed prices are served, or two sources differ by a shift and none is served.

    `source` gave the prices, `other` is the source that contradicts them; since `since_ts`.
    """

    kind: Literal["unconfirmed", "disputed"]
    source: str
    since_ts: int
    other: str = ""
    how: str = ""

    def __str__(self) -> str:
        if self.kind == "unconfirmed":
            return f"the prices are unconfirmed: {self.source} gave them, and no second source has been heard yet"
        return (
            f"the prices are withdrawn until two sources agree: those of {self.other} stand {self.how} beside "
            f"those of {self.source}"
        )


class Confirmation:
    """The doubt about a store's prices, if there is any."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state

    def doubt(self) -> Doubt | None:
        """Return the doubt about the prices. Raises StoreError."""
        return _doubt(self._state.read(_KEY))

    def doubted(self, doubt: Doubt | None) -> None:
        """Replace the doubt, None when it is over. Raises StoreError."""
        if doubt != self.doubt():
            self._state.write_served(_KEY, _fact(doubt))

    def withdraw(self, doubt: Doubt, since_ts: int, at: int) -> int:
        """Delete what the doubted source gave from `since_ts` on, and the forecasts made of it; return how many prices.

        They never were the market's: as of no instant are they to be seen as if they had been known.
        Raises StoreError.
        """
        withdrawn = delete(prices).where(prices.c.source == doubt.source, prices.c.seen_ts >= since_ts)
        with self._database.writing() as connection:
            count = connection.execute(withdrawn).rowcount
            connection.execute(delete(runs).where(runs.c.made_at >= since_ts))
            connection.execute(delete(backtest_forecasts))
            self._state.put(connection, _KEY, _fact(doubt))
            self._state.stored_prices(connection, at)
        return count


def _fact(doubt: Doubt | None) -> Fact:
    if doubt is None:
        return None
    return {
        "kind": doubt.kind,
        "source": doubt.source,
        "since": doubt.since_ts,
        "other": doubt.other,
        "how": doubt.how,
    }


def _doubt(fact: Fact) -> Doubt | None:
    match fact:
        case {
            "kind": "unconfirmed" | "disputed" as kind,
            "source": str(source),
            "since": int(since_ts),
            "other": str(other),
            "how": str(how),
        }:
            return Doubt(kind, source, since_ts, other, how)
    return None

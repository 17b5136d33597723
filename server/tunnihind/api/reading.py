"""Reads from the store what the API answers from."""

from collections.abc import Iterable
from typing import Final

from tunnihind.api.view import Percentiles, View
from tunnihind.forecast.run import Run
from tunnihind.known import PriceHistory
from tunnihind.market import DAY_S, floor_hour
from tunnihind.store.store import Store

HISTORY_S: Final = 15 * DAY_S
"""A day more than the longest history that is served."""


def read_view(store: Store, now: int) -> View:
    """Return what is known at present. Raises StoreError."""
    since = floor_hour(now) - HISTORY_S
    newest = store.prices.newest("ee") or since
    prices = store.prices.archive(min(since, newest - DAY_S), zones=("ee",)).everything()
    runs = store.runs.since(since, as_of=now)
    doubt = store.confirmation.doubt()
    return View(
        version=str(store.journal.version()),
        settled=served(prices, now),
        issued=as_issued(runs),
        run=runs[0] if runs else store.runs.newest(as_of=now),
        last_refresh=store.journal.last_refresh(),
        backtest=store.runs.score(),
        accuracy=store.runs.accuracy(),
        unconfirmed=str(doubt) if doubt is not None and doubt.kind == "unconfirmed" else "",
        withdrawn=str(doubt) if doubt is not None and doubt.kind == "disputed" else "",
    )


def served(history: PriceHistory, now: int) -> dict[int, float]:
    """Return the settled hours that answers at `now` can hold.

    The newest is among them however old it is: it decides how far the forecast is public.
    """
    newest = history.newest_settled_hour()
    since = floor_hour(now) - HISTORY_S
    return {ts: price for ts, price in history.settled().items() if ts >= since or ts == newest}


def as_issued(runs: Iterable[Run]) -> dict[int, Percentiles]:
    """Return for each hour what the newest run made before that hour said, exactly as issued."""
    hours: dict[int, Percentiles] = {}
    # Newest first, and of two made in the same second the one that comes first: so the store gives them.
    for run in sorted(runs, key=lambda run: run.made_at, reverse=True):
        values = zip(run.hours(), run.p10.tolist(), run.p50.tolist(), run.p90.tolist(), strict=True)
        for ts, p10, p50, p90 in values:
            if ts > run.made_at:
                hours.setdefault(ts, Percentiles(p10, p50, p90))
    return dict(sorted(hours.items()))

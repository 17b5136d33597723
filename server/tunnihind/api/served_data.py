"""What the API answers from: settled prices, forecasts and their ages, as the store has them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import WindowScores
from tunnihind.market import DAY_S, ESTONIA, HOUR_S, floor_hour
from tunnihind.price_series import PriceSeries
from tunnihind.store.store import Store


class Percentiles(NamedTuple):
    """The forecast of one period, EUR/MWh without VAT."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class ServedData:
    """The data behind every answer, as of the moment it was read from the store.

    `settled` holds the zone's hours in full precision: 14 days back, all that is known ahead, and the newest
    known one however old. `issued` holds for each hour, past or to come, the freshest
    forecast made before that hour, exactly as issued. `run` is the newest forecast run,
    `accuracy` how the runs of the last weeks did. `unconfirmed` and `withdrawn` say in words that no second source
    has confirmed the prices, or that two contradict each other and none is served. `version` changes whenever
    any of them does.
    """

    version: str
    settled: PriceSeries = field(default_factory=lambda: PriceSeries.of(ESTONIA.zone, HOUR_S, {}))
    issued: Mapping[int, Percentiles] = field(default_factory=dict)
    run: Run | None = None
    last_refresh: int | None = None
    backtest: BacktestScore | None = None
    accuracy: tuple[WindowScores, ...] = ()
    unconfirmed: str = ""
    withdrawn: str = ""

    @property
    def newest_settled(self) -> int | None:
        """The start of the newest settled hour."""
        return self.settled.newest


HISTORY_S: Final = 15 * DAY_S
"""A day more than the longest history that is served."""


def read_served_data(store: Store, now: int) -> ServedData:
    """Read what is known now. Raises StoreError."""
    since = floor_hour(now) - HISTORY_S
    zone = ESTONIA.zone
    newest = store.prices.newest(zone) or since
    prices = store.prices.archive(min(since, newest - DAY_S), zones=(zone,)).everything()
    runs = store.runs.since(since, as_of=now)
    doubt = store.confirmation.doubt()
    return ServedData(
        version=str(store.state.version()),
        settled=served(prices.of(zone), now),
        issued=as_issued(runs),
        run=runs[0] if runs else store.runs.newest(as_of=now),
        last_refresh=store.state.last_refresh(),
        backtest=store.runs.score(),
        accuracy=store.runs.accuracy(),
        unconfirmed=str(doubt) if doubt is not None and doubt.kind == "unconfirmed" else "",
        withdrawn=str(doubt) if doubt is not None and doubt.kind == "disputed" else "",
    )


def served(prices: PriceSeries, now: int) -> PriceSeries:
    """Return the settled prices that answers at `now` can hold.

    The newest is among them however old it is: it decides how far the forecast is public.
    """
    newest, since = prices.newest, floor_hour(now) - HISTORY_S
    return prices.between(since if newest is None else min(since, newest), prices.end_ts)


def as_issued(runs: Iterable[Run]) -> dict[int, Percentiles]:
    """Return for each period what the newest run made before it said, exactly as issued."""
    periods: dict[int, Percentiles] = {}
    # Newest first, and of two made in the same second the one that comes first: so the store gives them.
    for run in sorted(runs, key=lambda run: run.made_at, reverse=True):
        values = zip(run.starts(), run.p10.tolist(), run.p50.tolist(), run.p90.tolist(), strict=True)
        for ts, p10, p50, p90 in values:
            if ts > run.made_at:
                periods.setdefault(ts, Percentiles(p10, p50, p90))
    return dict(sorted(periods.items()))

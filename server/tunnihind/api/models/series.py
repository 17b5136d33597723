"""What `/api/series` answers."""

from typing import Annotated

from msgspec import Meta, Struct

from tunnihind.api.models.fields import (
    P10,
    P50,
    P90,
    FreeUntil,
    Gated,
    HourStart,
    LastRefresh,
    MadeAt,
    Now,
    P10Consumer,
    P50Consumer,
    P90Consumer,
    SettledConsumerPrice,
    SettledPrice,
)
from tunnihind.api.models.forecast import BacktestOrNull


class SeriesActual(Struct, frozen=True, rename="camel", kw_only=True):
    """One settled hour in the dashboard series."""

    ts: HourStart
    eur_mwh: SettledPrice
    eur_kwh: SettledConsumerPrice


class SeriesForecastPoint(Struct, frozen=True, rename="camel", kw_only=True):
    """One hour of the dashboard forecast series."""

    ts: HourStart
    p10: P10
    p50: P50
    p90: P90
    p10_kwh: P10Consumer
    p50_kwh: P50Consumer
    p90_kwh: P90Consumer


class SeriesResponse(Struct, frozen=True, rename="camel", kw_only=True):
    """Price history and a continuous past-to-future forecast series, shaped for the dashboard."""

    now: Now
    last_refresh: LastRefresh = None
    made_at: MadeAt = None
    actuals: Annotated[
        list[SeriesActual],
        Meta(
            description="Hourly settled prices over the requested history window, plus settled future hours, "
            "ascending by `ts`."
        ),
    ]
    forecast: Annotated[
        list[SeriesForecastPoint],
        Meta(
            description="Continuous past-to-future forecast series, ascending by `ts`. For each past hour and the "
            "current one: the freshest forecast made before that hour. For future hours: the latest run, up to "
            "`freeUntil`."
        ),
    ]
    backtest: BacktestOrNull = None
    free_until: FreeUntil
    gated: Gated
    current: Annotated[
        SeriesActual | None, Meta(description="The current hour's settled price. Null while it isn't settled.")
    ] = None
    cheapest: Annotated[
        SeriesActual | None, Meta(description="The cheapest settled hour from the current one on, or null.")
    ] = None
    priciest: Annotated[
        SeriesActual | None, Meta(description="The priciest settled hour from the current one on, or null.")
    ] = None
    cheapest_forecast: Annotated[
        SeriesForecastPoint | None,
        Meta(description="By p50 the cheapest future hour after the newest settled one up to `freeUntil`, or null."),
    ] = None
    priciest_forecast: Annotated[
        SeriesForecastPoint | None,
        Meta(description="By p50 the priciest future hour after the newest settled one up to `freeUntil`, or null."),
    ] = None

"""Reads from the store what the pages show besides the served data: the weather and the state of the sources."""

from dataclasses import replace
from typing import Final, cast, get_args

from tunnihind.api.served_data import MAX_CLOCK_DIFFERENCE_S
from tunnihind.core.market import Market
from tunnihind.errors import SourceFault
from tunnihind.forecast.scoring.weather_scores import (
    USED_FORECASTS_WITHIN_S,
    VariableScores,
    scored_covariate_names,
    weather_scores,
)
from tunnihind.store.health import SourceHealth
from tunnihind.store.store import Store
from tunnihind.web.notices import SourceState
from tunnihind.web.summary import PageContext
from tunnihind.web.weather import (
    MAX_WEATHER_AGE_S,
    RegionWeather,
    region_sun_covariate_names,
    region_wind_covariate_names,
)

_FAULTS: Final = frozenset(get_args(SourceFault.__value__))


def context_with_weather(
    context: PageContext, store: Store, market: Market, now: int, *, is_new_hour: bool
) -> PageContext:
    """Return `context` with a market's newest weather, and with scores of the weather forecasts. Raises StoreError.

    Reading the scores takes 0.1 s, so earlier scores are kept unless `is_new_hour` is true.
    """
    context = replace(context, weather=read_region_weather(store, market, now))
    if is_new_hour or not context.weather_scores:
        context = replace(context, weather_scores=read_weather_scores(store, market, now))
    return context


def read_region_weather(store: Store, market: Market, now: int) -> RegionWeather | None:
    """Return the newest forecast of wind and sun in a market's region. Raises StoreError.

    If there is none (see `RegionWeather.of`), return None.
    """
    made_until = now + MAX_CLOCK_DIFFERENCE_S
    names = (*region_wind_covariate_names(market), *region_sun_covariate_names(market))
    return RegionWeather.of(
        store.covariates.issued_between(names, now - MAX_WEATHER_AGE_S, made_until), market, made_until
    )


def read_weather_scores(store: Store, market: Market, now: int) -> tuple[VariableScores, ...]:
    """Return the scores of the weather forecasts for a market. Raises StoreError."""
    return weather_scores(
        store.covariates.issued_between(scored_covariate_names(market), now - USED_FORECASTS_WITHIN_S, now), market, now
    )


def read_source_states(store: Store) -> tuple[SourceState, ...]:
    """Return the state of each source whose health is recorded in the store. Raises StoreError."""
    return tuple(source_state(health) for health in store.health.by_source().values())


def source_state(health: SourceHealth) -> SourceState:
    """Convert a source's health to the state that the pages show."""
    if not health.failures:
        return SourceState(health.source, health.ok_ts, None, None)
    fault = cast("SourceFault", health.fault) if health.fault in _FAULTS else "unknown"
    return SourceState(health.source, health.ok_ts, fault, health.status)

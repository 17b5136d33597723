"""Chooses the sources according to the operator's settings."""

from collections.abc import Sequence
from dataclasses import dataclass

from aiohttp import ClientSession

from tunnihind.clock import Clock
from tunnihind.settings import Settings
from tunnihind.sources.base import CovariateSource, ObservationSource, PriceSource
from tunnihind.sources.elering import EleringPrices
from tunnihind.sources.entsoe import AREA_CODES, EntsoePlatform, EntsoePrices
from tunnihind.sources.entsoe_forecasts import EntsoeForecasts
from tunnihind.sources.open_meteo import OpenMeteo
from tunnihind.sources.open_meteo_archive import OpenMeteoArchive
from tunnihind.sources.simulated import SimulatedSource


@dataclass(frozen=True, slots=True)
class Sources:
    """The price sources, the most trusted first, and the sources of covariates and observations."""

    prices: tuple[PriceSource, ...]
    covariates: tuple[CovariateSource, ...]
    observations: tuple[ObservationSource, ...] = ()


def configured_sources(
    settings: Settings,
    session: ClientSession,
    clock: Clock,
    *,
    forecast_zones: Sequence[str] = tuple(AREA_CODES),
) -> Sources:
    """Return the sources that the server uses with `settings`.

    Elering is always used. ENTSO-E is used if a token is set. Open-Meteo is used if `settings.weather` is true.
    `forecast_zones` are the zones whose forecasts are requested from ENTSO-E.
    """
    prices: list[PriceSource] = [EleringPrices(session, settings.elering_url, clock=clock)]
    covariates: list[CovariateSource] = []
    observations: list[ObservationSource] = []
    if settings.weather:
        urls = settings.open_meteo_url, settings.open_meteo_single_runs_url
        covariates.append(OpenMeteo(session, *urls, clock=clock))
        observations.append(OpenMeteoArchive(session, settings.open_meteo_archive_url, clock=clock))
    if settings.entsoe_token:
        platform = EntsoePlatform(session, settings.entsoe_url, settings.entsoe_token, clock=clock)
        prices.append(EntsoePrices(platform, settings.market.zones))
        covariates.append(EntsoeForecasts(platform, forecast_zones))
    return Sources(tuple(prices), tuple(covariates), tuple(observations))


def demo_sources(clock: Clock) -> Sources:
    """Return the simulated market as the only source of prices and covariates."""
    simulated = SimulatedSource(clock=clock)
    return Sources((simulated,), (simulated,))

"""`GET /api/v1/scenarios`: equally likely price paths over the hours of the forecast."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tunnihind.api.answers import common_fields, settled_hours
from tunnihind.api.models.price_answers import CheapestHours, DayAheadHour, ScenariosResponse
from tunnihind.api.served_data import ServedData
from tunnihind.core.cheapest_hours import cheapest_hours_by_day
from tunnihind.core.market import (
    HOUR_S,
    Market,
    consumer_price,
    floor_hour,
    free_until,
    rounded_market_price,
    vat_rate_at,
)
from tunnihind.forecast.run import SCENARIO_COUNT
from tunnihind.settings import Settings


def scenarios_response(data: ServedData, now: int, settings: Settings) -> ScenariosResponse:
    """Return the answer to `GET /api/v1/scenarios` as of `now` (unix seconds).

    If `settings.full_horizon` is false, the paths cover only the hours that `/api/v1/forecast` covers.
    """
    ts, paths = _served_paths(data, now, settings)
    vat_rates = [vat_rate_at(settings.api_vat_rates, one) for one in ts]
    day_ahead = settled_hours(data, now, settings)
    return ScenariosResponse(
        **common_fields(data, now, settings),
        probability=1 / SCENARIO_COUNT,
        day_ahead=day_ahead,
        ts=ts,
        paths=paths,
        paths_kwh=[[*map(consumer_price, path, vat_rates, strict=True)] for path in paths],
        cheapest_hours=[
            *_cheapest_hours(day_ahead, dict(zip(ts, zip(*paths, strict=True), strict=True)), now, data.market)
        ],
    )


def _cheapest_hours(
    day_ahead: Iterable[DayAheadHour], prices_on_paths: Mapping[int, Sequence[float]], now: int, market: Market
) -> Iterator[CheapestHours]:
    prices = {**prices_on_paths, **{hour.ts: (hour.eur_mwh,) for hour in day_ahead}}
    for day, found in cheapest_hours_by_day(prices, floor_hour(now) + HOUR_S, market.time_zone).items():
        p10, p50, p90 = ([*map(rounded_market_price, of_counts)] for of_counts in zip(*found, strict=True))
        yield CheapestHours(day=day.isoformat(), p10=p10, p50=p50, p90=p90)


def _served_paths(data: ServedData, now: int, settings: Settings) -> tuple[list[int], list[list[float]]]:
    """Return the starts of the served hours, and for each path the prices of these hours in EUR/MWh."""
    scenarios = data.scenarios
    if scenarios is None:
        return [], []
    limit = None if settings.full_horizon else free_until(data.newest_settled_ts, now)
    starts = range(scenarios.start_ts, scenarios.start_ts + scenarios.eur_mwh.shape[1] * HOUR_S, HOUR_S)
    served = [hour for hour, ts in enumerate(starts) if now < ts and (limit is None or ts <= limit)]
    if not served:
        return [], []
    paths = scenarios.eur_mwh[:, served].tolist()
    return [starts[hour] for hour in served], [[rounded_market_price(price) for price in path] for path in paths]

"""`status` and `openapi`: commands that only show information."""

import json as json_module
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import click

from tunnihind.api.openapi.document import openapi_document
from tunnihind.cli.options import AS_OF_OPTIONS, SERVER_OPTIONS, STORE_OPTIONS, ZONE_OPTIONS, option, with_settings
from tunnihind.core.market import DAY_S, HOUR_S, MARKETS, Market, SeriesKey, Zone
from tunnihind.errors import NothingToForecast
from tunnihind.forecast.known_days.quantities import unknown_covariate_names
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.weather_scores import VariableScores
from tunnihind.pipeline.back_fill import BackFillProgress, progress_by_source
from tunnihind.pipeline.modelling import make_runs
from tunnihind.service.page_context import read_weather_scores
from tunnihind.settings import Settings
from tunnihind.settling.witness import Witness
from tunnihind.store.health import SourceHealth
from tunnihind.store.lease import Holder
from tunnihind.store.store import Store
from tunnihind.store.witnesses import held_back_lines, unconfirmed_lines, zones_without_prices_text

_UNCONFIRMED_S: Final = 14 * DAY_S
"""Unconfirmed prices are not listed if their period began more than this many seconds ago."""


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """The state of a store, as `read_status` describes it. All instants are unix seconds UTC."""

    now: int
    zone: Zone
    database: str
    database_bytes: int | None
    prices: int
    settled_until: int | None
    last_refresh: int | None
    forecast_made_at: int | None
    forecast_until: int | None
    forecast_tier: str | None
    forecast_inputs: Mapping[str, Any] | None
    covariates: Mapping[str, int]
    history: Mapping[str, BackFillProgress]
    weather: Sequence[VariableScores]
    sources: Sequence[SourceHealth]
    held: Sequence[Witness]
    pipeline: Holder | None
    unconfirmed: Sequence[str]
    zones_without_prices: Sequence[Zone]
    damaged: Sequence[str]


def read_status(store: Store, market: Market, now: int, *, is_past: bool) -> StoreStatus:
    """Return the state of a store at `now` (unix seconds). Raises StoreError.

    The newest price, the forecast and the weather scores are those of `market`. If `is_past` is true, the newest price
    and the forecast come from the data known at `now`, and back-fill, sources, pipeline and unconfirmed prices are left
    out. The database's size, the number of prices and the tables with damaged rows are always the present ones.
    """
    prices = store.prices.read_archive(zones=(market.zone,))
    settled = (prices.as_of(now) if is_past else prices.newest_versions()).series_of(market.zone).newest_ts
    run = _run_as_of(store, market, now) if is_past else store.runs.newest(SeriesKey(market.zone, HOUR_S), now)
    return StoreStatus(
        now=now,
        zone=market.zone,
        database=str(store.database),
        database_bytes=store.database.size(),
        prices=store.prices.count(),
        settled_until=None if settled is None else settled + HOUR_S,
        last_refresh=_none_if_later(store.state.last_refresh(), now),
        forecast_made_at=None if run is None else run.made_at,
        forecast_until=None if run is None else run.end_ts,
        forecast_tier=None if run is None else run.tier,
        forecast_inputs=None if run is None else run.inputs,
        covariates=store.covariates.newest_issues(now),
        history={} if is_past else progress_by_source(store.state),
        weather=read_weather_scores(store, market, now),
        sources=() if is_past else tuple(store.health.by_source().values()),
        held=tuple(one for one in store.witnesses.held_back() if one.since_ts <= now),
        pipeline=None if is_past else store.unguarded_lease().holder(),
        unconfirmed=() if is_past else tuple(unconfirmed_lines(store.unconfirmed_days(now - _UNCONFIRMED_S))),
        zones_without_prices=()
        if is_past
        else tuple(zone for zone in store.state.served_zones() if store.prices.newest_ts(zone) is None),
        damaged=sorted(store.database.system.damaged_tables),
    )


def _run_as_of(store: Store, market: Market, instant: int) -> Run | None:
    try:
        return make_runs(store, instant, market).hours
    except NothingToForecast:
        return None


def status_lines(status: StoreStatus, *, is_past: bool = False) -> Iterator[str]:
    """Yield the lines that `status` prints. If `is_past` is true, leave out what was not stored for that time."""
    size = "" if status.database_bytes is None else f", {status.database_bytes / 1e6:.1f} MB"
    yield f"database    {status.database}{size}, {status.prices} prices"
    yield f"published   {_settled_until_text(status)}"
    if status.zones_without_prices:
        yield f"missing     {zones_without_prices_text([MARKETS[zone].code for zone in status.zones_without_prices])}"
    for line in status.unconfirmed:
        yield f"unconfirmed {line}"
    yield from _refresh_lines(status, is_past=is_past)
    yield f"forecast    {_forecast_text(status)}"
    yield f"covariates  {_covariates_text(status)}"
    for name, filled in status.history.items():
        yield f"history     {name}: {_back_fill_text(filled, status)}"
    for scores in status.weather:
        yield f"weather     {_weather_scores_text(scores)}"
    if not is_past:
        yield f"pipeline    {_pipeline_text(status)}"
    for source in status.sources:
        trouble = f", {source.failures} failures in a row: {source.error}" if source.failures else ""
        yield f"source      {source.source}: last good answer {_age_text(source.ok_ts, status.now)}{trouble}"
    for line in held_back_lines(status.held):
        yield f"held back   {line}"
    if not status.held:
        yield "held back   nothing"
    if status.damaged:
        yield f"left out    damaged rows of {', '.join(status.damaged)}: restore a backup"


def _refresh_lines(status: StoreStatus, *, is_past: bool) -> Iterator[str]:
    # Only the newest refresh is stored. It may have come after the past instant.
    if status.last_refresh is not None or not is_past:
        yield f"refreshed   {_age_text(status.last_refresh, status.now)}"


def _none_if_later(instant: int | None, now: int) -> int | None:
    return instant if instant is not None and instant <= now else None


def _local_time(status: StoreStatus, instant: int) -> str:
    return f"{MARKETS[status.zone].local_time(instant):%Y-%m-%d %H:%M}"


def _settled_until_text(status: StoreStatus) -> str:
    if status.settled_until is None:
        return "no price yet"
    return f"until {_local_time(status, status.settled_until)} {MARKETS[status.zone].adjective} time"


def _age_text(instant: int | None, now: int) -> str:
    if instant is None:
        return "never"
    minutes = max(now - instant, 0) // 60
    if minutes < 120:  # noqa: PLR2004
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 2 * DAY_S // 60 else f"{minutes * 60 // DAY_S} days ago"


def _forecast_text(status: StoreStatus) -> str:
    if status.forecast_made_at is None or status.forecast_until is None:
        return "none yet"
    made = _age_text(status.forecast_made_at, status.now)
    return f"made {made} by tier {status.forecast_tier}, until {_local_time(status, status.forecast_until)}"


def _covariates_text(status: StoreStatus) -> str:
    if not status.covariates:
        return "none"
    newest = max(status.covariates.values())
    unknown = unknown_covariate_names(status.covariates)
    unused = f"; not used by the forecast: {', '.join(unknown)}" if unknown else ""
    return f"{len(status.covariates)} series, newest issued {_age_text(newest, status.now)}{unused}"


def _back_fill_text(filled: BackFillProgress, status: StoreStatus) -> str:
    text = f"weather of {filled.done} of {filled.total} days is stored"
    if filled.lacking:
        text += f"; {filled.lacking} days are not available"
    if filled.goes_on_at > status.now:
        text += (
            f"; more days follow from {_local_time(status, filled.goes_on_at)} {MARKETS[status.zone].adjective} time on"
        )
    return text


def _weather_scores_text(scores: VariableScores) -> str:
    by_lead = ", ".join(f"{one.correlation:.2f} ({one.error:.1f})" for one in scores.by_days_ahead)
    first, last = scores.by_days_ahead[0].days_ahead, scores.by_days_ahead[-1].days_ahead
    days = max(one.days for one in scores.by_days_ahead)
    return (
        f"{scores.variable}, {first} to {last} days ahead: correlation (error, {scores.unit}) {by_lead}; "
        f"{days} days compared with the newest forecast"
    )


def _pipeline_text(status: StoreStatus) -> str:
    if status.pipeline is None:
        return "not running"
    seen = _age_text(status.pipeline.beat_ts, status.now)
    return f"process {status.pipeline.pid} on {status.pipeline.host}, last seen {seen}"


@click.command()
@with_settings(SERVER_OPTIONS, ZONE_OPTIONS)
def openapi(settings: Settings) -> None:
    """Print the OpenAPI description of the API."""
    click.echo(json_module.dumps(openapi_document(settings), indent=2, ensure_ascii=False))


@click.command()
@option("json", is_flag=True, help="Write JSON.")
@with_settings(STORE_OPTIONS, ZONE_OPTIONS, AS_OF_OPTIONS)
def status(settings: Settings, *, json: bool, as_of: int | None) -> None:
    """Show the state of prices, forecast, sources and pipeline."""
    now = int(time.time()) if as_of is None else as_of
    with Store(settings.store_url, read_only=True) as store:
        found = read_status(store, settings.market, now, is_past=as_of is not None)
    if json:
        click.echo(json_module.dumps(asdict(found), default=str, indent=2))
        return
    for line in status_lines(found, is_past=as_of is not None):
        click.echo(line)

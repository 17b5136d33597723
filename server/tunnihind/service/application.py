"""Builds the web application, with all resources and their paths."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from tunnihind import __version__
from tunnihind.api import routes
from tunnihind.api.feeds import FEED_FORMATS
from tunnihind.api.history import ArePricesConfirmed, MonthReader, ReadMonthPrices
from tunnihind.api.http.headers import Coding
from tunnihind.api.http.problems import ProblemMaker
from tunnihind.api.http.representation import Representation, representation_maker
from tunnihind.api.metrics import Metrics, ServedDataCollector
from tunnihind.api.models.service import About, Mode, ZoneAddress
from tunnihind.api.openapi.document import openapi_document
from tunnihind.api.rate_limit import rate_limit_middleware
from tunnihind.api.record_files import RECORD_FILE_PATTERN, FindRecord, RecordReader
from tunnihind.api.score_table import ReadScores, ScoreTableReader
from tunnihind.api.server import METRICS_KEY, PROBLEMS_KEY, STOPPING_KEY
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock
from tunnihind.core.market import Market, vat_rate_at
from tunnihind.settings import Settings
from tunnihind.web.assets import page_assets
from tunnihind.web.pages import (
    DashboardPage,
    Site,
    accuracy_page_maker,
    comparison_page_maker,
    dashboard_handler,
    missing_page_middleware,
    page_handler,
    reference_page_maker,
)
from tunnihind.web.summary import PageContext

SERVICE_NAME: Final = "Tunnihind"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedZone:
    """The data and functions from which the server makes the answers about one zone.

    `read_prices` reads the prices for `/api/v1/history`. `read_scores` reads the scores for the table at
    `/api/v1/accuracy?format=csv`. `find_record` finds the record with the files at `/accuracy/{file}`. Clients may
    cache the prices of a month for ever only if `are_confirmed` returns true for the month. `page_context` returns data
    that only the pages show.
    """

    snapshot: Snapshot
    read_prices: ReadMonthPrices
    read_scores: ReadScores = lambda _first, _last: ()
    find_record: FindRecord = lambda _month: None
    are_confirmed: ArePricesConfirmed = lambda *_: True
    page_context: Callable[[], PageContext] = PageContext


def create_app(
    settings: Settings,
    zones: Sequence[ServedZone],
    clock: Clock,
    *,
    instance_id: str | None,
    metrics: Metrics | None = None,
    pipeline_expected: bool = True,
    mode: Mode = "live",
    stopping: asyncio.Event | None = None,
) -> web.Application:
    """Build the application that serves `zones`. `tunnihind.api.server.Runner` must run the application.

    The first zone is served at the root path, and each further zone at a path with the zone's name. If `instance_id` is
    None, `/api/about` answers 503 (Service Unavailable). If `pipeline_expected` is true, `/readyz` and the dashboard
    report an overdue refresh of the data. `mode` says whether the server is live, a demo or a rehearsal. Once
    `stopping` is set, `/readyz` fails and each answer closes its connection.
    """
    metrics = metrics or Metrics()
    metrics.add_collectors(ServedDataCollector([zone.snapshot for zone in zones], clock))
    problems = ProblemMaker(settings.base_url)
    limits = [rate_limit_middleware(settings, clock, problems)] if settings.rate_limit else []
    root = Site.of(settings, zones[0].snapshot.market.zone)
    app = web.Application(middlewares=[*limits, missing_page_middleware(root, mode)])
    app[METRICS_KEY], app[PROBLEMS_KEY], app[STOPPING_KEY] = metrics, problems, stopping or asyncio.Event()
    handlers: dict[str, Handler] = {}
    for zone in zones:
        site = Site.of(settings, zone.snapshot.market.zone)
        path = settings.path_of(site.zone)
        if path:
            handlers[path] = routes.redirect_handler(site.zone)
        of_zone = {
            **_resource_handlers(
                zone, site, clock, pipeline_expected=pipeline_expected, mode=mode, stopping=app[STOPPING_KEY]
            ),
            **_document_handlers(settings, site, zone.snapshot, instance_id, mode, clock),
        }
        handlers |= {path + resource: handler for resource, handler in of_zone.items()}
    if settings.metrics:
        handlers["/metrics"] = routes.metrics_handler(metrics)
    for path, handler in handlers.items():
        app.router.add_get(path, handler)
        app.router.add_options(path, routes.answer_preflight)
    return app


def _resource_handlers(
    zone: ServedZone, site: Site, clock: Clock, *, pipeline_expected: bool, mode: Mode, stopping: asyncio.Event
) -> Mapping[str, Handler]:
    """Return the handlers of a zone's resources by path, except those of `_document_handlers`."""
    snapshot, settings = zone.snapshot, zone.snapshot.settings
    problems = ProblemMaker(settings.base_url)
    months = MonthReader(
        snapshot.market, zone.read_prices, zone.are_confirmed, clock, may_cache_for_ever=mode == "live"
    )
    return {
        "/api/v1/forecast": routes.query_refusing_handler(snapshot.forecast_answer, problems),
        "/api/v1/quarters": routes.quarters_handler(snapshot),
        "/api/v1/scenarios": routes.query_refusing_handler(snapshot.scenarios_answer, problems),
        "/api/series": routes.series_handler(snapshot),
        "/api/v1/accuracy": routes.accuracy_handler(
            snapshot, ScoreTableReader(snapshot.market, zone.read_scores, clock), problems
        ),
        "/api/v1/history": routes.history_handler(months, problems),
        **{
            f"/api/feeds/{feed_format}": routes.feed_handler(snapshot, problems, feed_format)
            for feed_format in FEED_FORMATS
        },
        "/healthz": routes.healthz_handler(snapshot.troubles, problems),
        "/readyz": routes.readyz_handler(
            snapshot,
            clock,
            problems,
            pipeline_expected=pipeline_expected,
            only_serves=mode == "live" and not pipeline_expected,
            stopping=stopping,
        ),
        "/": dashboard_handler(
            DashboardPage(site, snapshot, clock, zone.page_context, pipeline_expected=pipeline_expected, mode=mode),
            site.zone,
            problems,
        ),
        "/accuracy": page_handler(accuracy_page_maker(site, snapshot, zone.page_context, mode), site.zone),
        f"/accuracy/{{file:{RECORD_FILE_PATTERN}}}": routes.record_handler(
            RecordReader(zone.find_record, clock, may_cache_for_ever=mode == "live"), problems
        ),
        "/compare": page_handler(comparison_page_maker(site, clock, mode), site.zone),
        "/static/{digest}/{name}": page_assets().handle,
    }


def _document_handlers(
    server: Settings, site: Site, snapshot: Snapshot, instance_id: str | None, mode: Mode, clock: Clock
) -> Mapping[str, Handler]:
    """Return the handlers of `/api/openapi.json`, `/api/about` and `/docs`, by path."""
    document = openapi_document(site.settings)
    about = None if instance_id is None else _about_answer_maker(server, snapshot, instance_id, mode, clock)
    return {
        "/api/openapi.json": routes.query_ignoring_handler(representation_maker(msgspec.json.encode(document))),
        "/api/about": routes.refuse_before_first_read if about is None else routes.query_ignoring_handler(about),
        "/docs": page_handler(reference_page_maker(site, document, mode), site.zone),
    }


def zone_instance_id(instance_id: str, market: Market) -> str:
    """Return the id by which clients recognise a zone of this server. The id stays the same if zones are added."""
    return instance_id if market.code == "EE" else f"{instance_id}-{market.zone}"


def _about_answer_maker(
    server: Settings, snapshot: Snapshot, instance_id: str, mode: Mode, clock: Clock
) -> Callable[[Coding], Representation]:
    """Return a function that makes the answer to `/api/about`, with the present VAT rate and price scale."""
    settings = snapshot.settings
    market = settings.market
    zones = [ZoneAddress(zone=one.code, url=server.base_url + server.path_of(one.zone)) for one in server.markets]

    @lru_cache(maxsize=1)
    def made(vat_rate: float, price_scale: Sequence[float]) -> Callable[[Coding], Representation]:
        about = About(
            name=SERVICE_NAME,
            version=__version__,
            instance_id=zone_instance_id(instance_id, market),
            zone=market.code,
            zones=zones,
            vat_rate=vat_rate,
            vat_rate_is_chosen=settings.chosen_vat_rate is not None,
            attribution=settings.attribution_text,
            public_url=settings.base_url,
            full_horizon=settings.full_horizon,
            price_scale=[*price_scale],
            mode=mode,
        )
        return representation_maker(msgspec.json.encode(about))

    def of(coding: Coding) -> Representation:
        vat_rate = vat_rate_at(settings.api_vat_rates, int(clock.now()))
        return made(vat_rate, snapshot.data_or_empty.price_scale)(coding)

    return of

"""The application: what there is, and at which path."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from tunnihind import __version__
from tunnihind.api import routes
from tunnihind.api.feeds import READERS
from tunnihind.api.history import AreConfirmed, History, ReadPrices
from tunnihind.api.http.problems import Problems
from tunnihind.api.http.representation import unchanging
from tunnihind.api.metrics import Metrics
from tunnihind.api.models.service import About, Mode
from tunnihind.api.openapi.document import openapi_document
from tunnihind.api.rate_limit import limit_rate
from tunnihind.api.score_table import ReadScores, ScoreTable
from tunnihind.api.server import METRICS, PROBLEMS, STOPPING
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock
from tunnihind.settings import Settings
from tunnihind.web.assets import page_assets
from tunnihind.web.pages import DashboardPage, accuracy_page, dashboard_handler, page_handler, reference_page
from tunnihind.web.summary import Surroundings

NAME: Final = "Tunnihind"


def create_app(
    settings: Settings,
    snapshot: Snapshot,
    clock: Clock,
    *,
    instance_id: str | None,
    read_prices: ReadPrices,
    read_scores: ReadScores = lambda _first, _last: (),
    are_confirmed: AreConfirmed = lambda *_: True,
    metrics: Metrics | None = None,
    pipeline_expected: bool = True,
    mode: Mode = "live",
    surroundings: Callable[[], Surroundings] = Surroundings,
    stopping: asyncio.Event | None = None,
) -> web.Application:
    """Build the application that answers from `snapshot`.

    Without an `instance_id` there is no `/api/about` yet.

    The history is answered from what `read_prices` gives, the table of scores from what `read_scores` gives.

    Months are kept for good by whoever has them only while `are_confirmed` says so.

    Run it with `tunnihind.api.server.Runner`, which turns errors into problem answers and counts requests.
    `pipeline_expected` tells whether `/readyz` holds a missing refresh of the data against the server. `mode` is
    told by `/api/about` and marked on the pages, which show the `surroundings`, too. Once `stopping` is set, `/readyz`
    says no, and answers end their connections.
    """
    metrics = metrics or Metrics()
    metrics.watch(snapshot, clock)
    problems = Problems(settings.base_url)
    app = web.Application(middlewares=[limit_rate(settings, clock, problems)] if settings.rate_limit else [])
    app[METRICS], app[PROBLEMS], app[STOPPING] = metrics, problems, stopping or asyncio.Event()
    handlers = {
        "/api/v1/forecast": routes.without_query(snapshot.forecast, problems),
        "/api/v1/quarters": routes.quarters(snapshot),
        "/api/v1/scenarios": routes.without_query(snapshot.scenarios, problems),
        "/api/series": routes.series(snapshot),
        "/api/v1/accuracy": routes.accuracy(snapshot, ScoreTable(snapshot.market, read_scores, clock), problems),
        "/api/v1/history": routes.history(
            History(snapshot.market, read_prices, are_confirmed, clock, is_lasting=mode == "live"), problems
        ),
        **{f"/api/feeds/{reader}": routes.feed(snapshot, problems, reader) for reader in READERS},
        "/healthz": routes.healthz(snapshot.troubles, problems),
        "/readyz": routes.readyz(
            snapshot,
            clock,
            problems,
            pipeline_expected=pipeline_expected,
            only_passes_on=mode == "live" and not pipeline_expected,
            stopping=app[STOPPING],
        ),
        **_documents(settings, instance_id, mode),
        "/": dashboard_handler(
            DashboardPage(settings, snapshot, clock, surroundings, pipeline_expected=pipeline_expected, mode=mode),
            problems,
        ),
        "/accuracy": page_handler(accuracy_page(settings, snapshot, mode)),
        "/static/{digest}/{name:.+}": page_assets().handle,
    }
    if settings.metrics:
        handlers["/metrics"] = routes.exposition(metrics)
    for path, handler in handlers.items():
        app.router.add_get(path, handler)
        app.router.add_options(path, routes.preflight)
    return app


def _documents(settings: Settings, instance_id: str | None, mode: Mode) -> Mapping[str, Handler]:
    """Return the handlers of what stays the same while the server runs."""
    document = openapi_document(settings)
    about = None if instance_id is None else _about(settings, instance_id, mode)
    return {
        "/api/openapi.json": routes.ready_made(unchanging(msgspec.json.encode(document))),
        "/api/about": routes.not_yet if about is None else routes.ready_made(unchanging(msgspec.json.encode(about))),
        "/docs": page_handler(reference_page(settings, document, mode)),
    }


def _about(settings: Settings, instance_id: str, mode: Mode) -> About:
    return About(
        name=NAME,
        version=__version__,
        instance_id=instance_id,
        vat_rate=settings.vat_rate,
        attribution=settings.attribution_text,
        public_url=settings.base_url,
        full_horizon=settings.full_horizon,
        mode=mode,
    )

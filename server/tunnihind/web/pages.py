"""Serves the pages: dashboard, accuracy, comparison of contracts, API reference, and the page for unknown paths.

All pages except the comparison page can be read without JavaScript.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache
from typing import Any, Final, Self

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware
from jinja2 import Environment, PackageLoader, StrictUndefined

from tunnihind.api.http.headers import HTML_CONTENT_TYPE, Coding, coding_for_request, headers, wants_page
from tunnihind.api.http.problems import ProblemMaker
from tunnihind.api.http.representation import Representation, opaque_tag, reply, represent
from tunnihind.api.models.service import Mode
from tunnihind.api.routes import redirect
from tunnihind.api.served_data import ServedData
from tunnihind.api.snapshot import Snapshot, cache_control
from tunnihind.clock import Clock
from tunnihind.core.market import Zone
from tunnihind.core.rates import NETWORK_RATES
from tunnihind.forecast.scoring.weather_scores import VariableScores
from tunnihind.settings import Settings
from tunnihind.weather_points import REGIONS
from tunnihind.web.accuracy_page import summarise_accuracy
from tunnihind.web.assets import page_assets
from tunnihind.web.comparison_page import comparison_data, comparison_remarks
from tunnihind.web.options import DAY_RATE_CHOICES, LANGUAGES, PageOptions
from tunnihind.web.reference import RECIPE_CLIENTS, indented_json, inline_html, read_recipe, translator, unit_named_in
from tunnihind.web.summary import PageContext, summarise_dashboard
from tunnihind.web.texts import texts_in

MAX_QUEUED_PAGES: Final = 200
"""At most this many different dashboards of one zone wait to be made.

Making a page takes 15 to 40 ms. So while browsers request the dashboards of only one zone, no page waits over 8 s.
This limit is needed because an open page's script waits at most ten seconds for a new page.
"""


class PageQueue:
    """Makes pages one after another, in the order of the requests."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._queued = Counter[Hashable]()

    async def make[Page](self, key: Hashable, make: Callable[[], Page]) -> Page | None:
        """Wait for the request's turn, call `make`, and return the page. If too many pages are waiting, return None.

        Requests with the same `key` count as one, because many open pages request the same page just after the start of
        an hour.
        """
        if key not in self._queued and len(self._queued) >= MAX_QUEUED_PAGES:
            return None
        self._queued[key] += 1
        try:
            async with self._turn:
                # Let the server answer other requests before it makes the next page in the queue.
                await asyncio.sleep(0)
                return make()
        finally:
            self._queued[key] -= 1
            if not self._queued[key]:
                del self._queued[key]


_PAGE_CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)
"""The pages' Content-Security-Policy. It allows neither inline code nor the files of other sites. It lets any site show
the pages in a frame, because the small view and Home Assistant's ingress are shown in frames."""

_PAGE_VARY: Final = "Accept-Encoding, Accept-Language"
_CACHE_FIVE_MINUTES: Final = "public, max-age=300"
_MINUTE_S: Final = 60
MAX_CACHED_PAGES: Final = 100
"""Each cache of dashboards or of accuracy pages keeps at most this many pages. A dashboard has 50 to 130 kB."""

_TOO_MANY_PAGES: Final = "Too many different pages are asked for at once. Try again in ten seconds."

type PageMaker = Callable[[PageOptions, Coding], Representation]


@dataclass(frozen=True, slots=True)
class Site:
    """The settings of a zone's pages, and the relative paths to the pages of all zones."""

    settings: Settings
    paths: Mapping[Zone, str]

    @classmethod
    def of(cls, server: Settings, zone: Zone) -> Self:
        """Make the site of one zone from the settings of the whole server."""
        to_root = "../" if server.path_of(zone) else ""
        # Relative paths also work behind Home Assistant's ingress, and behind a proxy that adds a path.
        paths = {
            other: "" if other == zone else to_root + f"{server.path_of(other)}/".removeprefix("/")
            for other in server.zones
        }
        return cls(server.for_zone(zone), paths)

    @property
    def zone(self) -> Zone:
        """The zone of these pages."""
        return self.settings.market.zone


@cache
def _template_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tunnihind.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        assets=page_assets(),
        packages=tuple(NETWORK_RATES),
        languages=LANGUAGES,
        day_rate_choices=tuple(DAY_RATE_CHOICES),
    )
    return environment


def page_handler(page: PageMaker, zone: Zone) -> Handler:
    """Return a handler for a zone's page.

    Unknown parameters of the query string are ignored, because the page's script may use them.
    """

    async def handle(request: web.Request) -> web.StreamResponse:
        return reply(request, page(_page_options(request, zone), coding_for_request(request)))

    return handle


def missing_page_middleware(site: Site, mode: Mode) -> Middleware:
    """Return a middleware that answers a browser's request for an unknown path with a page.

    Another spelling of a page's path gets a redirect to the page (see `_page_path`). If the request's Accept field
    doesn't name HTML, the middleware raises HTTPNotFound again. `api/server.py` then answers with a problem document
    (RFC 9457).
    """

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPNotFound:
            # The page's links are relative to the root, so the base address must lead back to the root.
            root = "../" * (request.rel_url.raw_path.count("/") - 1) or "./"
            if (page := _page_path(request.path, site)) is not None:
                return redirect(request, root + page)
            if not wants_page(request):
                raise
            html = _render("missing.html", site, _page_options(request, site.zone), mode, root=root)
            policy = _PAGE_CSP.replace("base-uri 'none'", "base-uri 'self'")
            fields = headers(
                "no-store", content_type=HTML_CONTENT_TYPE, content_security_policy=policy, with_api_fields=False
            )
            return web.Response(status=404, body=html, headers=fields)

    return answer


def _page_path(path: str, site: Site) -> str | None:
    """Return the path, relative to the root, of the page that an unknown path means. If there is none, return None.

    The path of a page may end with a slash or with `index.html`. The first zone's pages may be asked for under its
    name, like those of the other zones.
    """
    names = [name for name in path.split("/") if name]
    if names[:1] == [site.zone]:
        del names[0]
    if names[-1:] == ["index.html"]:
        del names[-1]
    pages = [zone_path + page for zone_path in site.paths.values() for page in ("", "docs", "accuracy", "compare")]
    return next((page for page in pages if page.rstrip("/") == "/".join(names)), None)


def dashboard_handler(page: DashboardPage, zone: Zone, problems: ProblemMaker) -> Handler:
    """Return a handler for the dashboard. Pages that are not cached are made one after another, in a queue.

    If the queue has no room for a page, the answer is a problem document with status 503.
    """
    queue = PageQueue()

    async def handle(request: web.Request) -> web.StreamResponse:
        options, coding = _page_options(request, zone), coding_for_request(request)

        def make() -> Representation | None:
            # If the client has closed the connection, make no page.
            return None if request.transport is None else page(options, coding)

        ready = page.cached_page(options, coding)
        if ready is None:
            ready = await queue.make((options, coding), make)
        if ready is None:
            return problems.answer(503, _TOO_MANY_PAGES, fields={"Retry-After": "10"})
        return reply(request, ready)

    return handle


def _page_options(request: web.Request, zone: Zone) -> PageOptions:
    return PageOptions.read(request.query, request.headers.get(hdrs.ACCEPT_LANGUAGE, ""), zone)


def _shared_options(options: PageOptions) -> PageOptions:
    """Return the options that all pages use. All other options get their defaults."""
    return PageOptions(options.zone, lang=options.lang, has_chosen_lang=options.has_chosen_lang, theme=options.theme)


def _render(template: str, site: Site, options: PageOptions, mode: Mode, **data: object) -> bytes:
    page, texts = _template_environment().get_template(template), texts_in(options.lang, options.zone)
    given = {
        "t": texts,
        "names": texts.country_forms(site.zone),
        "options": options,
        "site": site,
        "settings": site.settings,
    }
    return page.render(**given, mode=mode, **data).encode()


def reference_page_maker(site: Site, document: dict[str, Any], mode: Mode) -> PageMaker:
    """Return a function that makes the page of the API reference, once for each coding and set of `_shared_options`."""
    settings = site.settings
    newest_since, rate = settings.api_vat_rates[-1]

    @cache
    def made(options: PageOptions, coding: Coding) -> Representation:
        html = _render(
            "reference.html",
            site,
            options,
            mode,
            api=document,
            say=translator(settings, options.lang),
            inline_html=inline_html,
            unit_named_in=unit_named_in,
            indented_json=indented_json,
            recipe_names=RECIPE_CLIENTS,
            recipes={file: read_recipe(file, settings.base_url, options.lang, options.zone) for file in RECIPE_CLIENTS},
            vat=texts_in(options.lang, options.zone).vat_percent(rate),
            vat_is_by_date=newest_since > 0,
        )
        return _represent_page(html, coding, _CACHE_FIVE_MINUTES)

    return lambda options, coding: made(_shared_options(options), coding)


class DashboardPage:
    """Makes the dashboard. At most `MAX_CACHED_PAGES` pages are cached, until the minute ends or the data change."""

    def __init__(
        self,
        site: Site,
        snapshot: Snapshot,
        clock: Clock,
        page_context: Callable[[], PageContext],
        *,
        pipeline_expected: bool,
        mode: Mode,
    ) -> None:
        self._site = site
        self._snapshot = snapshot
        self._clock = clock
        self._page_context = page_context
        self._pipeline_expected = pipeline_expected
        self._mode = mode
        self._made_from: tuple[ServedData, PageContext, int] | None = None
        self._pages: dict[PageOptions, bytes] = {}
        self._second = 0
        self._representations: dict[tuple[PageOptions, Coding], Representation] = {}

    def cached_page(self, options: PageOptions, coding: Coding) -> Representation | None:
        """Return the cached page, encoded in `coding`. If the page is not cached, return None.

        Raises StoreError if there are no data yet.
        """
        self._drop_old_pages(int(self._clock.now()))
        return self(options, coding) if replace(options, ahead="1") in self._pages else None

    def __call__(self, options: PageOptions, coding: Coding) -> Representation:
        """Return the page, encoded in `coding`. Raises StoreError if there are no data yet."""
        options = replace(options, ahead="1")
        now = int(self._clock.now())
        self._drop_old_pages(now)
        if (options, coding) not in self._representations:
            if len(self._representations) == MAX_CACHED_PAGES:
                del self._representations[next(iter(self._representations))]
            caching = cache_control(now, options.step_s)
            self._representations[options, coding] = _represent_page(self._page_html(options, now), coding, caching)
        return self._representations[options, coding]

    def _drop_old_pages(self, now: int) -> None:
        """Drop pages that were made in another minute or from other data.

        Also drop the HTTP answers of other seconds, because their Cache-Control field is out of date. Raises StoreError
        if there are no data yet.
        """
        data, page_context, minute = self._snapshot.data, self._page_context(), now // _MINUTE_S
        if self._made_from is None or self._made_from[0] is not data or self._made_from[1:] != (page_context, minute):
            self._made_from = data, page_context, minute
            self._pages.clear()
            self._representations.clear()
        if now != self._second:
            self._second = now
            self._representations.clear()

    def _page_html(self, options: PageOptions, now: int) -> bytes:
        if options not in self._pages:
            if len(self._pages) == MAX_CACHED_PAGES:
                del self._pages[next(iter(self._pages))]
            summary = summarise_dashboard(
                self._snapshot.data,
                now,
                self._site.settings,
                options,
                self._page_context(),
                pipeline_expected=self._pipeline_expected,
                mode=self._mode,
            )
            template = "embed.html" if options.embed == "1" else "dashboard.html"
            self._pages[options] = _render(
                template, self._site, options, self._mode, summary=summary, show=summary.display
            )
        return self._pages[options]


def accuracy_page_maker(
    site: Site, snapshot: Snapshot, page_context: Callable[[], PageContext], mode: Mode
) -> PageMaker:
    """Return a function that returns the page about the forecasts' accuracy.

    At most `MAX_CACHED_PAGES` pages are cached. A cached page is used until the data change. The returned function
    raises StoreError if there are no data yet.
    """

    @lru_cache(maxsize=MAX_CACHED_PAGES)
    def made(
        options: PageOptions, coding: Coding, weather: tuple[VariableScores, ...], _version: str, _change_id: str
    ) -> Representation:
        summary = summarise_accuracy(snapshot.data, options, texts_in(options.lang, options.zone))
        html = _render(
            "accuracy.html",
            site,
            options,
            mode,
            summary=summary,
            weather=weather,
            region=REGIONS[site.zone],
            recorded_months=snapshot.data.recorded_months,
        )
        return _represent_page(html, coding, _CACHE_FIVE_MINUTES)

    def page(options: PageOptions, coding: Coding) -> Representation:
        data = snapshot.data
        shown = replace(_shared_options(options), ahead=options.ahead)
        return made(shown, coding, page_context().weather_scores, data.version, data.change_id)

    return page


def comparison_page_maker(site: Site, clock: Clock, mode: Mode) -> PageMaker:
    """Return a function that returns the page that compares contracts.

    At most `MAX_CACHED_PAGES` pages are cached. A cached page is used until the day ends.
    """

    @lru_cache(maxsize=MAX_CACHED_PAGES)
    def made(options: PageOptions, coding: Coding, today: date) -> Representation:
        given = site.settings.market, today, texts_in(options.lang, options.zone)
        data, remarks = comparison_data(*given), comparison_remarks(*given)
        html = _render("compare.html", site, options, mode, data=data, remarks=remarks, today=today)
        return _represent_page(html, coding, _CACHE_FIVE_MINUTES)

    def page(options: PageOptions, coding: Coding) -> Representation:
        return made(_shared_options(options), coding, site.settings.market.local_time(clock.now()).date())

    return page


def _represent_page(html: bytes, coding: Coding, caching: str) -> Representation:
    return represent(
        html,
        coding,
        tag=opaque_tag(html),
        cache_control=caching,
        content_type=HTML_CONTENT_TYPE,
        content_security_policy=_PAGE_CSP,
        vary=_PAGE_VARY,
    )

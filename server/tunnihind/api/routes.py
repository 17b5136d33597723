"""The API's request handlers. `api.server` turns the errors that they raise into problem answers."""

import asyncio
import re
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler
from prometheus_client import CONTENT_TYPE_LATEST

from tunnihind.api.answers import DEFAULT_HISTORY_DAYS, MAX_HISTORY_DAYS, MIN_HISTORY_DAYS, clamped_history_days
from tunnihind.api.feeds import PERCENTILES, PRICE_KINDS, FeedFormat, FeedRequest
from tunnihind.api.health import Troubles, judge_readiness, not_ready_problem
from tunnihind.api.history import MONTH_ADVICE, MonthReader
from tunnihind.api.http.headers import JSON_CONTENT_TYPE, Coding, coding_for_request, headers, preflight_headers
from tunnihind.api.http.problems import ProblemMaker, problem_answer
from tunnihind.api.http.representation import Representation, reply
from tunnihind.api.metrics import Metrics
from tunnihind.api.models.service import Health
from tunnihind.api.parameters import (
    RESOLUTIONS,
    chosen_value,
    optional_value,
    quoted_value,
    require_known_names,
    required_value,
)
from tunnihind.api.record_files import RecordReader
from tunnihind.api.score_table import ACCURACY_FORMATS, ScoreTableReader
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock
from tunnihind.errors import NoPriceAhead, ParameterError, StoreError

MAX_STORE_READERS: Final = 2
"""At most this many months of one zone are read from the store at a time. For each zone's tables of scores, and for its
records, limits of the same size apply."""
MAX_STORE_REQUESTS: Final = 16
"""At most this many requests of each kind are read or wait for their turn. Further ones are refused."""

_DAYS: Final = re.compile(r"[0-9]{1,2}")
_ALIVE: Final = msgspec.json.encode(Health(status="ok"))


def query_refusing_handler(representations: Callable[[Coding], Representation], problems: ProblemMaker) -> Handler:
    """Return a handler for a resource that refuses query strings."""

    async def handle(request: web.Request) -> web.StreamResponse:
        # A `?` with nothing after it is accepted.
        if request.rel_url.raw_query_string:
            return problems.answer(400, "This resource takes no query string: leave out everything after the `?`.")
        return reply(request, representations(coding_for_request(request)))

    return handle


def quarters_handler(snapshot: Snapshot) -> Handler:
    """Return a handler for `GET /api/v1/quarters`. Parameters other than `days` are ignored."""

    async def handle(request: web.Request) -> web.StreamResponse:
        days = clamped_history_days(_requested_days(request, least_in_error=0, default=0), least=0)
        return reply(request, snapshot.quarters_answer(days, coding_for_request(request)))

    return handle


def series_handler(snapshot: Snapshot) -> Handler:
    """Return a handler for `GET /api/series`. Parameters other than `days` are ignored."""

    async def handle(request: web.Request) -> web.StreamResponse:
        days = clamped_history_days(
            _requested_days(request, least_in_error=MIN_HISTORY_DAYS, default=DEFAULT_HISTORY_DAYS)
        )
        return reply(request, snapshot.series_answer(days, coding_for_request(request)))

    return handle


def _requested_days(request: web.Request, *, least_in_error: int, default: int) -> int:
    """Return the requested number of days of history, or `default` if the request has no parameter `days`.

    Raises ParameterError if `days` is repeated, or isn't one or two digits. In the second case, the error's text
    names `least_in_error`.
    """
    given = optional_value(request.query, "days")
    if given is not None and not _DAYS.fullmatch(given):
        raise ParameterError(
            f"`days` is {quoted_value(given)}: give one or two digits, {least_in_error} to {MAX_HISTORY_DAYS}."
        )
    return default if given is None else int(given)


def feed_handler(snapshot: Snapshot, problems: ProblemMaker, feed_format: FeedFormat) -> Handler:
    """Return a handler for the feed of one format. Unknown parameters are refused."""

    async def handle(request: web.Request) -> web.StreamResponse:
        require_known_names(request.query, ("resolution", "price", "percentile"))
        wanted = FeedRequest(
            feed_format,
            RESOLUTIONS[chosen_value(request.query, "resolution", RESOLUTIONS)],
            chosen_value(request.query, "price", PRICE_KINDS),
            chosen_value(request.query, "percentile", PERCENTILES),
        )
        try:
            return reply(request, snapshot.feed_answer(wanted, coding_for_request(request)))
        except NoPriceAhead as error:
            return problems.answer(503, f"{error}.", fields={"Retry-After": "60"})

    return handle


class _StoreReaders:
    """Reads from the store in threads, for at most `MAX_STORE_READERS` requests at a time."""

    def __init__(self, problems: ProblemMaker, documents: str, contents: str) -> None:
        self._problems = problems
        self._documents = documents
        self._contents = contents
        self._turns = asyncio.Semaphore(MAX_STORE_READERS)
        self._requests = 0

    async def reply(self, request: web.Request, read: Callable[[Coding], Representation]) -> web.StreamResponse:
        """Answer with the result of `read`.

        If `MAX_STORE_REQUESTS` requests already read or wait, or if `read` raises StoreError, answer 503.
        """
        # A page that is left or changed leaves its requests behind: its next ones wait for these, without a refusal.
        if self._requests >= MAX_STORE_REQUESTS:
            detail = f"Too many {self._documents} are being read: try again."
            return self._problems.answer(503, detail, fields={"Retry-After": "1"})
        self._requests += 1
        try:
            async with self._turns:
                return reply(request, await asyncio.to_thread(read, coding_for_request(request)))
        except StoreError as error:
            detail = f"No {self._contents} can be read: {error.reason}."
            return self._problems.answer(503, detail, fields={"Retry-After": "5"})
        finally:
            self._requests -= 1


def history_handler(months: MonthReader, problems: ProblemMaker) -> Handler:
    """Return a handler for `GET /api/v1/history`."""
    readers = _StoreReaders(problems, "months", "prices")

    async def handle(request: web.Request) -> web.StreamResponse:
        require_known_names(request.query, ("month", "resolution"))
        month = months.parse_month(required_value(request.query, "month", MONTH_ADVICE))
        resolution = chosen_value(request.query, "resolution", RESOLUTIONS)
        return await readers.reply(request, partial(months.read_answer, month, resolution))

    return handle


def accuracy_handler(snapshot: Snapshot, scores: ScoreTableReader, problems: ProblemMaker) -> Handler:
    """Return a handler for `GET /api/v1/accuracy`. Parameters other than `format` and `year` are ignored."""
    readers = _StoreReaders(problems, "tables", "scores")

    async def handle(request: web.Request) -> web.StreamResponse:
        form = chosen_value(request.query, "format", ACCURACY_FORMATS)
        issue_days = scores.issue_day_range(optional_value(request.query, "year"))
        if form == "json":
            return reply(request, snapshot.accuracy_answer(coding_for_request(request)))
        return await readers.reply(request, partial(scores.read_answer, issue_days))

    return handle


def record_handler(records: RecordReader, problems: ProblemMaker) -> Handler:
    """Return a handler for `GET /accuracy/{file}`. A query string is ignored."""
    readers = _StoreReaders(problems, "records", "record")

    async def handle(request: web.Request) -> web.StreamResponse:
        return await readers.reply(request, partial(records.read_answer, request.match_info["file"]))

    return handle


def query_ignoring_handler(representations: Callable[[Coding], Representation]) -> Handler:
    """Return a handler for a resource without parameters. A query string is ignored."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return reply(request, representations(coding_for_request(request)))

    return handle


def redirect_handler(name: str) -> Handler:
    """Return a handler that redirects a zone's address to the same address with a final slash.

    The pages' relative addresses need this slash.
    """

    async def handle(request: web.Request) -> web.StreamResponse:
        return redirect(request, f"{name}/")

    return handle


def redirect(request: web.Request, path: str) -> web.Response:
    """Answer with a permanent redirect to a path relative to the request's path. The query string stays."""
    # A relative address also works behind a proxy that adds a path.
    query = f"?{request.rel_url.raw_query_string}" if request.rel_url.raw_query_string else ""
    fields = headers("no-store", with_api_fields=False)
    fields["Location"] = path + query
    return web.Response(status=308, headers=fields)


async def refuse_before_first_read(_request: web.Request) -> web.Response:
    """Raise StoreError, because the database has not been read yet."""
    raise StoreError("nothing has been read from the store yet")


async def answer_preflight(_request: web.Request) -> web.Response:
    """Answer OPTIONS. Web pages of any origin may read all resources."""
    return web.Response(status=204, headers=preflight_headers())


def healthz_handler(troubles: Troubles, problems: ProblemMaker) -> Handler:
    """Return a handler for `GET /healthz`. If the server must be restarted, the answer is 503."""

    async def handle(_request: web.Request) -> web.Response:
        if troubles.stuck:
            return problems.answer(503, f"The server must be restarted: {troubles.stuck}.")
        return web.Response(body=_ALIVE, headers=headers("no-store", content_type=JSON_CONTENT_TYPE))

    return handle


def readyz_handler(
    snapshot: Snapshot,
    clock: Clock,
    problems: ProblemMaker,
    *,
    pipeline_expected: bool,
    only_serves: bool,
    stopping: asyncio.Event,
) -> Handler:
    """Return a handler for `GET /readyz`. If the server isn't ready, the answer is 503."""

    async def handle(_request: web.Request) -> web.Response:
        readiness = judge_readiness(
            snapshot.data_or_empty,
            int(clock.now()),
            pipeline_expected=pipeline_expected,
            troubles=snapshot.troubles,
            warnings=snapshot.troubles.warnings.values(),
            only_serves=only_serves or snapshot.troubles.another_keeps_data_fresh,
            is_stopping=stopping.is_set(),
        )
        if not readiness.ready:
            return problem_answer(not_ready_problem(readiness, problems))
        body = msgspec.json.encode(readiness)
        return web.Response(body=body, headers=headers("no-store", content_type=JSON_CONTENT_TYPE))

    return handle


def metrics_handler(metrics: Metrics) -> Handler:
    """Return a handler for `GET /metrics`."""

    async def handle(_request: web.Request) -> web.Response:
        return web.Response(
            body=metrics.prometheus_text(), headers=headers("no-store", content_type=CONTENT_TYPE_LATEST)
        )

    return handle

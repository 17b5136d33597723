"""Checks each configured source with small requests.

The check uses the same clients as the pipeline, but no database.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from http import HTTPStatus
from time import perf_counter
from typing import Final, override

from tunnihind.clock import Clock, SystemClock
from tunnihind.core.market import (
    HOUR_S,
    Market,
    delivery_day,
    market_time_unit,
)
from tunnihind.errors import RateLimited, SourceError, SourceRefused, SourceUnreachable
from tunnihind.known import IssuedSeries, ObservedSeries
from tunnihind.settings import Settings
from tunnihind.settling.sheet import HeldReason, checked_prices, reason_to_doubt
from tunnihind.sources.base import CovariateSource, DaySheet, ObservationSource, PriceSource
from tunnihind.sources.configured import configured_sources
from tunnihind.sources.open_meteo import OpenMeteo
from tunnihind.sources.upstream import RecordedAnswer, answer_recorder, open_session

_HISTORY_DAYS_AGO: Final = 7


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of checking a source's prices, forecasts or history.

    `reach` says in words when the answer's data end. `faults` lists what is wrong with the answer. If there is no
    usable answer, `reach` is empty, and `faults` says why. `has_answered` is false if the source can't be reached,
    limits requests, or answers with a server error.
    """

    subject: str
    seconds: float
    reach: str
    faults: tuple[str, ...]
    has_answered: bool = True


class _UnpacedClock(SystemClock):
    """A clock that never waits, because the few requests of a check need no pauses between them."""

    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


async def check_sources(
    settings: Settings, record: Callable[[RecordedAnswer], None] | None = None, *, clock: Clock | None = None
) -> list[CheckResult]:
    """Check all sources in parallel, and return the results. `record` is called with each answer of a source."""
    clock = clock or _UnpacedClock()
    now = int(clock.now())
    async with open_session(settings.contact) as session:
        market = settings.market
        sources = configured_sources(settings, session, clock, forecast_zones=settings.zones)
        questions = [_check_prices(source, now, settings.markets) for source in sources.prices]
        for source in sources.covariates:
            questions += [_check_forecast(source, now, market), _check_history(source, now, market)]
        questions += [_check_observations(source, now, market) for source in sources.observations]
        with answer_recorder.set(record):
            return await asyncio.gather(*questions)


async def _check_prices(source: PriceSource, now: int, markets: Sequence[Market]) -> CheckResult:
    market, today = markets[0], delivery_day(now)
    tomorrow = today + timedelta(days=1)

    def examine(sheets: Sequence[DaySheet]) -> tuple[str, tuple[str, ...]]:
        days = [today, tomorrow] if now >= market.prices_late_from(tomorrow) else [today]
        faults = [fault for day in days for fault in _price_faults(sheets, day, market)]
        return "; ".join(_price_reach(sheets, markets)), tuple(faults)

    return await _check_answer(source.name, partial(source.fetch_sheets, today, tomorrow), examine)


def _price_reach(sheets: Sequence[DaySheet], markets: Sequence[Market]) -> Iterator[str]:
    """Yield texts that say on which day the zones' prices end.

    Zones whose prices end on the same day share a text. Zones without prices share a text that says so.
    """
    newest = {market: max((one.day for one in sheets if one.zone == market.zone), default=None) for market in markets}
    for last in dict.fromkeys(newest.values()):
        codes = ", ".join(market.code for market, day in newest.items() if day == last)
        yield f"prices of {codes} until the end of {last} (Brussels time)" if last else f"no prices of {codes}"


def _price_faults(sheets: Sequence[DaySheet], day: date, market: Market) -> Iterator[str]:
    """Yield the faults in a published delivery day's prices."""
    by_zone = {sheet.zone: sheet for sheet in sheets if sheet.day == day}
    if missing := [zone.upper() for zone in market.zones if zone not in by_zone]:
        yield f"there are no prices of {', '.join(missing)} for {day}"
    for zone, sheet in by_zone.items():
        prices = checked_prices(sheet, market.limits)
        held = prices if isinstance(prices, HeldReason) else reason_to_doubt(prices)
        if held is not None:
            yield f"the prices of {zone.upper()} for {day} would be held back: {held.detail}"
        elif sheet.step_s != market_time_unit(day):
            minutes, expected = sheet.step_s // 60, market_time_unit(day) // 60
            yield f"the prices of {zone.upper()} for {day} are for {minutes} minutes each, not for {expected}"


async def _check_forecast(source: CovariateSource, now: int, market: Market) -> CheckResult:
    def examine(series: Mapping[str, IssuedSeries]) -> tuple[str, tuple[str, ...]]:
        reach, faults = _reach_and_faults(list(series.values()), market, least_until=now)
        missing = sorted(set(source.covariate_names) - series.keys())
        # Other sources may have forecasts without a weather run.
        uses_fallback = isinstance(source, OpenMeteo) and all(one.run_ts is None for one in series.values())
        return reach, (
            *faults,
            *([f"there are no values of {', '.join(missing)}"] if missing else []),
            *(["the Single Runs API gave no run; the forecast API is used instead"] if uses_fallback else []),
        )

    return await _check_answer(f"{source.name} (forecast)", partial(source.newest_forecasts, now), examine)


async def _check_history(source: CovariateSource, now: int, market: Market) -> CheckResult:
    day = datetime.fromtimestamp(now, UTC).date() - timedelta(days=_HISTORY_DAYS_AGO)

    def examine(series: Mapping[str, Sequence[IssuedSeries]]) -> tuple[str, tuple[str, ...]]:
        return _reach_and_faults([one for some in series.values() for one in some], market, least_until=0)

    return await _check_answer(f"{source.name} (history)", partial(source.archived_forecasts, day, day), examine)


async def _check_observations(source: ObservationSource, now: int, market: Market) -> CheckResult:
    day = datetime.fromtimestamp(now, UTC).date() - timedelta(days=_HISTORY_DAYS_AGO)

    def examine(series: Mapping[str, ObservedSeries]) -> tuple[str, tuple[str, ...]]:
        return _reach_and_faults(list(series.values()), market, least_until=0)

    return await _check_answer(source.name, partial(source.observations, day, day), examine)


def _reach_and_faults(
    series: Sequence[IssuedSeries | ObservedSeries], market: Market, *, least_until: int
) -> tuple[str, tuple[str, ...]]:
    """Return the `reach` and the `faults` of a `CheckResult`.

    If no value is known, or if no known value lasts beyond `least_until` (unix seconds), there is one fault.
    """
    ends = [_last_value_end(one) for one in series]
    until = max((end for end in ends if end is not None), default=None)
    if until is None:
        return "no values", ("the answer has no known value",)
    reach = f"{len(series)} series until {market.local_time(until):%Y-%m-%d %H:%M %Z}"
    return reach, () if until > least_until else ("the values end before now",)


def _last_value_end(series: IssuedSeries | ObservedSeries) -> int | None:
    known = [place for place, value in enumerate(series.values) if not math.isnan(value)]
    return series.start_ts + (known[-1] + 1) * HOUR_S if known else None


async def _check_answer[Content](
    question: str,
    ask: Callable[[], Awaitable[Content]],
    examine: Callable[[Content], tuple[str, tuple[str, ...]]],
) -> CheckResult:
    started = perf_counter()
    try:
        content = await ask()
    except SourceError as error:
        return CheckResult(question, perf_counter() - started, "", (error.problem,), _has_answered(error))
    seconds = perf_counter() - started
    return CheckResult(question, seconds, *examine(content))


def _has_answered(error: SourceError) -> bool:
    if isinstance(error, SourceRefused):
        return not isinstance(error, RateLimited) and error.status < HTTPStatus.INTERNAL_SERVER_ERROR
    return not isinstance(error, SourceUnreachable)

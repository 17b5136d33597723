"""Makes a page's notices, explains why a page has no prices, and describes the state of each source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from tunnihind.api.health import judge_readiness, lacks_tomorrows_prices, publication_is_late
from tunnihind.api.models.service import Mode
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import DAY_S, FORECAST_STALE_AFTER_S, HOUR_S, day_end, day_start, floor_hour
from tunnihind.errors import SourceFault
from tunnihind.settings import COMMAND
from tunnihind.web.display import Display
from tunnihind.web.texts import Texts

type ShownFault = SourceFault | Literal["unknown"]
"""The kind of a source's fault.

The kind is "unknown" if another version of the server stored a kind that this version doesn't have.
"""

_PRICE_SOURCES: Final = frozenset({"elering", "entsoe", "simulated"})
_NAMED_SOURCES: Final = _PRICE_SOURCES | {"entsoe-forecasts", "open-meteo", "open-meteo-archive"}

_UNASKED_AFTER_S: Final = 12 * HOUR_S
"""A source without a fault counts as no longer asked if its last answer is older than this many seconds.

The server requests weather forecasts about every six hours, and other data more often.
"""
_ASKED_DAILY: Final = frozenset({"open-meteo-archive"})
"""These sources count as no longer asked `DAY_S` later than others."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """The time of a source's last usable answer, and the failure of the newest request.

    `answered_ts` is in unix seconds, or None before the first usable answer. If the newest request has failed,
    `fault` is the kind of failure. If the newest request has failed with an HTTP error, `status` is the HTTP status.

    The error's text is not public, because the text may name the operator's machines.
    """

    name: str
    answered_ts: int | None
    fault: ShownFault | None
    status: int | None


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice on a page. `brief` is a short form of `text` for phones and the small view."""

    text: str
    brief: str
    is_warning: bool


def mode_notices(mode: Mode, now: int, display: Display) -> Iterator[Notice]:
    """Yield a notice if the prices are simulated or from a past day.

    The small view gets no such notice, because a word in its footer says the same.
    """
    if mode != "live" and display.options.embed == "0":
        yield _notice(mode, display, day=display.texts.full_date(display.local_day(now)))


def unknown_parameter_notices(display: Display) -> Iterator[Notice]:
    """If parameters of the page's address have unknown values, yield a notice that names these parameters."""
    if names := ", ".join(display.options.unknown_parameters):
        yield _notice("address", display, names=names)


def data_notices(
    data: ServedData, now: int, display: Display, *, price_is_shown: bool, pipeline_expected: bool
) -> Iterator[Notice]:
    """Yield notices of missing, doubtful or old data as of `now` (unix seconds).

    Data count as old at the same age as in `/readyz`. If `pipeline_expected` is false, no notice says that the last
    refresh was long ago.
    """
    readiness = judge_readiness(data, now, pipeline_expected=pipeline_expected)
    doubts = list(_doubtful_days(data, now))
    if floor_hour(now) not in data.hours.settled:
        # A page without a present price needs no such notice, because the page already says that the price isn't known.
        if price_is_shown:
            yield _notice("unsettled", display)
    elif not doubts and lacks_tomorrows_prices(data, now) and publication_is_late(data.market, now):
        yield _notice("late", display)
    for day, doubt in doubts:
        yield _notice(doubt, display, day=display.texts.short_date(day))
    if readiness.forecast_age_s is None:
        yield _notice("noForecast", display, is_warning=False)
    elif readiness.forecast_age_s > FORECAST_STALE_AFTER_S:
        yield _notice("oldForecast", display, age=_age_text(readiness.forecast_age_s, display.texts))
    if pipeline_expected and (readiness.refresh_age_s or 0) > FORECAST_STALE_AFTER_S:
        yield _notice("oldData", display, age=_age_text(readiness.refresh_age_s or 0, display.texts))


def _age_text(seconds: int, texts: Texts) -> str:
    """Write an age in hours, or in days if the age is at least two days."""
    unit, n = _age_in_units(seconds)
    return texts(f"age.{unit}", n=n)


def _age_in_units(seconds: int) -> tuple[str, int]:
    return ("hours", seconds // HOUR_S) if seconds < 2 * DAY_S else ("days", seconds // DAY_S)


def _doubtful_days(data: ServedData, now: int) -> Iterator[tuple[date, str]]:
    """Yield the delivery days with doubtful prices, each with the name of its notice. Past days are left out.

    An incomplete answer doesn't make prices doubtful, because the missing prices may still come.
    """
    held = [one for one in data.held if one.zone == data.market.zone and one.reason != "incomplete"]
    for day in sorted({one.day for one in held if day_end(one.day) > now}):
        differ = any(one.day == day and one.reason == "disagreement" for one in held)
        if day_start(day) not in data.hours.settled:
            yield day, "disputed" if differ else "held"
        elif differ and (data.market.zone, day) in data.unconfirmed:
            yield day, "contested"


def freshness_lines(data: ServedData, now: int, display: Display) -> Iterator[str]:
    """Write until when prices are settled, when the forecast was made, and when the data were last refreshed."""
    texts = display.texts
    if data.newest_settled_ts is not None:
        yield texts("fresh.settled", moment=display.moment_text(data.newest_settled_ts + HOUR_S, now))
    if data.made_at is not None:
        yield texts("fresh.forecast", moment=display.moment_text(data.made_at, now))
    if data.last_refresh is not None:
        yield texts("fresh.checked", moment=display.moment_text(data.last_refresh, now))


def _notice(name: str, display: Display, *, is_warning: bool = True, **gaps: str | int) -> Notice:
    texts = display.texts
    return Notice(texts(f"notice.{name}", **gaps), texts(f"notice.{name}.brief", **gaps), is_warning)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A source's name, and a text about its last usable answer and about its fault, if it has one."""

    name: str
    state: str
    is_failing: bool


@dataclass(frozen=True, slots=True)
class NoPricesExplanation:
    """The reason why a page has no prices, and advice for the operator."""

    title: str
    reason: str
    advice: tuple[str, ...]


def source_lines(sources: Sequence[SourceState], now: int, display: Display) -> tuple[SourceLine, ...]:
    """Return a line for each source. `now` is in unix seconds."""
    return tuple(_source_line(source, now, display) for source in sources)


def no_prices_explanation(
    data: ServedData, sources: Sequence[SourceState], now: int, display: Display, *, pipeline_expected: bool, mode: Mode
) -> NoPricesExplanation:
    """Explain why the server has no prices to show. `now` is in unix seconds."""
    zone, texts, newest = data.market.zone, display.texts, data.newest_settled_ts
    title, until = texts("empty"), ""
    if newest is not None:
        unit, n = _age_in_units(now - newest - HOUR_S)
        title = texts(f"empty.old.{unit}", n=n)
        until = texts("fresh.settled", moment=display.moment_text(newest + HOUR_S, now)) + ". "
    of_prices = [source for source in sources if source.name in _PRICE_SOURCES]
    faults = [source.fault for source in of_prices if source.fault]
    if of_prices and len(faults) == len(of_prices):
        advice = tuple(texts(f"empty.do.{fault}") for fault in dict.fromkeys(faults))
        return NoPricesExplanation(title, until + texts("empty.failing"), advice)
    if mode == "rehearsal":
        why = "rehearsal"
    elif of_prices:
        why = "held"
    else:
        why = "starting" if pipeline_expected else "passing"
    return NoPricesExplanation(
        title,
        until + texts(f"empty.{why}", **texts.country_forms(zone)),
        (texts(f"empty.do.{why}", zone=zone, command=COMMAND),),
    )


def _source_line(source: SourceState, now: int, display: Display) -> SourceLine:
    texts = display.texts
    name = texts(f"source.{source.name}") if source.name in _NAMED_SOURCES else source.name
    moment = None if source.answered_ts is None else display.moment_text(source.answered_ts, now)
    if source.fault is None:
        unasked_after_s = _UNASKED_AFTER_S + (DAY_S if source.name in _ASKED_DAILY else 0)
        is_asked = now - (source.answered_ts or 0) <= unasked_after_s
        return SourceLine(
            name, texts("source.ok" if is_asked else "source.old", moment=moment), is_failing=not is_asked
        )
    fault = texts(f"source.{source.fault}", status=source.status)
    state = texts("source.never" if moment is None else "source.failing", fault=fault, moment=moment)
    return SourceLine(name, state, is_failing=True)

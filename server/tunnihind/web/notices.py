"""What the reader has to know of the data before trusting it: what is missing, old or not real, and how fresh it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from tunnihind.api.health import STALE_AFTER_S, awaits_tomorrow, is_late, judge
from tunnihind.api.models.service import Mode
from tunnihind.api.served_data import ServedData
from tunnihind.market import ESTONIA, HOUR_S, day_end, day_start, floor_hour
from tunnihind.web.display import Display


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the reader has to know of the data: in a sentence, and in a few words where there is no room."""

    text: str
    brief: str
    is_warning: bool


def of_mode(mode: Mode, now: int, display: Display) -> Iterator[Notice]:
    """Say that what is shown is not today's market; the small view has room for one word of it only."""
    if display.options.embed == "1":
        return
    if mode == "demo":
        yield _notice("demo", display)
    elif mode == "rehearsal":
        day = display.texts.full_date(display.day(now))
        yield _notice("rehearsal", display, day=day)


def of_data(
    data: ServedData, now: int, display: Display, *, price_is_shown: bool, pipeline_expected: bool
) -> Iterator[Notice]:
    """Say plainly what is missing or old as of `now`, unix seconds, by the same measure as `/readyz`."""
    readiness = judge(data, now, pipeline_expected=pipeline_expected)
    doubts = list(_doubts(data, now))
    if floor_hour(now) not in data.hours.settled:
        # Where nothing is shown instead, the place of the price says that it isn't known.
        if price_is_shown:
            yield _notice("unsettled", display)
    elif not doubts and awaits_tomorrow(data, now) and is_late(data.market, now):
        yield _notice("late", display)
    for day, doubt in doubts:
        yield _notice(doubt, display, day=display.texts.short_date(day))
    if readiness.forecast_age_s is None:
        yield _notice("noForecast", display, is_warning=False)
    elif readiness.forecast_age_s > STALE_AFTER_S:
        yield _notice("oldForecast", display, n=readiness.forecast_age_s // HOUR_S)
    if pipeline_expected and (readiness.refresh_age_s or 0) > STALE_AFTER_S:
        yield _notice("oldData", display, n=(readiness.refresh_age_s or 0) // HOUR_S)


def _doubts(data: ServedData, now: int) -> Iterator[tuple[date, str]]:
    """Yield the delivery days, not yet over, of which sources say what is not believed, and the notice of it.

    Half a day is none: the rest of it is awaited.
    """
    held = [one for one in data.held if one.zone == ESTONIA.zone and one.reason != "incomplete"]
    for day in sorted({one.day for one in held if day_end(one.day) > now}):
        differ = any(one.day == day and one.reason == "disagreement" for one in held)
        if day_start(day) not in data.hours.settled:
            yield day, "disputed" if differ else "held"
        elif differ and (ESTONIA.zone, day) in data.unconfirmed:
            yield day, "contested"


def freshness(data: ServedData, display: Display) -> Iterator[str]:
    """Say until when prices are known, when the forecast was made and when the sources were last asked."""
    texts = display.texts
    if data.newest_settled is not None:
        yield texts("fresh.settled", moment=display.moment(data.newest_settled + HOUR_S))
    if data.made_at is not None:
        yield texts("fresh.forecast", moment=display.moment(data.made_at))
    if data.last_refresh is not None:
        yield texts("fresh.checked", moment=display.moment(data.last_refresh))


def _notice(name: str, display: Display, *, is_warning: bool = True, **gaps: str | int) -> Notice:
    texts = display.texts
    return Notice(texts(f"notice.{name}", **gaps), texts(f"notice.{name}.brief", **gaps), is_warning)

"""What the dashboard says in words and figures, worked out from the served data: pure, in the reader's time zone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from tunnihind.api.answers import DEFAULT_DAYS, accuracy_response, series_response
from tunnihind.api.health import STALE_AFTER_S, judge
from tunnihind.api.models import AccuracyWindow, Mode, SeriesResponse
from tunnihind.api.served_data import ServedData
from tunnihind.forecast.known_days.calendar import is_holiday
from tunnihind.market import ESTONIA, HOUR_S, delivery_day, floor_hour, late_from
from tunnihind.settings import Settings
from tunnihind.web.display import Display
from tunnihind.web.drawing import Drawing, draw
from tunnihind.web.grid import GridRow, grid
from tunnihind.web.hours import Level, PricedHour, by_day, levels, priced_hours
from tunnihind.web.options import PageOptions

_HOLIDAYS_BACK: Final = 60
_HOLIDAYS_AHEAD: Final = 60
"""Days around now whose public holidays a page knows."""

type DayState = Literal["settled", "partly", "forecast", "none"]


@dataclass(frozen=True, slots=True)
class DaySummary:
    """One day of the reader's calendar: its hours, the cheapest and the dearest of them."""

    name: Literal["today", "tomorrow"]
    day: date
    hours: tuple[PricedHour, ...]

    @property
    def state(self) -> DayState:
        """What its prices are."""
        settled = sum(hour.settled is not None for hour in self.hours)
        if not self.hours:
            return "none"
        if not settled:
            return "forecast"
        return "settled" if settled == len(self.hours) else "partly"

    @property
    def cheapest(self) -> PricedHour:
        """The first of its cheapest hours."""
        return min(self.hours, key=lambda hour: hour.eur_mwh)

    @property
    def dearest(self) -> PricedHour:
        """The first of its dearest hours."""
        return max(self.hours, key=lambda hour: hour.eur_mwh)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the reader has to know of the data."""

    text: str
    is_warning: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything on the dashboard that the server works out; it is empty when nothing at all is known."""

    display: Display
    is_empty: bool
    current_hour: int
    current: PricedHour | None
    following: PricedHour | None
    days: tuple[DaySummary, ...]
    tomorrow_is_due: bool
    levels: Mapping[int, Level]
    holidays: tuple[str, ...]
    notices: tuple[Notice, ...]
    freshness: tuple[str, ...]
    grid: tuple[GridRow, ...]
    table: tuple[tuple[date, tuple[PricedHour, ...]], ...]
    score: AccuracyWindow | None
    drawing: Drawing | None


def summarise(
    data: ServedData,
    now: int,
    settings: Settings,
    options: PageOptions,
    *,
    pipeline_expected: bool = True,
    mode: Mode = "live",
) -> Summary:
    """Work out the dashboard as of `now`, unix seconds."""
    display = Display(options)
    series = series_response(data, now, settings, DEFAULT_DAYS)
    hours = priced_hours(series)
    current_hour = floor_hour(now)
    days = by_day(hours, {ts: display.day(ts) for ts in hours})
    today = display.day(now)
    tomorrow = today + timedelta(days=1)
    return Summary(
        display=display,
        is_empty=not hours,
        current_hour=current_hour,
        current=hours.get(current_hour),
        following=hours.get(current_hour + HOUR_S),
        days=(
            DaySummary("today", today, tuple(days.get(today, ()))),
            DaySummary("tomorrow", tomorrow, tuple(days.get(tomorrow, ()))),
        ),
        tomorrow_is_due=_awaits_tomorrow(data, now) and not _is_late(now),
        levels={ts: level for same_day in days.values() for ts, level in levels(same_day).items()},
        holidays=tuple(_holidays(now)),
        notices=(
            *_unreal(now, display, mode),
            *_notices(data, now, display, pipeline_expected=pipeline_expected),
        ),
        freshness=tuple(_freshness(series, display)),
        grid=grid(days, today, display),
        table=tuple((day, tuple(of_day)) for day, of_day in days.items() if day >= today),
        score=_score(data, now, options),
        drawing=draw(list(hours.values()), series.free_until, now, display),
    )


def _unreal(now: int, display: Display, mode: Mode) -> Iterator[Notice]:
    """Say that what is shown is not today's market; the small view has room for one word of it only."""
    if display.options.embed == "1":
        return
    if mode == "demo":
        yield Notice(display.texts("notice.demo"), is_warning=True)
    elif mode == "rehearsal":
        day = display.texts.full_date(display.day(now))
        yield Notice(display.texts("notice.rehearsal", day=day), is_warning=True)


def _notices(data: ServedData, now: int, display: Display, *, pipeline_expected: bool) -> Iterator[Notice]:
    """Say plainly what is missing or old, by the same measure as `/readyz`."""
    texts = display.texts
    readiness = judge(data, now, pipeline_expected=pipeline_expected)
    if readiness.settled_age_s is None and readiness.forecast_age_s is None:
        yield Notice(texts("notice.empty"), is_warning=False)
        return
    if floor_hour(now) not in data.settled:
        yield Notice(texts("notice.unsettled"), is_warning=True)
    elif _awaits_tomorrow(data, now) and _is_late(now):
        yield Notice(texts("notice.late"), is_warning=True)
    if readiness.forecast_age_s is None:
        yield Notice(texts("notice.noForecast"), is_warning=False)
    elif readiness.forecast_age_s > STALE_AFTER_S:
        yield Notice(texts("notice.oldForecast", n=readiness.forecast_age_s // HOUR_S), is_warning=True)
    if pipeline_expected and (readiness.refresh_age_s or 0) > STALE_AFTER_S:
        yield Notice(texts("notice.oldData", n=(readiness.refresh_age_s or 0) // HOUR_S), is_warning=True)


def _holidays(now: int) -> Iterator[str]:
    """Yield Estonia's public holidays around now as ISO dates, also those to come while a page stays open."""
    today = _local(now).date()
    for day in (today + timedelta(days=n) for n in range(-_HOLIDAYS_BACK, _HOLIDAYS_AHEAD)):
        if is_holiday(day, ESTONIA.country):
            yield day.isoformat()


def _awaits_tomorrow(data: ServedData, now: int) -> bool:
    """Tell whether the delivery day after today's is still to be published."""
    newest = data.newest_settled
    return newest is not None and delivery_day(newest) <= _local(now).date()


def _is_late(now: int) -> bool:
    return now >= late_from(_local(now).date() + timedelta(days=1))


def _local(now: int) -> datetime:
    return datetime.fromtimestamp(now, ESTONIA.clock)


def _freshness(series: SeriesResponse, display: Display) -> Iterator[str]:
    texts = display.texts
    if series.actuals:
        yield texts("fresh.settled", moment=display.moment(series.actuals[-1].ts + HOUR_S))
    if series.made_at is not None:
        yield texts("fresh.forecast", moment=display.moment(series.made_at))
    if series.last_refresh is not None:
        yield texts("fresh.checked", moment=display.moment(series.last_refresh))


def _score(data: ServedData, now: int, options: PageOptions) -> AccuracyWindow | None:
    """Choose the window that the reader wants, or else the longest there is."""
    windows: Sequence[AccuracyWindow] = [w for w in accuracy_response(data, now).windows if w.overall.n]
    wanted = [window for window in windows if window.days == int(options.score)]
    return (wanted or [*windows])[-1] if windows else None

"""Judges whether the server is ready, and whether tomorrow's prices are late."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from msgspec.structs import asdict

from tunnihind.api.http.problems import ProblemMaker
from tunnihind.api.models.service import NotReady, Readiness
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import FORECAST_STALE_AFTER_S, HOUR_S, Market, delivery_day, floor_hour
from tunnihind.store.witnesses import held_back_lines, unconfirmed_lines


class Troubles:
    """The server's problems, such as a full disk. Each component has at most one problem at a time.

    Old data are not reported here: `judge_readiness` notices old data by itself.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}
        self.warnings: dict[str, str] = {}
        """Warnings for the operator, by topic."""
        self.another_keeps_data_fresh = False
        """True while another server keeps the data fresh. That other server then reports old data and failed writes."""
        self.stuck: str | None = None
        """The reason why the server must be restarted, such as a pipeline without progress. None if no restart is
        needed."""

    def report(self, component: str, reason: str | None) -> None:
        """Set a component's problem, or remove it if `reason` is None."""
        if reason is None:
            self._reasons.pop(component, None)
        else:
            self._reasons[component] = reason

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._reasons.values()))


def judge_readiness(
    data: ServedData,
    now: int,
    *,
    pipeline_expected: bool,
    troubles: Iterable[str] = (),
    warnings: Iterable[str] = (),
    only_serves: bool = False,
    is_stopping: bool = False,
) -> Readiness:
    """Judge whether the server is ready at `now` (unix seconds).

    A server that has faults or is stopping is not ready. All `troubles` count as faults, and so do missing or old data.
    If `pipeline_expected` is true, an overdue refresh of the data also counts as a fault. `only_serves` is true on a
    server that only serves the data of another server. If `only_serves` is true and the data reach the current hour,
    faults become warnings, because old data are better than none.
    """
    faults = [*troubles, *_data_faults(data, now, pipeline_expected=pipeline_expected)]
    warnings = [*warnings, *held_back_lines(data.held), *unconfirmed_lines(data.unconfirmed)]
    if only_serves:
        warnings, faults = [*warnings, *faults], [] if _has_data_from(data, floor_hour(now)) else faults
    reasons = ["the server is stopping", *faults] if is_stopping else faults
    settled = data.newest_settled_ts
    return Readiness(
        ready=not reasons,
        now=now,
        settled_age_s=None if settled is None else max(now - settled - HOUR_S, 0),
        forecast_age_s=_age_s(data.made_at, now),
        refresh_age_s=_age_s(data.last_refresh, now),
        reasons=reasons,
        warnings=[warning for warning in warnings if warning not in reasons],
    )


def lacks_tomorrows_prices(data: ServedData, now: int) -> bool:
    """Return whether settled prices are known, but no price of tomorrow's delivery day or of a later day."""
    newest = data.newest_settled_ts
    return newest is not None and delivery_day(newest) <= data.market.local_time(now).date()


def prices_are_overdue(data: ServedData, now: int) -> bool:
    """Return whether prices that should have been published by `now` (unix seconds) are missing."""
    local_day = data.market.local_time(now).date()
    newest = data.newest_settled_ts
    due = local_day + timedelta(days=1) if publication_is_late(data.market, now) else local_day
    return newest is None or delivery_day(newest) < due


def publication_is_late(market: Market, now: int) -> bool:
    """Return whether tomorrow's prices should have been published by `now` (unix seconds)."""
    return now >= market.prices_late_from(market.local_time(now).date() + timedelta(days=1))


def not_ready_problem(readiness: Readiness, problems: ProblemMaker) -> NotReady:
    """Return a 503 problem with the reasons why the server isn't ready."""
    reasons = "; ".join(readiness.reasons)
    problem = problems.describe(503, f"Data is missing or stale, or the server can't do its work: {reasons}.")
    return NotReady(**asdict(problem), **asdict(readiness))


def _age_s(instant: int | None, now: int) -> int | None:
    return None if instant is None else max(now - instant, 0)


def _has_data_from(data: ServedData, hour: int) -> bool:
    """Return whether there is a price or a forecast for `hour` or for a later hour."""
    settled, run = data.newest_settled_ts, data.hours.run
    return (settled is not None and settled >= hour) or (run is not None and run.end_ts > hour)


def _data_faults(data: ServedData, now: int, *, pipeline_expected: bool) -> Iterator[str]:
    if floor_hour(now) not in data.hours.settled:
        yield "there is no settled price for the current hour"
    if data.made_at is None:
        yield "there is no forecast"
    elif now - data.made_at > FORECAST_STALE_AFTER_S:
        yield f"the forecast is {(now - data.made_at) // HOUR_S} h old"
    if not pipeline_expected:
        return
    if data.last_refresh is None:
        yield "the data has never been refreshed"
    elif now - data.last_refresh > FORECAST_STALE_AFTER_S:
        yield f"the data was last refreshed {(now - data.last_refresh) // HOUR_S} h ago"

"""Answers of sources over time, and the prices that a store settles from them."""

from datetime import date, timedelta
from itertools import chain
from typing import Final

from tests.support.clocks import local
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.upstreams.elering import Quotes
from tests.support.upstreams.lies import Lie, right
from tunnihind.core.market import (
    DAY_S,
    ESTONIA,
    HOUR_S,
    QUARTER_S,
    STEPS,
    Zone,
    day_end,
    day_start,
    delivery_day,
    hourly_prices,
    market_time_unit,
    publication_time,
)
from tunnihind.pipeline.settler import PriceSettler, SettlingOutcome
from tunnihind.settling.witness import Witness
from tunnihind.sources.base import DaySheet, Quote, day_sheets, days_between
from tunnihind.store.prices import AGREED, Price
from tunnihind.store.store import Store

BOTH: Final = ("elering", "entsoe")
ONE: Final = ("elering",)
ASKED_EVERY_S: Final = HOUR_S
_TRUTHS: dict[tuple[date, int], Quotes] = {}


class SettlingTrial:
    """Prices of Estonia and Finland around `today`. Some sources have given the days up to `today` for a day (`known`).

    Tomorrow's prices come out at 13:55. Sources repeat their last answer at least every hour. If `agreed_weeks` is
    given, so many weeks before were agreed earlier.
    """

    def __init__(
        self,
        store: Store,
        today: date,
        *,
        sources: tuple[str, ...] = BOTH,
        known: tuple[str, ...] | None = None,
        agreed_weeks: int = 0,
    ) -> None:
        if (today, agreed_weeks) not in _TRUTHS:
            quotes = made_up_quotes(today - timedelta(days=4, weeks=agreed_weeks), today + timedelta(days=3))
            _TRUTHS[today, agreed_weeks] = {zone: quotes[zone] for zone in ("ee", "fi")}
        self.truth = _TRUTHS[today, agreed_weeks]
        self.store = store
        self.today = today
        self.tomorrow = today + timedelta(days=1)
        self.now = local(f"{today} 14:00") - DAY_S
        self.sources = sources
        self.held_news: list[tuple[str, str]] = []
        self._says: dict[str, Lie | None] = {}
        self._told: dict[Lie, Quotes] = {}
        self._settler = self._start()
        agreed = [
            Price(zone, ts, market_time_unit(delivery_day(ts)), price)
            for zone, prices in self.truth.items()
            for ts, price in prices.items()
            if agreed_weeks and ts < day_start(today)
        ]
        store.prices.add(agreed, source=AGREED, seen_ts=self.now - DAY_S)
        if known is None or known:
            self._says = dict.fromkeys(known or sources, right)
            self._ask()
            self.now = local(f"{today} 13:40")

    def _start(self) -> PriceSettler:
        return PriceSettler(self.store, ESTONIA, self.sources, lambda *case: self.held_news.append(case))

    def restart(self, *sources: str) -> None:
        """Continue with another server, with other sources if they are given."""
        self.sources = sources or self.sources
        self._settler = self._start()

    def until(self, at: int, **says: Lie | None) -> list[SettlingOutcome]:
        """Move time to an instant. From then on, the named sources give other answers; None means no answer.

        Return the outcomes of all answers.
        """
        outcomes = []
        while self.now + ASKED_EVERY_S < at:
            self.now += ASKED_EVERY_S
            outcomes += self._ask()
        self.now = at
        self._says |= says
        return [*outcomes, *self._ask()]

    def shows(self, day: date, zone: Zone = "ee") -> str:
        """Return "right", "wrong" or "none" for a day's settled hours."""
        newest = self.store.prices.newest_versions(day_start(day), day_end(day) - 1).items()
        by_step = {
            step_s: {ts: v.eur_mwh for (of, ts, s), v in newest if (of, s) == (zone, step_s)} for step_s in STEPS
        }
        settled = by_step[HOUR_S] | hourly_prices(by_step[QUARTER_S])
        truth = {ts: price for ts, price in hourly_prices(self.truth[zone]).items() if delivery_day(ts) == day}
        if not settled:
            return "none"
        is_right = len(settled) == len(truth) and all(abs(settled[ts] - truth[ts]) <= 0.011 for ts in settled)
        return "right" if is_right else "wrong"

    def held(self) -> list[Witness]:
        """Return the prices that are held back."""
        return self.store.witnesses.held_back()

    def _ask(self) -> list[SettlingOutcome]:
        answers = [self._sheets(source, lie) for source in self.sources if (lie := self._says.get(source)) is not None]
        return [self._settler.settle(list(chain.from_iterable(answers)), self.now)] if answers else []

    def _sheets(self, source: str, lie: Lie) -> list[DaySheet]:
        today = delivery_day(self.now)
        first, last = self._settler.days_to_request(today - timedelta(days=2), today + timedelta(days=1))
        out = [day for day in days_between(first, last) if publication_time(day) <= self.now]
        if lie not in self._told:
            self._told[lie] = lie(self.truth)
        return [
            sheet
            for zone, prices in self._told[lie].items()
            for sheet in day_sheets(source, zone, [Quote(*row) for row in prices.items()], first, last)
            if sheet.day in out
        ]

"""Answers of sources over time, and the prices that a store settles from them."""

from datetime import date, timedelta
from typing import Final

from tests.support.clocks import local
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.upstreams.elering import Quotes
from tests.support.upstreams.lies import Lie, right
from tunnihind.market import (
    DAY_S,
    ESTONIA,
    HOUR_S,
    Zone,
    day_end,
    day_start,
    delivery_day,
    hourly_prices,
    publication_time,
)
from tunnihind.settling.settling import PriceAnswer, PriceSettler, SettlingOutcome
from tunnihind.sources.base import DaySheet, Quote, day_sheets, days_between
from tunnihind.store.store import Store
from tunnihind.store.witnesses import Witness

BOTH: Final = ("elering", "entsoe")
ONE: Final = ("elering",)
ASKED_EVERY_S: Final = 900
_TRUTHS: dict[date, Quotes] = {}


class SettlingTrial:
    """Prices of Estonia and Finland around `today`. Some sources have given the days up to `today` for a day (`known`).

    Tomorrow's prices come out at 13:55. Sources repeat their last answer at least every hour.
    """

    def __init__(
        self, store: Store, today: date, *, sources: tuple[str, ...] = BOTH, known: tuple[str, ...] | None = None
    ) -> None:
        if today not in _TRUTHS:
            quotes = made_up_quotes(today - timedelta(days=4), today + timedelta(days=3))
            _TRUTHS[today] = {zone: quotes[zone] for zone in ("ee", "fi")}
        self.truth = _TRUTHS[today]
        self.store = store
        self.today = today
        self.tomorrow = today + timedelta(days=1)
        self.now = local(f"{today} 14:00") - DAY_S
        self.sources = sources
        self.held_news: list[tuple[str, str]] = []
        self._says: dict[str, Lie | None] = {}
        self._settler = self._start()
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
            # While much time is left, steps of an hour are enough.
            self.now += HOUR_S if at - self.now > 2 * HOUR_S else ASKED_EVERY_S
            outcomes += self._ask()
        self.now = at
        self._says |= says
        return [*outcomes, *self._ask()]

    def shows(self, day: date, zone: Zone = "ee") -> str:
        """Return "right", "wrong" or "none" for a day's settled hours."""
        settled = (
            self.store.prices.read_archive().newest_versions().series_of(zone).between(day_start(day), day_end(day))
        )
        truth = {ts: price for ts, price in hourly_prices(self.truth[zone]).items() if delivery_day(ts) == day}
        if not settled:
            return "none"
        is_right = len(settled) == len(truth) and all(abs(settled[ts] - truth[ts]) <= 0.011 for ts in settled)
        return "right" if is_right else "wrong"

    def held(self) -> list[Witness]:
        """Return the prices that are held back."""
        return self.store.witnesses.held_back()

    def _ask(self) -> list[SettlingOutcome]:
        answers = [
            PriceAnswer(source, self._sheets(source, lie))
            for source in self.sources
            if (lie := self._says.get(source)) is not None
        ]
        return [self._settler.settle(answers, self.now)] if answers else []

    def _sheets(self, source: str, lie: Lie) -> list[DaySheet]:
        today = delivery_day(self.now)
        first, last = self._settler.days_to_request(today - timedelta(days=2), today + timedelta(days=1))
        out = [day for day in days_between(first, last) if publication_time(day) <= self.now]
        said = lie(self.truth)
        return [
            sheet
            for zone, prices in said.items()
            for sheet in day_sheets(source, zone, [Quote(*row) for row in prices.items()], first, last)
            if sheet.day in out
        ]

"""Polls one server, and keeps the server's description of itself, its known prices and the times of its answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Final

from ..const import LOGGER
from ..core.market import HOUR_S, Market
from ..errors import CannotConnect, OtherZone, ServerIsNotRehearsal, ServerIsRehearsal, TunnihindError
from .answers import About, MarketPrices, Mode
from .clock import EntryClock, home_assistant_now
from .known import NewestPricesFetcher, PastPricesFetcher, merged_answers
from .requests import LONGEST_PAUSE_AT_HOME_S, LONGEST_PAUSE_S, Client, is_at_home, pause_s

# A working server makes a new answer at least once an hour. An answer that is more than an hour old comes from a cache
# in front of a failed server.
_MAX_ANSWER_AGE_S: Final = HOUR_S
# The server's description is requested again after this time, because an update of the server may change the
# description.
_ABOUT_INTERVAL_S: Final = HOUR_S


class Problem(StrEnum):
    """A problem with the server or the prices of an entry."""

    SERVER_UNREACHABLE = "server_unreachable"
    PRICES_LATE = "prices_late"
    FORECAST_STALE = "forecast_stale"
    FORECAST_MISSING = "forecast_missing"
    HISTORY_MISSING = "history_missing"
    QUARTERS_MISSING = "quarters_missing"
    SERVER_CLOCK = "server_clock"
    SERVER_IS_REHEARSAL = "server_is_rehearsal"
    SERVER_IS_NOT_REHEARSAL = "rehearsal_over"
    OTHER_ZONE = "other_zone"
    RATE_MISSING = "rate_missing"
    NO_PRICE = "no_price"


_WRONG_SERVERS: Final[Mapping[Problem, type[TunnihindError]]] = {
    Problem.SERVER_IS_REHEARSAL: ServerIsRehearsal,
    Problem.SERVER_IS_NOT_REHEARSAL: ServerIsNotRehearsal,
    Problem.OTHER_ZONE: OtherZone,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """When a server last answered, and problems with its prices.

    Instants are UTC seconds on the `EntryClock`.

    `answered_at` is the time of the last answer, or 0 if no answer is known. `answer_made_at` is the time at which the
    last answer first arrived, even if a cache has sent the answer again since. `clock_ahead_s` is the number of seconds
    by which the server's clock is ahead of the `EntryClock`. `is_history_missing` is true if past prices of today are
    missing. `are_quarters_missing` is true if the household needs quarter-hour prices, but the server sends only hourly
    prices. If the server's prices are for another zone than the entry's, or if only one of the server and the entry is
    for a rehearsal, `wrong_server` names the problem.
    """

    answered_at: int
    answer_made_at: int
    clock_ahead_s: int
    is_history_missing: bool
    are_quarters_missing: bool
    wrong_server: Problem | None

    @property
    def silent_since(self) -> int:
        """The time of the last answer, or the time at which that answer became an hour old if this was earlier."""
        return min(self.answered_at, self.answer_made_at + _MAX_ANSWER_AGE_S)


class ResetReason(Enum):
    """The reason why a poll dropped all earlier prices."""

    OTHER_SERVER = auto()
    NEW_REHEARSAL = auto()


class ServerPoller:
    """Polls one server for an entry.

    The server's answers synchronise `clock`. `has_stored_id` returns whether the entry stores an installation id of the
    server. `about` is the server's description of itself. `known_prices` contains the server's known prices. `about`
    and `known_prices` are None until they are restored or received.
    """

    def __init__(self, client: Client, clock: EntryClock, zone: Market, *, has_stored_id: Callable[[], bool]) -> None:
        self.about: About | None = None
        self.known_prices: MarketPrices | None = None
        self._client: Final = client
        self._clock: Final = clock
        self._zone: Final = zone
        self._has_stored_id: Final = has_stored_id
        self._longest_pause_s: Final = LONGEST_PAUSE_AT_HOME_S if is_at_home(client.shown_url) else LONGEST_PAUSE_S
        self._newest_prices_fetcher: Final = NewestPricesFetcher(client)
        self._past_prices_fetcher: Final = PastPricesFetcher(client)
        self._newest_answer: MarketPrices | None = None
        self._answered_zone = zone.code
        self._answered_id: str | None = None
        self._about_asked_at = 0
        self._answered_at = 0
        self._answer_made_at = 0
        self._failures = 0

    def restore(self, about: About | None, known: MarketPrices | None) -> None:
        """Use the stored description and prices until the server answers.

        The caller must restore the `EntryClock` first.
        """
        self.about = about
        self._answered_id = self._instance_id
        if known:
            self.known_prices = known
            self._answered_at = self._answer_made_at = self._clock.from_server_time(known.now)

    @property
    def mode(self) -> Mode:
        """The kind of prices that the entry shows."""
        if self._clock.is_rehearsal:
            return Mode.REHEARSAL
        return Mode.DEMO if self.about and self.about.mode is Mode.DEMO else Mode.LIVE

    def status(self, *, needs_quarters: bool) -> ServerStatus:
        """Return when the server last answered, and the present problems with its prices.

        `needs_quarters` is true if the household is billed or paid by the quarter-hour.
        """
        return ServerStatus(
            answered_at=self._answered_at,
            answer_made_at=self._answer_made_at,
            clock_ahead_s=0 if self._clock.is_rehearsal else self._clock.server_ahead_s,
            is_history_missing=self._past_prices_fetcher.lacks_past_prices_of_today,
            are_quarters_missing=needs_quarters and self._newest_prices_fetcher.were_quarters_refused,
            wrong_server=self._wrong_server_problem,
        )

    async def poll(self, *, in_quarters: bool) -> tuple[MarketPrices, ResetReason | None]:
        """Poll the server. Return the known prices, and the reason if the poll dropped all earlier prices.

        Raises TunnihindError if a needed request fails, or if the wrong server answers before any prices are known.
        After an error, the known prices stay the same.
        """
        answer = await self._newest_prices_fetcher.fetch(in_quarters=in_quarters)
        self._answered_zone = answer.zone
        if answer.zone == self._zone.code:  # prices of another zone are refused without further requests
            in_doubt = self._wrong_server_problem is not None or not self._clock.agrees_with(answer.now)
            await self._request_about(at_once=in_doubt and answer is not self._newest_answer)
        self._failures = 0
        if self._wrong_server_problem:
            self._answered_at = self._answer_made_at = self._clock.now()
            return self._known_prices_or_raise(), None
        is_new = answer is not self._newest_answer or self._answered_id != self._instance_id
        if is_new:
            self._note_server_time(answer)
        now = self._answered_at = self._clock.now()
        if self.known_prices and not is_new and not self._past_prices_fetcher.is_due(now):
            return self.known_prices, None
        self._newest_answer = answer
        reset = self._reset_reason(answer)
        before = None if reset else self.known_prices
        self.known_prices = await self._past_prices_fetcher.with_past_prices(merged_answers(before, answer, now), now)
        return self.known_prices, reset

    async def past_prices(self, days: int) -> dict[int, float]:
        """Return the settled prices (EUR/MWh) of the last `days` days, keyed by the start of each period.

        `days` is from 2 to 14. All other known settled prices are included. If the wrong server answered the last poll,
        or the server sends no valid prices, return only the prices that are already known. Raises TunnihindError if no
        prices are known.
        """
        known = self._known_prices_or_raise()
        if self._wrong_server_problem:
            return known.settled
        try:
            return {**await self._client.settled_prices_of_last_days(days, known.step_s), **known.settled}
        except TunnihindError as error:
            LOGGER.debug("can't get the prices of past days: %s", error)
            return known.settled

    def note_failure(self, error: TunnihindError) -> float:
        """Take note that a poll failed, and return the seconds to wait before the next poll.

        The pause grows with each failure up to a limit. If the server requests a longer pause, return the requested
        pause, but at most an hour.
        """
        pause = pause_s(self._failures, self._longest_pause_s)
        asked_for = error.retry_after or 0
        self._failures += 1
        self._about_asked_at = 0
        self._newest_prices_fetcher.forget_refusal()
        return max(pause, min(asked_for, HOUR_S))

    def _known_prices_or_raise(self) -> MarketPrices:
        if not self.known_prices:
            raise _WRONG_SERVERS[self._wrong_server_problem or Problem.SERVER_IS_REHEARSAL](self._client.shown_url)
        return self.known_prices

    def _note_server_time(self, answer: MarketPrices) -> None:
        """Synchronise the `EntryClock` with the answer's time, and note when the answer arrived.

        If the answer is a cached copy of the previous answer, do nothing.
        """
        if not self.known_prices or answer.now != self.known_prices.now:
            self._clock.synchronise(answer.now)
            self._answer_made_at = self._clock.now()

    def _reset_reason(self, answer: MarketPrices) -> ResetReason | None:
        """Return the reason to drop the earlier prices, or None to keep the earlier prices.

        If another server answers with a price for the present moment, the earlier prices are dropped, because the
        earlier server may have been a demo. If another server's answer has no such price, the earlier prices are kept,
        because the earlier server may have lost its data and its id. If a rehearsal has started again, the earlier
        prices are dropped too.
        """
        if self._answered_id not in {None, self._instance_id}:
            if answer.market_price(self._clock.now()) is None:
                return None
            LOGGER.info("a different server answers at %s now; the old prices are dropped", self._client.shown_url)
            self._answered_id = self._instance_id
            self._past_prices_fetcher.forget_requests()
            return ResetReason.OTHER_SERVER
        self._answered_id = self._instance_id
        if self.known_prices and self._clock.has_restarted(self.known_prices.now, answer.now):
            LOGGER.info("the rehearsal at %s has started again", self._client.shown_url)
            return ResetReason.NEW_REHEARSAL
        return None

    async def _request_about(self, *, at_once: bool) -> None:
        """Request the server's description of itself after the start, after a failed poll, and once an hour.

        If `at_once` is true, send a request even if the last request was less than an hour ago. The caller sets
        `at_once` if the server's clock has jumped or the wrong server has answered, because a rehearsal may have begun
        or ended. If the request fails, raise CannotConnect only if `at_once` is true and the server has described
        itself before.
        """
        # A negative time since the last request means that Home Assistant's clock was set back. Then the description is
        # requested at once.
        if not at_once and 0 <= home_assistant_now() - self._about_asked_at < _ABOUT_INTERVAL_S:
            return
        try:
            about = await self._client.about() or self.about
        except CannotConnect as error:
            if at_once and (self.about is not None or self._has_stored_id()):
                raise
            LOGGER.debug("can't get the server's description from /api/about: %s", error)
        else:
            if self.about and self.about != about:
                self._newest_prices_fetcher.forget_refusal()
            self.about = about
            self._about_asked_at = home_assistant_now()

    @property
    def _instance_id(self) -> str | None:
        return self.about.instance_id if self.about else None

    @property
    def _wrong_server_problem(self) -> Problem | None:
        if self._answered_zone != self._zone.code:
            return Problem.OTHER_ZONE
        if self.about is None or (self.about.mode is Mode.REHEARSAL) is self._clock.is_rehearsal:
            return None
        return Problem.SERVER_IS_NOT_REHEARSAL if self._clock.is_rehearsal else Problem.SERVER_IS_REHEARSAL

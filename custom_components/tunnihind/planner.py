"""The plans of one config entry and what they have decided."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from homeassistant.config_entries import ConfigSubentry

from .const import LOGGER, SUBENTRY_PLAN
from .plans.outcome import Decision, Outcome, outcome_from_dict
from .plans.plan import Status, decide, status_of
from .plans.settings import PlanSettings
from .prices.timeline import HOUR_S, Timeline

# For how long the windows that ran are kept.
KEEP_RAN_S: Final = 14 * 24 * HOUR_S


class Planner:
    """Decides for every plan. It remembers its decisions, so that a window that has begun does not move."""

    def __init__(self) -> None:
        self._settings: dict[str, PlanSettings] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._ran: dict[str, list[Decision]] = {}

    def restore(
        self,
        subentries: Iterable[ConfigSubentry],
        kept: Mapping[str, Mapping[str, Any]],
        ran: Mapping[str, Iterable[Mapping[str, Any]]],
    ) -> None:
        """Read the plans, what they decided before Home Assistant stopped, and what ran."""
        self._settings = _settings_of(subentries)
        self._ran = {plan: list(_windows_from(ran.get(plan, ()))) for plan in self._settings}
        self._outcomes = dict(_outcomes_from({plan: kept[plan] for plan in self._settings if plan in kept}))

    def update(self, subentries: Iterable[ConfigSubentry]) -> None:
        """Read new and changed plans. A window that has begun is finished as it was planned."""
        self._settings = _settings_of(subentries)

    def forget(self) -> None:
        """Forget what was decided, as if nothing had run."""
        self._outcomes = {}

    def decide(self, timeline: Timeline, now: int) -> Mapping[str, Outcome]:
        """Return every plan's window as of `now` (UTC seconds), or why it has none."""
        self._outcomes = {
            plan: decide(settings, timeline, now, self._outcomes.get(plan)) for plan, settings in self._settings.items()
        }
        self._ran = {plan: self._ran_by(plan, outcome, now) for plan, outcome in self._outcomes.items()}
        return self._outcomes

    def windows(self, plan: str) -> list[Decision]:
        """Return the windows of the last two weeks that ran or run, and the one that is ahead."""
        outcome, ran = self._outcomes.get(plan), self._ran.get(plan, [])
        return [*ran, outcome] if isinstance(outcome, Decision) and not outcome.locked else ran

    def status(self, plan: str, now: int) -> Status | None:
        """Return how the plan stands at `now` (UTC seconds); None where it can't be used."""
        settings, outcome = self._settings.get(plan), self._outcomes.get(plan)
        return status_of(settings, outcome, now) if settings and outcome else None

    def outcomes_to_store(self) -> dict[str, dict[str, Any]]:
        """Return what is decided, as JSON."""
        return {plan: outcome.as_dict() for plan, outcome in self._outcomes.items()}

    def past_windows_to_store(self) -> dict[str, list[dict[str, Any]]]:
        """Return what ran, as JSON."""
        return {plan: [window.as_dict() for window in ran] for plan, ran in self._ran.items()}

    def _ran_by(self, plan: str, outcome: Outcome, now: int) -> list[Decision]:
        """Return the plan's windows that have begun; the newest may have got more pieces."""
        newest = outcome if isinstance(outcome, Decision) and outcome.locked else outcome.last_run
        ran = {window.start: window for window in self._ran.get(plan, [])}
        if newest is not None:
            ran[newest.start] = replace(newest, last_run=None)
        return [ran[start] for start in sorted(ran) if start <= now < ran[start].end + KEEP_RAN_S]


def _outcomes_from(kept: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Outcome]]:
    """Yield the stored decisions that can be read; the others are made again."""
    for plan, outcome in kept.items():
        try:
            yield plan, outcome_from_dict(outcome)
        except (TypeError, ValueError) as error:
            LOGGER.warning("the stored decision of a plan can't be read and is made again: %s", error)


def _windows_from(kept: Iterable[Mapping[str, Any]]) -> Iterator[Decision]:
    """Yield the stored windows that can be read."""
    for window in kept:
        try:
            yield Decision.from_dict(window)
        except (TypeError, ValueError) as error:
            LOGGER.warning("a stored window can't be read and is left out of the calendar: %s", error)


def _settings_of(subentries: Iterable[ConfigSubentry]) -> dict[str, PlanSettings]:
    settings: dict[str, PlanSettings] = {}
    for subentry in subentries:
        if subentry.subentry_type != SUBENTRY_PLAN:
            continue
        try:
            settings[subentry.subentry_id] = PlanSettings.from_mapping(subentry.data)
        except ValueError as error:
            LOGGER.error("the plan %r can't be used, set it up again: %s", subentry.title, error)
    return settings

"""A calendar with the windows of all plans."""

from bisect import bisect
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, override

from homeassistant.components.calendar import CalendarEntity, CalendarEntityDescription, CalendarEvent
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from .coordinator import TunnihindConfigEntry
from .entity import AlwaysAvailableEntity
from .household.planner import plans_of
from .plans.outcome import Window
from .prices.units import unit_of

PARALLEL_UPDATES = 0
PLAN_CALENDAR: Final = CalendarEntityDescription(key="plans")

type _Part = tuple[datetime, datetime, ConfigSubentry, Window]
"""The start, the end, the plan and the window of an event."""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the calendar."""
    async_add_entities([PlanCalendar(entry.runtime_data, PLAN_CALENDAR)])


class PlanCalendar(AlwaysAvailableEntity, CalendarEntity):
    """A calendar whose events are the pieces of all plans' windows.

    The calendar shows all windows of the past two weeks, and each plan's running or next window. If a plan covers all
    hours below or above a price limit, the calendar also shows all known future windows of this plan.

    Home Assistant compares the times of events as the local clock shows them, without the offset from UTC. So a piece
    during which the local clock goes back becomes two events.
    """

    @property
    @override
    def event(self) -> CalendarEvent | None:
        """The running event that began first, or else the next event. If there is neither, the value is None.

        The value is also None if the local clock, before it goes back, already shows a time at which the next event
        has begun. Otherwise, Home Assistant would take this event for running.
        """
        now = dt_util.utcnow()
        ahead = (part for part in self._parts() if part[1] > now)
        first = min(ahead, key=_start, default=None)
        if first is None or (_start(first) > now and dt_util.as_local(_start(first)) <= dt_util.as_local(now)):
            return None
        return self._event(*first)

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the events that overlap the time from `start_date` to `end_date`, in the order of their starts."""
        asked = [part for part in self._parts() if part[0] < end_date and start_date < part[1]]
        return [self._event(*part) for part in sorted(asked, key=_start)]

    def _parts(self) -> Iterator[_Part]:
        """Yield all pieces as they become events. Even in a rehearsal, their times follow Home Assistant's clock."""
        clock = self.coordinator.clock
        for plan_id in self.prices.outcomes:
            if plan := plans_of(self.coordinator.config_entry).get(plan_id):
                for window in self.coordinator.planner.windows(plan_id):
                    for piece in window.pieces:
                        begin, end = (dt_util.utc_from_timestamp(clock.to_home_assistant_time(one)) for one in piece)
                        yield from ((*part, plan, window) for part in _forward_parts(begin, end))

    def _event(self, start: datetime, end: datetime, plan: ConfigSubentry, window: Window) -> CalendarEvent:
        return CalendarEvent(
            start=start,
            end=end,
            summary=plan.title,
            description=unit_of(self.coordinator.config_entry.options).price_text(
                window.average, self.hass.config.language
            ),
            uid=f"{plan.subentry_id}-{start.timestamp():.0f}",
        )


def _start(part: _Part) -> datetime:
    return part[0]


def _forward_parts(start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Split the time from `start` to `end` (UTC, in whole seconds) where the local clock goes back.

    The first part ends a microsecond before the change, because at the change the clock already shows the earlier time.
    """

    def has_gone_back_after(seconds: int) -> bool:
        passed = timedelta(seconds=seconds)
        return dt_util.as_local(start + passed) - dt_util.as_local(start) < passed

    length_s = int((end - start).total_seconds())
    first_length_s = bisect(range(length_s + 1), False, key=has_gone_back_after)
    if first_length_s <= length_s:
        change = start + timedelta(seconds=first_length_s)
        yield start, change - timedelta.resolution
        start = change
    if start < end:
        yield start, end

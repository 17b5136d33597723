"""A calendar with the windows of all plans."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, override

from homeassistant.components.calendar import CalendarEntity, CalendarEntityDescription, CalendarEvent
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import TunnihindConfigEntry
from .entity import AlwaysAvailableEntity
from .plans.outcome import Window
from .prices.units import unit_of

PARALLEL_UPDATES = 0
PLAN_CALENDAR: Final = CalendarEntityDescription(key="plans")


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
    """

    @property
    @override
    def event(self) -> CalendarEvent | None:
        """The running piece that began first, or else the next piece. If there is neither, the value is None."""
        ahead = (one for one in self._pieces() if one[-1] > self.prices.now)
        first = min(ahead, key=lambda one: one[-2], default=None)
        return self._event(*first) if first else None

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the pieces that overlap the time from `start_date` to `end_date`, in the order of their starts."""
        events = (self._event(*one) for one in self._pieces())
        asked = [one for one in events if one.start_datetime_local < end_date and start_date < one.end_datetime_local]
        return sorted(asked, key=lambda event: event.start_datetime_local)

    def _pieces(self) -> Iterator[tuple[ConfigSubentry, Window, int, int]]:
        """Yield the plan, the window, the start and the end (UTC seconds) of each piece."""
        for plan_id in self.prices.outcomes:
            if plan := self.coordinator.config_entry.subentries.get(plan_id):
                for window in self.coordinator.planner.windows(plan_id):
                    yield from ((plan, window, start, end) for start, end in window.pieces)

    def _event(self, plan: ConfigSubentry, window: Window, start: int, end: int) -> CalendarEvent:
        """Convert a piece to a calendar event. Even in a rehearsal, the event's times follow Home Assistant's clock."""
        clock = self.coordinator.clock
        return CalendarEvent(
            start=datetime.fromtimestamp(clock.to_home_assistant_time(start), UTC),
            end=datetime.fromtimestamp(clock.to_home_assistant_time(end), UTC),
            summary=plan.title,
            description=unit_of(self.coordinator.config_entry.options).price_text(
                window.average, self.hass.config.language
            ),
            uid=f"{plan.subentry_id}-{start}",
        )

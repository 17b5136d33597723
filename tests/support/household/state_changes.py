"""The states that Home Assistant writes for the integration's entities."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from homeassistant.const import EVENT_STATE_CHANGED, EVENT_STATE_REPORTED
from homeassistant.core import Event, HomeAssistant, callback


class StateChanges:
    """The written states: `changed` by entity id, and `reported` if a state was written again unchanged."""

    def __init__(self) -> None:
        self.changed: dict[str, str] = {}
        self.reported: list[str] = []

    @property
    def turned_unavailable(self) -> list[str]:
        return [entity_id for entity_id, state in self.changed.items() if state == "unavailable"]


@contextmanager
def record_state_changes(hass: HomeAssistant) -> Iterator[StateChanges]:
    """Note all states that are written within the context.

    An entity that was ever unavailable stays noted as unavailable.
    """
    noted = StateChanges()

    @callback
    def changed(event: Event[Any]) -> None:
        state = event.data["new_state"].state if event.data["new_state"] else "removed"
        entity_id = event.data["entity_id"]
        if noted.changed.get(entity_id) != "unavailable":
            noted.changed[entity_id] = state

    @callback
    def reported(event: Event[Any]) -> None:
        noted.reported.append(event.data["entity_id"])

    ends = (
        hass.bus.async_listen(EVENT_STATE_CHANGED, changed),
        hass.bus.async_listen(EVENT_STATE_REPORTED, reported, event_filter=callback(lambda _: True)),
    )
    yield noted
    for end in ends:
        end()

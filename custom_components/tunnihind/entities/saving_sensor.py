"""Which share of the possible saving plans by the forecast have caught, as the server has scored it."""

from collections.abc import Mapping
from typing import Any, Final, override

from homeassistant.components.sensor import SensorEntityDescription, SensorStateClass
from homeassistant.const import PERCENTAGE, EntityCategory

from ..const import LOGGER
from ..coordinator import TunnihindCoordinator
from ..entity import DataEntity, StatisticsSensor
from ..errors import TunnihindError
from ..server.answers import Saving

FORECAST_SAVING: Final = SensorEntityDescription(
    key="forecast_saving",
    translation_key="forecast_saving",
    native_unit_of_measurement=PERCENTAGE,
    suggested_display_precision=0,
    state_class=SensorStateClass.MEASUREMENT,
    entity_category=EntityCategory.DIAGNOSTIC,
    entity_registry_enabled_default=False,
)


class SavingSensor(DataEntity, StatisticsSensor):
    """The share that was caught, per cent.

    It asks the server itself, once an hour and only while it is enabled: nothing else needs the answer.
    """

    def __init__(self, coordinator: TunnihindCoordinator) -> None:
        super().__init__(coordinator, FORECAST_SAVING)
        self._saving: Saving | None = None

    @property
    @override
    def should_poll(self) -> bool:
        return True

    @override
    async def async_added_to_hass(self) -> None:
        await super().async_added_to_hass()
        # In the background: a slow server must not hold up the start.
        self.async_schedule_update_ha_state(force_refresh=True)

    @override
    async def async_update(self) -> None:
        try:
            self._saving = await self.coordinator.async_saving()
        except TunnihindError as error:
            # What was known stays, for it changes once a day; the coordinator tells of a server that is gone.
            LOGGER.debug("the server did not answer /api/v1/accuracy: %s", error)

    @property
    @override
    def native_value(self) -> float | None:
        return None if self._saving is None else _percent(self._saving.share)

    @property
    @override
    def extra_state_attributes(self) -> Mapping[str, Any] | None:
        saving = self._saving
        if saving is None:
            return None
        return {
            "days": saving.days,
            "last_weeks_prices": _percent(saving.baseline),
            "within_a_week": None if saving.week is None else _percent(saving.week),
            "boiler_euros_a_year": saving.boiler_eur,
            "boiler_euros_possible": saving.ideal_boiler_eur,
        }


def _percent(share: float) -> float:
    return round(share * 100, 1)

"""What a plan's windows cost and saved, and what was expected of them.

Saved money may become less: a window can turn out dearer than starting at once, and a corrected price changes what
was counted. So the sums for ever are totals, and not ones that only increase. They have the long-term statistics, from
which dashboards make days, months and years; a sum that began again each month would lose what comes late for the one
before.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, override

from homeassistant.components.sensor import SensorDeviceClass, SensorEntityDescription, SensorStateClass
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback

from ..const import EUR, EUR_PER_KWH
from ..coordinator import TunnihindConfigEntry
from ..entity import PlanEntity, StatisticsSensor, async_remove_unfitting, moment
from ..ledger.account import Account
from ..ledger.amounts import Amounts, Total
from ..plans.saving import Saving
from ..plans.settings import looks_for_high_prices
from ..prices.days import iso_bounds, local
from ..prices.timeline import rounded

_EUR_DECIMALS: Final = 4
_KWH_DECIMALS: Final = 3
_HOUR_DECIMALS: Final = 2
_DAY: Final = timedelta(days=1)
_UNKNOWN: Final = (None, None, None)

type Attributes = Mapping[str, Any]


def _saves(form: Mapping[str, Any]) -> bool:
    """Tell whether a device runs in the plan's windows. One that stays out of them uses nothing there to save on."""
    return not looks_for_high_prices(form)


def _tells_energy(form: Mapping[str, Any]) -> bool:
    """Tell whether it is known what the device uses: by a meter, or by its power."""
    return _saves(form) and any(form.get(field) is not None for field in ("meter", "power"))


@dataclass(frozen=True, kw_only=True)
class SavedDescription(SensorEntityDescription):
    """A figure of a plan's account as of an instant, UTC seconds; only plans whose form `fits` have it."""

    fits: Callable[[Mapping[str, Any]], bool] = _tells_energy
    value_fn: Callable[[Account, int], float | None]
    attributes_fn: Callable[[Account, int], Attributes] | None = None


@dataclass(frozen=True, kw_only=True)
class _EurosDescription(SavedDescription):
    device_class: SensorDeviceClass | None = SensorDeviceClass.MONETARY
    native_unit_of_measurement: str | None = EUR
    suggested_display_precision: int | None = 2


def _today(account: Account, now: int) -> Total:
    return account.total_of([local(now).date()])


def _this_month(account: Account, now: int) -> Total:
    today = local(now).date()
    return account.total_of(today - days * _DAY for days in range(today.day))


def _eur(amount: float) -> float:
    return round(amount, _EUR_DECIMALS) or 0.0  # `or` turns -0.0 into 0.0


def _saved_per_kwh(total: Total) -> float | None:
    one = total.even.per_kwh
    return rounded(one.saved) if one else None


def _range(expected: Saving | None) -> tuple[float | None, float | None, float | None]:
    return (expected.expected, expected.low, expected.high) if expected else _UNKNOWN


def _last_saving(account: Account, _: int) -> float | None:
    last = account.last_window
    return _saved_per_kwh(last.total) if last else None


def _last_attributes(account: Account, now: int) -> Attributes:
    """Return what came true beside what was expected, EUR/kWh, and what the energy came to where it is known."""
    means = {
        "today": _saved_per_kwh(_today(account, now)),
        "this_month": _saved_per_kwh(_this_month(account, now)),
        "ever": _saved_per_kwh(account.total),
    }
    last = account.last_window
    if last is None:
        return means
    one = last.total.even.per_kwh or Amounts()
    expected, p10, p90 = _range(last.expected)
    expected_at_start, p10_at_start, p90_at_start = _range(last.expected_at_start)
    return {
        **iso_bounds(last.start, last.end),
        "average": rounded(one.cost),
        "against_days_mean": rounded(one.below_mean),
        "expected": expected,
        "p10": p10,
        "p90": p90,
        "expected_at_start": expected_at_start,
        "p10_at_start": p10_at_start,
        "p90_at_start": p90_at_start,
        **(_of_energy(last.total) if last.total.used.kwh else {}),
        **means,
    }


def _of_energy(total: Total) -> Attributes:
    return {
        "saved": _eur(total.used.saved),
        "cost": _eur(total.used.cost),
        "energy": _kwh(total.used),
        "hours_without_reading": _hours_unread(total),
    }


def _month_attributes(account: Account, now: int) -> Attributes:
    month, today = _this_month(account, now), _today(account, now).used
    return {
        **_sums(month),
        "cost": _eur(month.used.cost),
        "today": _eur(today.saved),
        "cost_today": _eur(today.cost),
        "energy_today": _kwh(today),
    }


def _sums(total: Total) -> Attributes:
    return {
        "against_days_mean": _eur(total.used.below_mean),
        "energy": _kwh(total.used),
        "hours": round(total.even.kwh, _HOUR_DECIMALS),
        "hours_without_reading": _hours_unread(total),
    }


def _hours_unread(total: Total) -> float:
    return round(total.unread_h, _HOUR_DECIMALS)


def _kwh(amounts: Amounts) -> float:
    return round(amounts.kwh, _KWH_DECIMALS)


SAVED_SENSORS: Final = (
    SavedDescription(
        key="last_saving",
        translation_key="last_saving",
        native_unit_of_measurement=EUR_PER_KWH,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=4,
        fits=_saves,
        value_fn=_last_saving,
        attributes_fn=_last_attributes,
    ),
    _EurosDescription(
        key="saved_this_month",
        translation_key="saved_this_month",
        value_fn=lambda account, now: _eur(_this_month(account, now).used.saved),
        attributes_fn=_month_attributes,
    ),
    _EurosDescription(
        key="saved_total",
        translation_key="saved_total",
        state_class=SensorStateClass.TOTAL,
        value_fn=lambda account, _: _eur(account.total.used.saved),
        attributes_fn=lambda account, _: _sums(account.total),
    ),
    _EurosDescription(
        key="cost_total",
        translation_key="cost_total",
        state_class=SensorStateClass.TOTAL,
        entity_registry_enabled_default=False,
        value_fn=lambda account, _: _eur(account.total.used.cost),
    ),
)


class SavedSensor(PlanEntity, StatisticsSensor):
    """A figure of what a plan's windows came to. It is there also while no price is known."""

    entity_description: SavedDescription

    @property
    @override
    def available(self) -> bool:
        return self._account is not None

    @property
    @override
    def native_value(self) -> float | None:
        return self.entity_description.value_fn(self._account, self._now) if self._account else None

    @property
    @override
    def extra_state_attributes(self) -> Attributes | None:
        attributes_fn = self.entity_description.attributes_fn
        return attributes_fn(self._account, self._now) if attributes_fn and self._account else None

    @property
    @override
    def last_reset(self) -> datetime | None:
        """When counting began: a sum that was lost and begins again at zero is then no loss of money."""
        if self.state_class is not SensorStateClass.TOTAL or self._account is None:
            return None
        return moment(self._account.since)

    @property
    def _account(self) -> Account | None:
        return self.coordinator.ledger.account(self.plan_id)

    @property
    def _now(self) -> int:
        return self.coordinator.prices.now


@callback
def async_remove_unfitting_sums(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Remove the sensors of plans whose forms no longer tell what they need. What was counted is kept."""
    for description in SAVED_SENSORS:
        async_remove_unfitting(hass, entry, Platform.SENSOR, description.key, description.fits)

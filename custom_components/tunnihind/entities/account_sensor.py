"""Sensors that show the costs and the savings of a plan's windows, and of a battery, so far.

The sensors of all-time sums have the state class "total", not "total increasing", because the sums can fall. For
example, a window may turn out more expensive than an immediate start of the device.

From the long-term statistics of an all-time sum, dashboards can compute the cost or the saving of each day, month and
year. The sensor for this month's saving has no long-term statistics, because they would miss a meter reading that
arrives after the end of the month.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, override

from homeassistant.components.sensor import SensorDeviceClass, SensorStateClass

from ..const import EUR, EUR_PER_KWH
from ..core.market import Market, rounded_price
from ..entity import Attributes, PlanSensorWithoutPrice, ValueDescription, utc_datetime
from ..ledger.account import Account
from ..ledger.battery_account import BatteryAccount
from ..ledger.started_window import Amounts, Total
from ..plans.saving import Saving
from ..prices.days import iso_bounds

_EUR_DECIMALS: Final = 4
_KWH_DECIMALS: Final = 3
_HOUR_DECIMALS: Final = 2
_DAY: Final = timedelta(days=1)
_UNKNOWN: Final = (None, None, None)


@dataclass(frozen=True, slots=True)
class AccountNow:
    """A plan's account of costs and savings, the present instant `now` in UTC seconds, and the zone of the prices."""

    account: Account
    now: int
    zone: Market

    @property
    def today(self) -> Total:
        """The energy, cost and savings of the plan's windows today."""
        return self.account.total_of([self.zone.local_time(self.now).date()])

    @property
    def this_month(self) -> Total:
        """The energy, cost and savings of the plan's windows this month."""
        today = self.zone.local_time(self.now).date()
        return self.account.total_of(today - days * _DAY for days in range(today.day))


def _rounded_eur(amount: float) -> float:
    return round(amount, _EUR_DECIMALS) or 0.0  # people should never see -0.0


def _saved_per_kwh(total: Total) -> float | None:
    one = total.at_one_kw.per_kwh
    return rounded_price(one.saved) if one else None


def _saving_percentiles(expected: Saving | None) -> tuple[float | None, float | None, float | None]:
    return (expected.expected, expected.low, expected.high) if expected else _UNKNOWN


def _last_saving(subject: AccountNow) -> float | None:
    last = subject.account.last_window
    return _saved_per_kwh(last.total) if last else None


def _last_window_attributes(subject: AccountNow) -> Attributes:
    """Return the mean savings of today, this month and all time, and the figures of the account's `last_window`.

    If `last_window` is None, return only the mean savings. `saved` and `cost` are in EUR, `energy` is in kWh, and
    `hours_without_reading` is in hours. The other figures are in EUR/kWh.
    """
    means = {
        "today": _saved_per_kwh(subject.today),
        "this_month": _saved_per_kwh(subject.this_month),
        "ever": _saved_per_kwh(subject.account.total),
    }
    last = subject.account.last_window
    if last is None:
        return means
    one = last.total.at_one_kw.per_kwh or Amounts()
    expected, p10, p90 = _saving_percentiles(last.expected)
    expected_at_start, p10_at_start, p90_at_start = _saving_percentiles(last.expected_at_start)
    return {
        **iso_bounds(subject.zone, last.start, last.end),
        "average": rounded_price(one.cost),
        "against_days_mean": rounded_price(one.below_mean),
        "expected": expected,
        "p10": p10,
        "p90": p90,
        "expected_at_start": expected_at_start,
        "p10_at_start": p10_at_start,
        "p90_at_start": p90_at_start,
        **(_energy_attributes(last.total) if last.total.used.kwh else {}),
        **means,
    }


def _energy_attributes(total: Total) -> Attributes:
    return {
        "saved": _rounded_eur(total.used.saved),
        "cost": _rounded_eur(total.used.cost),
        "energy": _rounded_kwh(total.used),
        "hours_without_reading": _hours_without_reading(total),
    }


def _month_attributes(subject: AccountNow) -> Attributes:
    month, today = subject.this_month, subject.today.used
    return {
        **_sum_attributes(month),
        "cost": _rounded_eur(month.used.cost),
        "today": _rounded_eur(today.saved),
        "cost_today": _rounded_eur(today.cost),
        "energy_today": _rounded_kwh(today),
    }


def _sum_attributes(total: Total) -> Attributes:
    return {
        "against_days_mean": _rounded_eur(total.used.below_mean),
        "energy": _rounded_kwh(total.used),
        "hours": round(total.at_one_kw.kwh, _HOUR_DECIMALS),
        "hours_without_reading": _hours_without_reading(total),
    }


def _hours_without_reading(total: Total) -> float:
    return round(total.unread_h, _HOUR_DECIMALS)


def _rounded_kwh(amounts: Amounts) -> float:
    return round(amounts.kwh, _KWH_DECIMALS)


def _euro_description(
    key: str,
    amount: Callable[[AccountNow], float],
    attributes_fn: Callable[[AccountNow], Attributes] | None = None,
    *,
    state_class: SensorStateClass | None = None,
    enabled_by_default: bool = True,
) -> ValueDescription[AccountNow]:
    return ValueDescription(
        key=key,
        device_class=SensorDeviceClass.MONETARY,
        native_unit_of_measurement=EUR,
        suggested_display_precision=2,
        value_fn=lambda subject: _rounded_eur(amount(subject)),
        attributes_fn=attributes_fn,
        state_class=state_class,
        entity_registry_enabled_default=enabled_by_default,
    )


ACCOUNT_SENSORS: Final = (
    ValueDescription(
        key="last_saving",
        native_unit_of_measurement=EUR_PER_KWH,
        state_class=SensorStateClass.MEASUREMENT,
        suggested_display_precision=4,
        value_fn=_last_saving,
        attributes_fn=_last_window_attributes,
    ),
    _euro_description("saved_this_month", lambda subject: subject.this_month.used.saved, _month_attributes),
    _euro_description(
        "saved_total",
        lambda subject: subject.account.total.used.saved,
        lambda subject: _sum_attributes(subject.account.total),
        state_class=SensorStateClass.TOTAL,
    ),
    _euro_description(
        "cost_total",
        lambda subject: subject.account.total.used.cost,
        state_class=SensorStateClass.TOTAL,
        enabled_by_default=False,
    ),
)


class AccountSensor(PlanSensorWithoutPrice[AccountNow]):
    """A sensor for a cost or a saving of a plan's windows so far."""

    @property
    @override
    def subject(self) -> AccountNow | None:
        account = self.coordinator.ledger.account(self.plan_id)
        return AccountNow(account, self.coordinator.prices.now, self.coordinator.zone) if account else None

    @property
    @override
    def last_reset(self) -> datetime | None:
        """The time at which the sensor's all-time sum began at zero.

        If the sensor's state class is not "total", or the plan has no account, `last_reset` is None. If a sum started
        again at zero without a new `last_reset`, Home Assistant's statistics would count the fall of the sum as a
        negative amount.
        """
        if self.state_class is not SensorStateClass.TOTAL or self.subject is None:
            return None
        return utc_datetime(self.subject.account.since)


def _saved_by_battery(account: BatteryAccount) -> float | None:
    return None if account.missing and not account.total.hours else _rounded_eur(account.total.saved)


def _battery_attributes(account: BatteryAccount) -> Attributes:
    total = account.total
    return {
        "without_battery": _rounded_eur(total.without_battery),
        "paid": _rounded_eur(total.paid),
        "wear": _rounded_eur(total.wear),
        "charged": round(total.charged, _KWH_DECIMALS),
        "discharged": round(total.discharged, _KWH_DECIMALS),
        "hours": round(total.hours, _HOUR_DECIMALS),
        "hours_without_reading": round(total.unread_h, _HOUR_DECIMALS),
        **({"missing": list(account.missing)} if account.missing else {}),
    }


SAVED_BY_BATTERY: Final = ValueDescription(
    key="saved_total",
    device_class=SensorDeviceClass.MONETARY,
    native_unit_of_measurement=EUR,
    suggested_display_precision=2,
    state_class=SensorStateClass.TOTAL,
    value_fn=_saved_by_battery,
    attributes_fn=_battery_attributes,
)


class BatteryAccountSensor(PlanSensorWithoutPrice[BatteryAccount]):
    """A sensor for what a battery has saved so far. Without the needed meters, it has no value."""

    @property
    @override
    def subject(self) -> BatteryAccount | None:
        return self.coordinator.ledger.battery_accounts.get(self.plan_id)

    @property
    @override
    def last_reset(self) -> datetime | None:
        """The time at which the sensor's sum began at zero, as in `AccountSensor`."""
        if self.state_class is not SensorStateClass.TOTAL or self.subject is None:
            return None
        return utc_datetime(self.subject.since)

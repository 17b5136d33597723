"""What a battery would have saved, compared with an independent solver and with sums by hand."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from custom_components.tunnihind.battery.battery import Battery, Steps
from custom_components.tunnihind.battery.solver import course_cost
from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from custom_components.tunnihind.worth.battery import BatteryOffer, battery_worth
from tests.support.battery.independent import least_cost

AUTUMN, SPRING = ESTONIA.midnight(date(2025, 10, 25)), ESTONIA.midnight(date(2026, 3, 28))
WEAR = 0.03


def no_sale(prices: dict[int, float]) -> Callable[[int], tuple[float, float] | None]:
    return lambda start: (prices[start], 0.0) if start in prices else None


@pytest.mark.parametrize("start", [AUTUMN, SPRING])
@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
@pytest.mark.parametrize("sells", [False, True])
def test_the_saving_is_that_of_an_independent_solver(start: int, step_s: int, *, sells: bool) -> None:
    """Two days around each change of clocks, with prices below zero, sold sun, and an hour without a reading."""
    random = np.random.default_rng(start)
    net_use = {start + hour * HOUR_S: float(random.normal(0.3, 1.5)) for hour in range(48) if hour != 20}
    buying = {at: float(random.normal(0.08, 0.1)) for at in range(start, start + 48 * HOUR_S, step_s)}
    offer = BatteryOffer(capacity_kwh=6.0, power_kw=2.5)
    found = battery_worth(offer, net_use, lambda at: (buying[at], buying[at] - 0.05), step_s, has_sun=True, sells=sells)

    battery = Battery(
        charge_kw=2.5, discharge_kw=2.5, efficiency=0.9, wear=WEAR, lowest_kwh=0, highest_kwh=6, sells=sells
    )
    at = np.array([at for at in buying if at - at % HOUR_S in net_use])
    bought = np.array([buying[start] for start in at.tolist()])
    use = np.array([net_use[start - start % HOUR_S] for start in at.tolist()])
    places = np.arange(len(at)) * step_s
    steps = Steps(places, len(at) * step_s, bought, bought - 0.05, use)
    without = course_cost(replace(battery, wear=0), steps, np.zeros(len(at)))
    worn = WEAR * found.cycles * offer.capacity_kwh * 0.9**0.5
    assert without - found.ideal + worn == pytest.approx(least_cost(battery, steps, 0, end_worth=0), abs=1e-4)
    assert found.hours == 47


def test_one_cycle_by_hand() -> None:
    """1 kWh is bought at 10 cents. .9 of it replace what would cost 30 cents."""
    found = battery_worth(
        BatteryOffer(capacity_kwh=5, power_kw=1, price=170),
        {0: 1.0, HOUR_S: 1.0},
        no_sale({0: 0.1, HOUR_S: 0.3}),
        HOUR_S,
        has_sun=False,
        sells=False,
    )
    assert found.ideal == pytest.approx(0.9 * 0.3 - 0.1)
    assert found.expected == pytest.approx(0.98 * 0.17)
    assert found.cycles == pytest.approx(0.9**0.5 / 5)
    assert found.yearly == pytest.approx(0.98 * 0.17 * 365.25 * 12)
    assert found.payback_years == pytest.approx(170 / found.yearly)
    assert replace(found, price=0).payback_years == 0


def test_a_gain_below_the_wear_is_left_alone() -> None:
    """.9 kWh at 14 cents cost 12.6, only 2.6 cents more than the kWh that was charged, and wear 2.7."""
    offer = BatteryOffer(capacity_kwh=5, power_kw=1, price=100)
    prices = no_sale({0: 0.1, HOUR_S: 0.14})
    found = battery_worth(offer, {0: 1.0, HOUR_S: 1.0}, prices, HOUR_S, has_sun=False, sells=False)
    assert (found.ideal, found.cycles, found.payback_years) == (0, 0, None)


def test_without_any_price_there_is_no_saving() -> None:
    offer = BatteryOffer(capacity_kwh=5, power_kw=1, price=100)
    found = battery_worth(offer, {0: 1.0}, no_sale({}), HOUR_S, has_sun=False, sells=False)
    assert (found.ideal, found.hours, found.yearly, found.payback_years) == (0, 0, 0, None)

"""The account of a battery, without Home Assistant."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from custom_components.tunnihind.ledger.battery_account import (
    BATTERY_ACCOUNT_DECODER,
    BATTERY_ACCOUNT_ENCODER,
    BatteryAccount,
    BilledPeriod,
)
from custom_components.tunnihind.ledger.settled_prices import SettledPrices
from custom_components.tunnihind.past.meter import EnergyStretch, GridEnergy, energy_by_period

START = 1_768_341_600  # midnight in Tallinn
DAY_S = 24 * HOUR_S
BUYING, SELLING = 0.2, 0.05
ENERGY = GridEnergy(bought=3.0, sold=0.0, charged=2.0, discharged=0.0)

kwh = st.floats(0, 20)
price = st.floats(-1, 2)


def priced(price: float, hours: int = 48, start: int = START) -> SettledPrices:
    return SettledPrices(ESTONIA, dict.fromkeys(range(start, start + hours * HOUR_S, QUARTER_S), price))


def update(
    account: BatteryAccount,
    until: int,
    *,
    since: int | None = None,
    is_on: bool = True,
    step_s: int = HOUR_S,
    buying: SettledPrices | None = None,
) -> None:
    """Update the account in each quarter-hour, from `since` to `until`."""
    for now in range(until if since is None else since, until + 1, QUARTER_S):
        account.update(
            now, is_on=is_on, wear=0.01, step_s=step_s, buying=buying or priced(BUYING), selling=priced(SELLING)
        )


def read_all(account: BatteryAccount, energy: GridEnergy | None = ENERGY) -> None:
    account.update_readings({(one.start, one.end): energy for one in account.periods})


@given(bought=kwh, sold=kwh, buying=price, selling=price)
def test_a_battery_that_stands_still_saves_nothing(bought: float, sold: float, buying: float, selling: float) -> None:
    period = BilledPeriod(START, START + HOUR_S, 0.05, GridEnergy(bought, sold, 0.0, 0.0))
    total = period.total(priced(buying), priced(selling))
    assert total.saved == pytest.approx(0, abs=1e-9)
    assert total.paid == pytest.approx(bought * buying - sold * selling, abs=1e-9)


@given(load=kwh, sun=kwh, charged=kwh, discharged=kwh, buying=price, selling=price, wear=st.floats(0, 1))
def test_the_saving_is_the_difference_of_two_bills(
    load: float, sun: float, charged: float, discharged: float, buying: float, selling: float, wear: float
) -> None:
    def bill(net: float) -> float:
        return max(net, 0) * buying - max(-net, 0) * selling

    net = load - sun + charged - discharged
    energy = GridEnergy(max(net, 0), max(-net, 0), charged, discharged)
    total = BilledPeriod(START, START + HOUR_S, wear, energy).total(priced(buying), priced(selling))
    assert total.saved == pytest.approx(bill(load - sun) - bill(net) - wear * discharged, abs=1e-9)


def test_an_account_survives_its_storage() -> None:
    account = BatteryAccount(START)
    update(account, START + 60 * HOUR_S, since=START)
    read_all(account)
    account.missing = ("import_meter",)
    kept = BATTERY_ACCOUNT_DECODER.decode(BATTERY_ACCOUNT_ENCODER.encode(account))
    assert (kept.since, kept.periods, kept.closed, kept.missing) == (
        account.since, account.periods, account.closed, account.missing,
    )  # fmt: skip


def test_a_period_is_closed_after_two_days_and_then_no_longer_changes() -> None:
    account = BatteryAccount(START)
    update(account, START + HOUR_S, since=START)
    read_all(account)
    update(account, START + 49 * HOUR_S - QUARTER_S, since=START + HOUR_S, buying=priced(0.3))
    assert account.total.saved == pytest.approx(-2 * 0.3)
    update(account, START + 49 * HOUR_S, buying=priced(0.3))
    read_all(account, GridEnergy(9.0, 0.0, 9.0, 0.0))
    update(account, START + 49 * HOUR_S + QUARTER_S, buying=priced(0.4))
    assert account.closed.saved == pytest.approx(-2 * 0.3)


def test_a_reading_that_never_comes_stays_an_hour_without_reading() -> None:
    account = BatteryAccount(START)
    update(account, START + HOUR_S, since=START)
    account.update(
        START + 3 * DAY_S, is_on=False, wear=0.0, step_s=HOUR_S, buying=priced(BUYING), selling=priced(SELLING)
    )
    assert (account.periods, account.total.unread_h, account.total.hours) == ([], 1, 0)


def test_a_price_that_comes_within_two_weeks_still_counts() -> None:
    account, unknown = BatteryAccount(START), SettledPrices(ESTONIA)
    update(account, START + HOUR_S, since=START, buying=unknown)
    read_all(account)
    update(account, START + 13 * DAY_S, is_on=False, buying=unknown)
    assert account.total.hours == 0
    assert account.hours_without_price(unknown) == {START}
    update(account, START + 13 * DAY_S, is_on=False)
    assert account.total.saved == pytest.approx(-2 * BUYING)


def test_a_price_that_never_comes_is_given_up_after_two_weeks() -> None:
    account, unknown = BatteryAccount(START), SettledPrices(ESTONIA)
    update(account, START + HOUR_S, since=START, buying=unknown)
    read_all(account)
    update(account, START + 15 * DAY_S, is_on=False, buying=unknown)
    assert (account.periods, account.total.hours, account.prices_needed_since) == ([], 0, None)


def test_a_corrected_reading_of_the_last_day_replaces_the_earlier_one() -> None:
    account = BatteryAccount(START)
    update(account, START + HOUR_S, since=START)
    read_all(account)
    assert account.periods_to_read(START + HOUR_S) == []
    update(account, START + 2 * HOUR_S, since=START + HOUR_S)
    assert account.periods_to_read(START + 2 * HOUR_S) == [
        (START, START + HOUR_S), (START + HOUR_S, START + 2 * HOUR_S),
    ]  # fmt: skip
    read_all(account, GridEnergy(4.0, 0.0, 1.0, 0.0))
    update(account, START + 2 * HOUR_S)
    assert account.total.charged == 2


@pytest.mark.parametrize("pause_s", [HOUR_S, 5 * HOUR_S, -2 * HOUR_S, 1_000 * DAY_S], ids=str)
def test_hours_of_a_pause_or_of_a_wrong_clock_do_not_count(pause_s: int) -> None:
    account = BatteryAccount(START)
    update(account, START + HOUR_S + QUARTER_S, since=START)
    resumed = START + HOUR_S + QUARTER_S + pause_s
    update(account, resumed)
    assert account.total.unread_h == (pause_s > -HOUR_S)
    first = -(-resumed // HOUR_S) * HOUR_S
    update(account, first + HOUR_S, since=resumed)
    assert account.periods[-1] == BilledPeriod(first, first + HOUR_S, 0.01)
    assert len(account.periods) <= 2


def test_no_time_counts_twice_when_the_length_of_billed_periods_changes() -> None:
    account = BatteryAccount(START)
    update(account, START + HOUR_S + 2 * QUARTER_S, since=START)
    update(account, START + 2 * HOUR_S + QUARTER_S, since=START + HOUR_S + 2 * QUARTER_S, step_s=QUARTER_S)
    update(account, START + 4 * HOUR_S, since=START + 2 * HOUR_S + QUARTER_S)
    bounds = [(one.start - START, one.end - START) for one in account.periods]
    assert bounds[0] == (0, HOUR_S)
    assert bounds[1:6] == [(HOUR_S + at * QUARTER_S, HOUR_S + (at + 1) * QUARTER_S) for at in range(5)]
    assert bounds[6:] == [(3 * HOUR_S, 4 * HOUR_S)]


@given(cuts=st.lists(st.integers(1, 287), unique=True))
def test_a_period_has_energy_only_if_the_meter_was_read_at_both_its_bounds(cuts: list[int]) -> None:
    """Readings in a day, by five minutes. A meter that counts evenly shows its period's share, or nothing."""
    at = [0, *sorted(cuts), 288]
    stretches = [
        EnergyStretch(START + 300 * first, START + 300 * last, (last - first) / 12) for first, last in pairwise(at)
    ]
    hours = [(START + hour * HOUR_S, START + (hour + 1) * HOUR_S) for hour in range(24)]
    found = energy_by_period(stretches, hours)
    assert set(found) == {hours[hour] for hour in range(24) if {12 * hour, 12 * hour + 12} <= set(at)}
    assert all(kwh == pytest.approx(1) for kwh in found.values())

"""The cost and the saving of windows, compared with calculations by hand, over days with all kinds of events."""

import json
from dataclasses import astuple, replace
from datetime import time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from custom_components.tunnihind.ledger.ledger import Ledger
from custom_components.tunnihind.ledger.settled_prices import SettledPrices
from custom_components.tunnihind.ledger.started_window import StartedWindow, Total, begun_pieces, totals_by_day
from custom_components.tunnihind.plans.outcome import Window
from custom_components.tunnihind.plans.settings import MAX_DAYS, Horizon, PlanKind, PlanSettings
from custom_components.tunnihind.plans.solver import Piece
from tests.integration.ledger.conftest import DAY_S, PLAN, Life, wavy
from tests.support.household.timelines import at, line, settled

NIGHT = at("2026-11-20")
BOILER = PlanSettings(duration_s=3 * HOUR_S, min_piece_s=HOUR_S)
MACHINE = PlanSettings(duration_s=2 * HOUR_S)
CAR = PlanSettings(duration_s=3 * HOUR_S, min_piece_s=HOUR_S, energy_kwh=7.0, power_kw=2.5)


def run_of(*pieces: tuple[int, int], at_once: int = NIGHT, **more: object) -> StartedWindow:
    window = pieces[0][0], pieces[-1][1]
    return replace(StartedWindow(window=window, pieces=pieces, at_once=at_once), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("decided", "earlier", "begun"),
    [
        ([(0, 4)], [], []),
        ([(8, 9)], [], []),
        ([(4, 9)], [], [(6, 9)]),
        ([(0, 4), (6, 9)], [(1, 4)], [(1, 4), (6, 9)]),
        ([(0, 4)], [(4, 9)], [(4, 6)]),
        ([(7, 9)], [(6, 9)], []),
    ],
)
def test_at_six_these_pieces_of_a_window_have_begun(
    decided: list[Piece], earlier: list[Piece], begun: list[Piece]
) -> None:
    assert list(begun_pieces(decided, 6, earlier)) == begun


def prices_of(*parts: float) -> SettledPrices:
    """Return the prices of hours from the night on."""
    prices = SettledPrices(ESTONIA)
    prices.add_timeline(line(settled(NIGHT, parts)))
    return prices


def figures(total: Total) -> list[float]:
    return [*astuple(total.at_one_kw), *astuple(total.used), total.unread_h]


DAY = [0.30] * 4 + [0.10] * 4 + [0.20] * 16


def test_a_window_saves_against_starting_at_once_and_against_the_days_mean() -> None:
    run = run_of((NIGHT + 4 * HOUR_S, NIGHT + 6 * HOUR_S))
    [(day, total)] = totals_by_day(run, prices_of(*DAY), NIGHT + DAY_S).items()
    assert day.isoformat() == "2026-11-20"
    mean = sum(DAY) / 24
    assert total.at_one_kw.kwh == pytest.approx(2)
    assert total.at_one_kw.cost == pytest.approx(0.20)
    assert total.at_one_kw.saved == pytest.approx(0.40)
    assert total.at_one_kw.below_mean == pytest.approx(2 * (mean - 0.10))
    assert total.used.kwh == 0
    assert total.unread_h == pytest.approx(2)


def test_the_devices_own_energy_counts_in_the_order_in_which_it_used_it() -> None:
    """If started at once, it would have used the first hour's 3 kWh at .30, and the second hour's 1 kWh at .25."""
    night = [0.30, 0.25, 0.30, 0.30, *DAY[4:]]
    first, second = NIGHT + 4 * HOUR_S, NIGHT + 10 * HOUR_S
    readings = {
        (start, start + QUARTER_S): kwh
        for hour, kwh in ((first, 0.75), (second, 0.25))
        for start in range(hour, hour + HOUR_S, QUARTER_S)
    }
    run = run_of((first, first + HOUR_S), (second, second + HOUR_S), meter="sensor.boiler", readings=readings)
    [total] = totals_by_day(run, prices_of(*night), NIGHT + DAY_S).values()
    assert total.used.kwh == pytest.approx(4)
    assert total.used.cost == pytest.approx(3 * 0.10 + 0.20)
    assert total.used.saved == pytest.approx(3 * 0.30 + 0.25 - total.used.cost)
    assert total.unread_h == 0


def test_a_power_counts_until_the_energy_is_reached() -> None:
    run = run_of((NIGHT, NIGHT + 3 * HOUR_S), power_kw=2.5, energy_kwh=7.0)
    [total] = totals_by_day(run, prices_of(*[0.1] * 24), NIGHT + DAY_S).values()
    assert total.used.kwh == pytest.approx(7.0)
    assert total.used.saved == pytest.approx(0)


def test_each_part_of_a_window_over_midnight_belongs_to_its_own_day() -> None:
    run = run_of((NIGHT + 23 * HOUR_S, NIGHT + 25 * HOUR_S), at_once=NIGHT + 20 * HOUR_S)
    found = totals_by_day(run, prices_of(*[0.2] * 24, *[0.1] * 24), NIGHT + 2 * DAY_S)
    assert [day.day for day in found] == [20, 21]
    assert [total.at_one_kw.cost for total in found.values()] == pytest.approx([0.2, 0.1])
    assert [total.at_one_kw.saved for total in found.values()] == pytest.approx([0.0, 0.1])


def test_prices_that_are_not_settled_do_not_count() -> None:
    run = run_of((NIGHT + 4 * HOUR_S, NIGHT + 6 * HOUR_S))
    assert totals_by_day(run, prices_of(*DAY[:20]), NIGHT + DAY_S) == {}


def test_a_window_that_was_cut_off_within_a_quarter_counts_to_the_second() -> None:
    run = run_of((NIGHT + 4 * HOUR_S, NIGHT + 5 * HOUR_S + 440), at_once=NIGHT + 600)
    [total] = totals_by_day(run, prices_of(*DAY), NIGHT + DAY_S).values()
    assert total.at_one_kw.kwh == pytest.approx((HOUR_S + 440) / HOUR_S)
    assert total.at_one_kw.saved == pytest.approx((HOUR_S + 440) / HOUR_S * 0.20)


@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
@pytest.mark.parametrize("plan", [BOILER, MACHINE], ids=["split", "one piece"])
def test_a_week_adds_up_to_what_the_device_was_on_for(plan: PlanSettings, step_s: int) -> None:
    price_of = wavy if step_s == HOUR_S else lambda start: wavy(start) + start // QUARTER_S % 4 / 200
    life = Life(plan, NIGHT, price_of=price_of, step_s=step_s, pace_s=step_s)
    life.live(NIGHT + 7 * DAY_S)
    total = life.account.total
    quarters = plan.duration_s // QUARTER_S
    assert len(life.ran) == 7 * quarters
    assert total.at_one_kw.kwh == pytest.approx(7 * plan.duration_s / HOUR_S)
    assert total.at_one_kw.cost == pytest.approx(life.cost(life.ran))
    at_once = sum(life.at_once(NIGHT + day * DAY_S, quarters) for day in range(7))
    assert total.at_one_kw.saved == pytest.approx(at_once - life.cost(life.ran))
    means = sum(life.day_mean(start) / 4 for start, _ in life.ran)
    assert total.at_one_kw.below_mean == pytest.approx(means - life.cost(life.ran))


def test_a_plan_made_between_two_of_its_days_could_start_with_the_next_earliest_time() -> None:
    life = Life(
        replace(MACHINE, earliest=time(8), deadline=time(20), weekdays=frozenset({6}), max_span_days=2),
        at("2026-11-21T22:00"),
    )
    life.live(at("2026-11-22T20:00"))
    at_once = life.at_once(at("2026-11-22T08:00"), 8)
    assert life.account.total.at_one_kw.saved == pytest.approx(at_once - life.cost(life.ran))


@pytest.mark.parametrize("begins", ["2026-03-27", "2026-10-23", "2026-12-28"])
def test_days_of_23_and_25_hours_and_the_turn_of_the_year_are_days_like_others(begins: str) -> None:
    life = Life(BOILER, at(begins))
    life.live(at(begins) + 5 * DAY_S)
    assert life.account.total.at_one_kw.cost == pytest.approx(life.cost(life.ran))
    by_day = {ESTONIA.local_time(start).date() for start, _ in life.ran}
    each = [life.account.total_of([day]).at_one_kw.cost for day in by_day]
    assert sum(each) == pytest.approx(life.account.total.at_one_kw.cost)
    for day in by_day:
        ran = [quarter for quarter in life.ran if ESTONIA.local_time(quarter[0]).date() == day]
        assert life.account.total_of([day]).at_one_kw.cost == pytest.approx(life.cost(ran))
        assert life.account.total_of([day]).at_one_kw.below_mean == pytest.approx(
            sum(life.day_mean(start) / 4 for start, _ in ran) - life.cost(ran)
        )


def test_a_restart_at_any_tick_changes_nothing() -> None:
    steady, restarted = Life(CAR, NIGHT), Life(CAR, NIGHT)
    steady.live(NIGHT + 4 * DAY_S)
    while restarted.now < steady.now:
        restarted.live(restarted.now + QUARTER_S)
        restarted.restart()
    restarted.tick()
    mine, theirs = restarted.account, steady.account
    assert figures(mine.total) == pytest.approx(figures(theirs.total), abs=1e-4)
    assert mine.total.used.kwh == pytest.approx(4 * 7.0)
    assert restarted.last_window.start == steady.last_window.start


def test_a_plan_made_in_the_middle_of_a_day_could_not_have_started_before() -> None:
    life = Life(MACHINE, NIGHT + 10 * HOUR_S + 400)
    life.live(NIGHT + DAY_S)
    first_quarter = NIGHT + 10 * HOUR_S + QUARTER_S
    at_once = sum(life.price_of((first_quarter + place * QUARTER_S) // HOUR_S * HOUR_S) / 4 for place in range(8))
    assert life.account.total.at_one_kw.saved == pytest.approx(at_once - life.cost(life.ran))


def test_prices_that_come_late_count_when_they_come() -> None:
    """A day has only a forecast until its prices come on the next evening."""
    late = NIGHT + DAY_S + 20 * HOUR_S
    life = Life(
        replace(MACHINE, horizon=Horizon.EXPECTED),
        NIGHT,
        is_published=lambda _, now: now >= late,
        forecast_of=lambda start: wavy(start) + 0.01,
    )
    life.live(late - QUARTER_S)
    assert life.account.total.at_one_kw.kwh == 0
    assert life.account.last_window is None
    life.live(late)
    assert life.account.total.at_one_kw.kwh == pytest.approx(4)
    assert life.account.total.at_one_kw.cost == pytest.approx(life.cost(life.ran))


def test_prices_that_never_come_are_given_up_after_two_weeks() -> None:
    life = Life(replace(MACHINE, horizon=Horizon.EXPECTED), NIGHT, is_published=lambda *_: False, forecast_of=wavy)
    life.live(NIGHT + DAY_S)
    hours = life.ledger.hours_without_price(life.now)
    assert set(range(NIGHT, NIGHT + DAY_S, HOUR_S)) == set(hours)
    life.settings = replace(MACHINE, price_limit=-1.0)
    life.live(NIGHT + 17 * DAY_S)
    assert life.ledger.hours_without_price(life.now) == []
    assert life.account.total.at_one_kw.kwh == 0


def test_prices_asked_for_later_count_too() -> None:
    life = Life(replace(MACHINE, horizon=Horizon.EXPECTED), NIGHT, is_published=lambda *_: False, forecast_of=wavy)
    life.live(NIGHT + DAY_S)
    life.settings = replace(MACHINE, price_limit=-1.0)
    life.live(NIGHT + 6 * DAY_S)
    life.restart()
    hours = life.ledger.hours_without_price(life.now)
    life.ledger.prices.add_hour_prices({hour: (life.price_of(hour),) * 4 for hour in hours})
    life.tick()
    first_day = life.account.total_of([ESTONIA.local_time(NIGHT).date()])
    ran = [quarter for quarter in life.ran if quarter[0] < NIGHT + DAY_S]
    assert first_day.at_one_kw.cost == pytest.approx(life.cost(ran))


def test_a_price_that_is_corrected_within_two_days_corrects_the_sums() -> None:
    life = Life(MACHINE, NIGHT)
    life.live(NIGHT + DAY_S)
    before = life.account.total.at_one_kw
    life.price_of = lambda start: wavy(start) * 2
    life.tick()
    assert life.account.total.at_one_kw.cost == pytest.approx(2 * before.cost)
    assert life.account.total.at_one_kw.saved == pytest.approx(2 * before.saved)


def test_a_device_that_runs_no_longer_than_its_window_may_lose() -> None:
    """Prices that turned out otherwise than forecast: the sum goes down."""
    life = Life(
        replace(MACHINE, horizon=Horizon.EXPECTED),
        NIGHT,
        price_of=lambda start: (start - NIGHT) / DAY_S,
        is_published=lambda start, now: now >= NIGHT + DAY_S or start < NIGHT + 4 * HOUR_S,
        forecast_of=lambda start: -0.5 if start >= NIGHT + 20 * HOUR_S else 2.0,
    )
    life.live(NIGHT + DAY_S)
    assert life.account.total_of([ESTONIA.local_time(NIGHT).date()]).at_one_kw.saved < -1


def test_the_saving_expected_when_waiting_began_is_beside_the_actual_one() -> None:
    """At midnight the evening is forecast to be cheap; by then it is published, and cheaper still."""
    life = Life(
        replace(MACHINE, horizon=Horizon.EXPECTED),
        NIGHT,
        price_of=lambda start: 0.05 if NIGHT + 20 * HOUR_S <= start < NIGHT + 22 * HOUR_S else 0.20,
        is_published=lambda start, now: start < NIGHT + 6 * HOUR_S or now >= NIGHT + 14 * HOUR_S,
        forecast_of=lambda start: 0.10 if NIGHT + 20 * HOUR_S <= start < NIGHT + 22 * HOUR_S else 0.20,
    )
    life.live(NIGHT + 23 * HOUR_S)
    last = life.last_window
    assert last.expected is not None
    assert last.expected_at_start is not None
    assert last.expected.expected == pytest.approx(0.10)
    assert last.expected.low < 0.10 < last.expected.high
    assert last.expected_at_start.expected == last.expected_at_start.low == pytest.approx(0.15)
    per_kwh = last.total.at_one_kw.per_kwh
    assert per_kwh is not None
    assert per_kwh.saved == pytest.approx(0.15)
    life.restart()
    life.live(NIGHT + 23 * HOUR_S + QUARTER_S)
    assert life.account.last_window == last


def test_the_expected_saving_is_for_the_windows_present_need() -> None:
    """The car says after six hours that it needs five hours instead of one, and is still waiting."""
    price_of = lambda start: 0.05 if start == NIGHT + 20 * HOUR_S else 0.20  # noqa: E731
    car = replace(MACHINE, duration_s=HOUR_S, energy_kwh=2.0, power_kw=2.0)
    life = Life(car, NIGHT, price_of=price_of)
    life.live(NIGHT + 6 * HOUR_S)
    life.settings = replace(car, duration_s=5 * HOUR_S, energy_kwh=10.0)
    life.tick()
    life.restart()
    life.live(NIGHT + 23 * HOUR_S)
    last = life.last_window
    assert last.expected is not None
    per_kwh = last.total.at_one_kw.per_kwh
    assert per_kwh is not None
    assert last.expected.expected == pytest.approx(per_kwh.saved) == pytest.approx(0.15 / 5)


def test_the_last_window_is_still_shown_after_it_was_added_up() -> None:
    once = replace(MACHINE, weekdays=frozenset([4]))
    life = Life(once, NIGHT)
    life.live(NIGHT + DAY_S)
    last = life.last_window
    life.live(NIGHT + 5 * DAY_S)
    life.restart()
    life.tick()
    assert life.last_window.start == last.start
    assert figures(life.last_window.total) == pytest.approx(figures(last.total), abs=1e-6)
    assert life.account.total.at_one_kw.cost == pytest.approx(last.total.at_one_kw.cost, abs=1e-6)


def test_a_window_that_still_lacks_a_price_is_not_shown_in_place_of_a_later_one() -> None:
    """The first window ends on a day that lacks a price. It stays open for longer than the second window."""
    missing = NIGHT + DAY_S + 20 * HOUR_S
    over_midnight = PlanSettings(duration_s=4 * HOUR_S, earliest=time(22), deadline=time(2), horizon=Horizon.EXPECTED)
    life = Life(over_midnight, NIGHT, is_published=lambda start, _: start != missing, forecast_of=wavy)
    life.live(NIGHT + DAY_S + 3 * HOUR_S)
    life.settings = replace(MACHINE, earliest=time(3), deadline=time(5))
    life.live(NIGHT + 2 * DAY_S + 6 * HOUR_S)
    later = life.last_window
    assert later.start == NIGHT + 2 * DAY_S + 3 * HOUR_S
    life.settings = replace(MACHINE, price_limit=-1.0)
    life.live(NIGHT + 6 * DAY_S)
    assert missing in life.ledger.hours_without_price(life.now)
    assert life.last_window.start == later.start


@pytest.mark.parametrize("back_s", [HOUR_S, 5 * HOUR_S, DAY_S])
def test_after_a_clock_is_set_back_each_window_counts_once(back_s: int) -> None:
    life = Life(BOILER, NIGHT)
    life.live(NIGHT + 4 * DAY_S + 13 * HOUR_S)
    life.now -= back_s
    life.live(NIGHT + 6 * DAY_S)
    assert life.account.total.at_one_kw.kwh == pytest.approx(len(life.ran) / 4)
    assert life.account.total.at_one_kw.cost == pytest.approx(life.cost(life.ran))


def test_added_up_days_stay_the_same_when_a_clock_set_back_repeats_them() -> None:
    life = Life(BOILER, NIGHT)
    life.live(NIGHT + 4 * DAY_S + 13 * HOUR_S)
    life.now = NIGHT + HOUR_S
    life.live(NIGHT + 6 * DAY_S)
    assert life.account.total.at_one_kw.kwh == pytest.approx(6 * 3)


def test_a_dropped_window_counts_for_the_time_that_it_ran() -> None:
    """This happens with `replan: true`. The new window is compared with a start when the first one was dropped."""
    night = [0.3, 0.35, 0.1, 0.3, 0.25, 0.2, 0.2]
    life = Life(MACHINE, NIGHT, price_of=lambda start: dict(enumerate(night)).get((start - NIGHT) // HOUR_S, 0.4))
    life.live(NIGHT + 3 * HOUR_S)
    life.outcome = None
    life.live(NIGHT + 20 * HOUR_S)
    assert life.account.total.at_one_kw.kwh == pytest.approx(3)
    assert life.account.total.at_one_kw.cost == pytest.approx(0.1 + 0.2 + 0.2)
    assert life.account.total.at_one_kw.saved == pytest.approx((0.3 - 0.1) + (0.3 + 0.25 - 0.2 - 0.2))


@pytest.mark.parametrize("kind", [PlanKind.MOST_EXPENSIVE, PlanKind.ABOVE])
def test_windows_in_expensive_hours_save_nothing(kind: PlanKind) -> None:
    plan = replace(MACHINE, kind=kind, price_limit=0.12 if kind is PlanKind.ABOVE else None, min_piece_s=HOUR_S)
    life = Life(plan, NIGHT)
    life.live(NIGHT + 2 * DAY_S)
    assert life.ran
    assert life.account.total.at_one_kw.kwh == 0


def test_all_hours_below_a_price_are_counted_like_any_others() -> None:
    plan = replace(MACHINE, kind=PlanKind.BELOW, duration_s=0, price_limit=0.09, min_piece_s=QUARTER_S)
    life = Life(plan, NIGHT)
    life.live(NIGHT + 2 * DAY_S)
    assert life.account.total.at_one_kw.cost == pytest.approx(life.cost(life.ran))


def test_days_are_added_up_after_two_months_and_the_total_stays() -> None:
    life = Life(MACHINE, NIGHT, pace_s=6 * HOUR_S, price_of=lambda start: 0.1 + start // HOUR_S % 24 / 10)
    life.live(NIGHT + 70 * DAY_S)
    kept = life.ledger.as_dict()
    assert len(kept["plans"][PLAN]["totals_by_day"]) == 62
    assert life.account.total.at_one_kw.kwh == pytest.approx(70 * 2)
    assert life.account.total.at_one_kw.cost == pytest.approx(life.cost(life.ran), rel=1e-6)
    assert len(json.dumps(kept)) < 24_000
    assert life.account.total_of(
        [ESTONIA.local_time(life.now).date() - timedelta(days=30)]
    ).at_one_kw.kwh == pytest.approx(2)


def test_parts_that_cannot_be_read_start_empty(caplog: pytest.LogCaptureFixture) -> None:
    life = Life(BOILER, NIGHT)
    life.live(NIGHT + DAY_S)
    kept = life.ledger.as_dict()
    kept["plans"]["other"] = {"since": NIGHT, "windows": 7}
    kept["plans"]["short"] = {**kept["plans"][PLAN], "earlier_total": [1.0, 2.0]}
    kept["prices"] = {"since": "then"}
    life.ledger = Ledger.from_dict(kept, ESTONIA)
    assert all(f"the stored field '{name}' can't be read" in caplog.text for name in ("other", "short", "prices"))
    assert life.ledger.account("other") is None
    assert life.ledger.account("short") is None
    life.tick()
    assert life.account.total.at_one_kw.kwh == pytest.approx(3)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.integers(-50, 400), min_size=48, max_size=48),
    st.sampled_from([BOILER, MACHINE, CAR]),
    st.integers(0, 24),
    st.integers(1, 12),
)
def test_with_any_prices_the_sums_are_those_of_the_hours_that_ran(
    thousandths: list[int], plan: PlanSettings, off_at: int, off_for: int
) -> None:
    """Home Assistant is off for a time. For the missed time, only windows that had already begun count."""
    life = Life(plan, NIGHT, price_of=lambda start: thousandths[(start - NIGHT) // HOUR_S % 48] / 1_000)
    life.live(NIGHT + off_at * HOUR_S)
    life.restart()
    life.go_off(life.now + off_for * HOUR_S)
    life.live(NIGHT + 2 * DAY_S)
    assert life.account.total.at_one_kw.cost == pytest.approx(life.cost(life.ran), abs=1e-5)
    assert life.account.total.at_one_kw.kwh == pytest.approx(len(life.ran) / 4, abs=1e-5)


def test_prices_are_kept_as_long_as_they_are_needed_and_no_longer() -> None:
    life = Life(replace(BOILER, max_span_days=MAX_DAYS, deadline=ESTONIA.local_time(NIGHT).time()), NIGHT)
    life.live(NIGHT + 12 * DAY_S)
    kept = life.ledger.as_dict()["prices"]
    assert life.now - (MAX_DAYS + 3) * DAY_S <= kept["since"] <= life.now - (MAX_DAYS + 1) * DAY_S
    prices = SettledPrices.from_dict(json.loads(json.dumps(kept)), ESTONIA)
    assert prices.mean(life.now, life.now + HOUR_S) == pytest.approx(life.price_of(life.now - life.now % HOUR_S))
    assert prices.mean(kept["since"] - HOUR_S, life.now) is None
    assert SettledPrices.from_dict({}, ESTONIA).mean(NIGHT, NIGHT + 1) is None


def test_the_usual_price_is_the_median_of_the_known_prices_of_seven_days() -> None:
    ledger = Ledger(ESTONIA)
    now = NIGHT + 20 * DAY_S
    assert ledger.usual_price(line([]), now) is None
    days = line(settled(now - 8 * DAY_S, [cents / 100 for cents in range(1, 9) for _ in range(24)]))
    assert ledger.usual_price(days, now) == 0.05
    assert ledger.usual_price(days, now - DAY_S) == 0.04
    assert ledger.usual_price(days, now + 3 * DAY_S) == pytest.approx(0.065)


def test_a_window_that_never_began_keeps_no_prices() -> None:
    life = Life(BOILER, NIGHT)
    life.tick()
    assert isinstance(life.outcome, Window)
    assert life.outcome.start > life.now
    life.settings = replace(BOILER, price_limit=-1.0)
    life.live(NIGHT + 20 * DAY_S)
    assert life.ledger.as_dict()["prices"]["since"] >= life.now - (MAX_DAYS + 3) * DAY_S


@pytest.mark.parametrize("back_s", [1_000, 4 * HOUR_S, 11 * HOUR_S])
@pytest.mark.parametrize("plan", [BOILER, MACHINE, CAR], ids=["split", "one piece", "by energy"])
def test_a_clock_that_is_briefly_wrong_after_a_restart_loses_no_sums(plan: PlanSettings, back_s: int) -> None:
    """A small computer without a battery for its clock starts with the last time that it stored."""
    life = Life(plan, NIGHT)
    life.live(NIGHT + 3 * DAY_S + 18 * HOUR_S)
    counted, right = figures(life.account.total), life.now
    assert counted[0] > 0
    life.restart()
    life.now = right - back_s
    life.outcome = None
    life.tick()
    assert figures(life.account.total) == pytest.approx(counted, abs=1e-5)
    life.now = right
    life.tick()
    assert figures(life.account.total) == pytest.approx(counted, abs=1e-5)


def test_windows_of_a_clock_that_was_days_ahead_delay_no_others() -> None:
    life = Life(MACHINE, NIGHT + 100 * DAY_S)
    life.live(NIGHT + 101 * DAY_S)
    life.now, life.outcome = NIGHT, None
    life.live(NIGHT + 2 * DAY_S)
    assert life.last_window.end <= NIGHT + 2 * DAY_S

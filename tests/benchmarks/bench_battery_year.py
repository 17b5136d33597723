"""What a battery's plan saves in a year, with only what a home knew at each time, beside simple rules.

    uv run --no-sync tunnihind backtest --from 2025-01-01 --to 2025-12-31 --forecasts-out FORECASTS.csv
    uv run --no-sync python -m tests.benchmarks.bench_battery_year FORECASTS.csv PRICES.csv [--quarters QUARTERS.csv]

PRICES.csv and QUARTERS.csv are files for `tunnihind import prices`, in hours and in quarters. The program lives the
year by quarters. Before the quarters of QUARTERS.csv, each quarter has its hour's price. The prices of a day are known
from their publication time on, and a forecast from its issue on, as far ahead as every server serves it. Load and sun
are made up with a fixed seed. Their forecasts know only the past: the load's usual course, and the day's sun with an
error of 25 % for today and tomorrow. "perfect" knows all prices, the load and the sun of the whole year.
"""

import csv
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final

import click
import numpy as np

from custom_components.tunnihind.battery.battery import Battery, Steps
from custom_components.tunnihind.battery.commands import Action, Command, commands_for, followed_power, stored_by
from custom_components.tunnihind.battery.outlook import Outlook, outlook, usual_load, usual_sun
from custom_components.tunnihind.battery.plan import BatteryPlan, battery_plan
from custom_components.tunnihind.battery.solver import cheapest_course, course_cost
from custom_components.tunnihind.core.market import (
    DAY_S,
    ESTONIA,
    HOUR_S,
    QUARTER_S,
    WEEK_S,
    day_end,
    delivery_day,
    floor_hour,
    free_until,
    publication_time,
)
from custom_components.tunnihind.core.public_holidays import is_working_day
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from custom_components.tunnihind.prices.billing import Deductions, Resolution, SellingContract
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tunnihind.known import Floats

TARIFF: Final = Tariff(
    rows=(
        TariffRow(
            vat_rate=0.24,
            network_day=0.0369,
            network_night=0.0210,
            balancing=0.00373,
            renewable=0.0084,
            security=0.00758,
            excise=0.0021,
        ),
    )
)
"""Vork 4 and the fees of 2026."""
SELLING: Final = SellingContract(resolution=Resolution.QUARTER, deductions=(Deductions(margin=0.003),))
LAST_WORTH: Final = 0.1
"""EUR per kWh that is stored when the year ends. The same for all."""
LOAD_KWH: Final = 4000.0
LOAD_SHAPE: Final = (4, 3, 3, 3, 3, 4, 6, 8, 7, 6, 6, 6, 6, 6, 6, 6, 7, 10, 13, 14, 13, 11, 8, 6)
"""The mean load of working days by hour of the clock. On days off, the morning comes two hours later."""
LOAD_NOISE, LOAD_MEMORY = 0.4, 0.6
SUN_KWH_PER_KWP: Final = 900.0
SUN_ERROR: Final = 0.25
SUN_DAYS: Final = 2
"""A forecast of the sun covers today and tomorrow."""
SEED: Final = 20250101
RULE_HOURS, RULE_SPREAD = 3, 0.05
"""A rule's hours of charging and of discharging a day, and the least difference of their prices in EUR/kWh."""


@dataclass(frozen=True, slots=True)
class Home:
    """A home's battery, and the peak power of its panels in kW."""

    battery: Battery
    kwp: float


HOMES: Final = {
    "10 kWh / 5 kW, no sun": Home(
        Battery(charge_kw=5, discharge_kw=5, efficiency=0.9, wear=0.03, lowest_kwh=0, highest_kwh=10), 0
    ),
    "10 kWh / 5 kW, 8 kWp": Home(
        Battery(charge_kw=5, discharge_kw=5, efficiency=0.9, wear=0.03, lowest_kwh=0, highest_kwh=10), 8
    ),
    "30 kWh / 5 kW, 10 kWp": Home(
        Battery(charge_kw=5, discharge_kw=5, efficiency=0.9, wear=0.03, lowest_kwh=0, highest_kwh=30), 10
    ),
}


@dataclass(frozen=True, eq=False)
class Market:
    """Prices in EUR/MWh by the start of a quarter, and the medians of forecasts by issue and hour.

    Prices are published by the hour until `quarters_since` (UTC seconds), and by the quarter from then on.
    """

    prices: Mapping[int, float]
    quarters_since: float
    issues: Mapping[int, Mapping[int, float]]
    full_horizon: bool

    @cached_property
    def _issued(self) -> Sequence[int]:
        return sorted(self.issues)

    def known_at(self, now: int) -> tuple[int, int]:
        """Return the end of the published prices, and the newest issue of a forecast or 0."""
        tomorrow = delivery_day(now) + timedelta(days=1)
        settled = day_end(tomorrow if publication_time(tomorrow) <= now else delivery_day(now))
        place = bisect_right(self._issued, now) - 1
        return settled, self._issued[place] if place >= 0 else 0

    def timelines(self, now: int) -> tuple[Timeline, Timeline]:
        """Return the buying and the selling prices that a home knows."""
        settled, issued = self.known_at(now)
        end = settled + WEEK_S + DAY_S if self.full_horizon else free_until(settled - HOUR_S, now)
        buying, selling = self._known(settled, issued)
        return buying.within([(now, end)]), selling.within([(now, end)])

    @lru_cache(maxsize=2)  # noqa: B019  one market lives as long as the program
    def _known(self, settled: int, issued: int) -> tuple[Timeline, Timeline]:
        forecast = self.issues.get(issued, {})
        hours = range(settled - 2 * DAY_S, settled + WEEK_S + DAY_S, HOUR_S)
        step_s = QUARTER_S if settled > self.quarters_since else HOUR_S
        known = {}
        for start in (hour + later for hour in hours for later in range(0, HOUR_S, step_s)):
            eur_mwh = self.prices.get(start) if start < settled else forecast.get(floor_hour(start))
            if eur_mwh is not None:
                known[start] = eur_mwh
        return _timeline(TARIFF.price, known, step_s, settled), _timeline(SELLING.price, known, step_s, settled)


def _timeline(
    price_of: Callable[[float, int], float], market: Mapping[int, float], step_s: int, settled: int
) -> Timeline:
    priced = ((start, price_of(eur_mwh, start)) for start, eur_mwh in market.items())
    return Timeline(
        step_s,
        (Period(start, start + step_s, price, price, price, settled=start < settled) for start, price in priced),
    )


def read_market(prices: Path, quarters: Path | None, forecasts: Path, *, full_horizon: bool) -> Market:
    """Read the files."""
    with prices.open() as file:
        hours = {int(row["ts"]): float(row["ee"]) for row in csv.DictReader(file) if row["ee"]}
    by_quarter: dict[int, float] = {}
    if quarters is not None:
        with quarters.open() as file:
            by_quarter = {int(row["ts"]): float(row["ee"]) for row in csv.DictReader(file) if row["ee"]}
    of_hours = {start + later: price for start, price in hours.items() for later in range(0, HOUR_S, QUARTER_S)}
    issues: dict[int, dict[int, float]] = {}
    with forecasts.open() as file:
        for row in csv.DictReader(file):
            issues.setdefault(int(row["issued_ts"]), {})[int(row["target_ts"])] = float(row["p50"])
    return Market(of_hours | by_quarter, min(by_quarter, default=math.inf), issues, full_horizon)


@dataclass(frozen=True)
class Weather:
    """The load and the sun's energy in kWh by hour, and the forecasts of the sun by issue day and hour."""

    load: Mapping[int, float]
    sun: Mapping[int, float]
    sun_forecasts: Mapping[date, Mapping[int, float]]


def made_up_weather(first: int, end: int, kwp: float) -> Weather:
    """Return a home's load and sun, always the same for the same times."""
    random = np.random.default_rng(SEED)
    hours = range(first, end, HOUR_S)
    local = [ESTONIA.local_time(hour) for hour in hours]
    usual = np.array(
        [
            LOAD_SHAPE[wall.hour if is_working_day(wall.date(), "EE") or not 5 <= wall.hour <= 11 else wall.hour - 2]
            for wall in local
        ],
        float,
    )
    noise = np.zeros(len(hours))
    steps = random.standard_normal(len(hours)) * math.sqrt(1 - LOAD_MEMORY**2)
    for place in range(1, len(hours)):
        noise[place] = LOAD_MEMORY * noise[place - 1] + steps[place]
    load = usual * np.maximum(1 + LOAD_NOISE * noise, 0.1)
    load *= LOAD_KWH / (load.mean() * 8760)
    clear = np.array([_height_of_sun(hour + HOUR_S // 2) for hour in hours]) ** 1.15
    days = sorted({wall.date() for wall in local})
    clearness = dict(zip(days, random.beta(1.3, 1.1, len(days)) * 0.85 + 0.15, strict=True))
    sun = clear * np.array([clearness[wall.date()] for wall in local])
    sun *= SUN_KWH_PER_KWP * kwp / (sun.mean() * 8760)
    by_day: dict[date, dict[int, float]] = {}
    for hour, wall, energy in zip(hours, local, sun.tolist(), strict=True):
        by_day.setdefault(wall.date(), {})[hour] = energy
    forecasts: dict[date, dict[int, float]] = {}
    for day in days:
        forecasts[day] = {}
        for later in range(SUN_DAYS):
            error = max(1 + SUN_ERROR * random.standard_normal(), 0.1)
            target = by_day.get(day + timedelta(days=later), {})
            forecasts[day] |= {hour: energy * error for hour, energy in target.items() if kwp}
    return Weather(dict(zip(hours, load.tolist(), strict=True)), dict(zip(hours, sun.tolist(), strict=True)), forecasts)


def _height_of_sun(instant: int) -> float:
    """Return the sine of the sun's height in the middle of Estonia, or 0 at night."""
    days = instant / DAY_S
    declination = math.radians(-23.44) * math.cos(2 * math.pi * (days % 365.2425 + 10) / 365.2425)
    angle = 2 * math.pi * (days % 1 - 0.5) + math.radians(ESTONIA.longitude)
    latitude = math.radians(ESTONIA.latitude)
    height = math.sin(latitude) * math.sin(declination) + math.cos(latitude) * math.cos(declination) * math.cos(angle)
    return max(height, 0.0)


@dataclass(frozen=True)
class Year:
    """A home in the lived time: its market, load and sun, and the steps as they came."""

    home: Home
    market: Market
    weather: Weather
    steps: Steps

    @cached_property
    def without_battery(self) -> float:
        """What the home pays without a battery, EUR."""
        return course_cost(self.home.battery, self.steps, np.zeros(len(self.steps.starts)))


def year_of(home: Home, market: Market, first: int, end: int) -> Year:
    """Return the time from `first` to `end`, as far as prices are known."""
    weather = made_up_weather(first - 5 * WEEK_S, end + 2 * DAY_S, home.kwp)
    starts = [start for start in range(first, end, QUARTER_S) if start in market.prices]
    use = [weather.load[start - start % HOUR_S] - weather.sun[start - start % HOUR_S] for start in starts]
    steps = Steps(
        np.array(starts),
        starts[-1] + QUARTER_S,
        np.array([TARIFF.price(market.prices[start], start) for start in starts]),
        np.array([SELLING.price(market.prices[start], start) for start in starts]),
        np.array(use),
    )
    return Year(home, market, weather, steps)


@dataclass(frozen=True, slots=True)
class Lived:
    """What a way to run the battery came to."""

    saving: float
    cycles: float
    changes_a_day: float
    plans_changed_a_day: float = 0.0


def lived(year: Year, commands: Callable[[int, int, float], Command]) -> Lived:
    """Live the year by quarters. `commands` is given the place of a step, its start, and the stored energy."""
    battery, steps = year.home.battery, year.steps
    stored = battery.lowest_kwh
    powers, course, actions = [], [], []
    for place, (start, use) in enumerate(zip(steps.starts.tolist(), steps.use_kw.tolist(), strict=True)):
        command = commands(place, start, stored)
        power = followed_power(battery, command, use, stored, QUARTER_S / HOUR_S)
        stored += stored_by(battery, power) * QUARTER_S / HOUR_S
        powers.append(power)
        course.append(stored)
        actions.append(command.action)
    return summed_up(year, np.array(powers), np.array(course), actions)


def summed_up(year: Year, powers: Floats, course: Floats, actions: Iterable[Action]) -> Lived:
    """Return what a course of the whole year came to."""
    battery, steps = year.home.battery, year.steps
    days = (steps.end - int(steps.starts[0])) / DAY_S
    usable = battery.highest_kwh - battery.lowest_kwh
    discharged = np.maximum(-powers, 0).sum() * QUARTER_S / HOUR_S / math.sqrt(battery.efficiency)
    saving = year.without_battery - course_cost(battery, steps, powers) + LAST_WORTH * float(course[-1])
    changes = sum(one is not other for one, other in pairwise(actions))
    return Lived(saving, discharged / usable, changes / days)


class Planner:
    """Follows plans that are made anew every `every_s` seconds, and at each publication."""

    def __init__(self, year: Year, every_s: int, threshold: float) -> None:
        self._year = year
        self._every_s = every_s
        self._threshold = threshold
        self._plan: BatteryPlan | None = None
        self._known = 0, 0
        self._load: Mapping[int, float] = {}
        self._sun: Mapping[int, float] = {}
        self._today = date.min
        self.changed = 0

    def command(self, _place: int, now: int, stored_kwh: float) -> Command:
        """Return what the battery does from `now` on."""
        known = self._year.market.known_at(now)
        if self._plan is None or known != self._known or now % self._every_s == 0:
            self._known = known
            ahead = self._outlook(now)
            if ahead is None:
                return Command(Action.STORE_SUN, self._year.home.battery.charge_kw)
            self._plan = battery_plan(
                self._year.home.battery,
                ahead.steps,
                stored_kwh,
                end_worth=ahead.end_worth,
                last=self._plan,
                threshold=self._threshold,
            )
            self.changed += self._plan.changed
        return self._plan.commands[bisect_right(self._plan.steps.starts.tolist(), now) - 1]

    def _outlook(self, now: int) -> Outlook | None:
        today = ESTONIA.local_time(now).date()
        weather = self._year.weather
        if today != self._today:
            self._today = today
            end = now + 10 * DAY_S
            past = range(now - now % HOUR_S - 4 * WEEK_S, now - now % HOUR_S, HOUR_S)
            self._load = usual_load({hour: weather.load[hour] for hour in past}, ESTONIA, now, end)
            self._sun = usual_sun({hour: weather.sun[hour] for hour in past}, now, end) if self._year.home.kwp else {}
        return outlook(
            self._year.home.battery,
            *self._year.market.timelines(now),
            now,
            load_kwh=self._load,
            sun_kwh=weather.sun_forecasts[today],
            usual_sun_kwh=self._sun,
        )


def rule_command(year: Year) -> Callable[[int, int, float], Command]:
    """Return a rule like the blueprint `run_battery`: the cheapest and the most expensive hours of each day.

    Otherwise, the battery stores the sun and covers the use; without sun, it holds.
    """
    battery = year.home.battery
    by_day: dict[date, dict[int, list[float]]] = {}
    for start, price in zip(year.steps.starts.tolist(), year.steps.buying.tolist(), strict=True):
        by_day.setdefault(ESTONIA.local_time(start).date(), {}).setdefault(start - start % HOUR_S, []).append(price)
    orders: dict[int, Command] = {}
    for day in by_day.values():
        ranked = sorted(day, key=lambda hour: fmean(day[hour]))
        cheap, dear = ranked[:RULE_HOURS], ranked[-RULE_HOURS:]
        mean = {
            name: fmean(price for hour in hours for price in day[hour])
            for name, hours in (("cheap", cheap), ("dear", dear))
        }
        if mean["dear"] - mean["cheap"] >= RULE_SPREAD:
            orders |= dict.fromkeys(cheap, Command(Action.CHARGE, battery.charge_kw))
        orders |= dict.fromkeys(dear, Command(Action.SELL, battery.discharge_kw))
    rest = Command(Action.DISCHARGE, battery.discharge_kw) if year.home.kwp else Command(Action.HOLD, 0)
    return lambda _place, start, _stored: orders.get(start - start % HOUR_S, rest)


def only_sun_command(year: Year) -> Callable[[int, int, float], Command]:
    """Return a rule that stores the sun and covers the use."""
    return lambda _place, _start, _stored: Command(Action.DISCHARGE, year.home.battery.discharge_kw)


def perfect(year: Year) -> Lived:
    """Return what perfect knowledge of the whole year saves."""
    battery = year.home.battery
    course = cheapest_course(battery, year.steps, battery.lowest_kwh, end_worth=LAST_WORTH)
    commands = commands_for(battery, year.steps, battery.lowest_kwh, course)
    return summed_up(year, course.power_kw, course.stored_kwh, [command.action for command in commands])


def planned(year: Year, every_s: int, threshold: float) -> Lived:
    """Return what the plans save."""
    planner = Planner(year, every_s, threshold)
    days = (year.steps.end - int(year.steps.starts[0])) / DAY_S
    return replace(lived(year, planner.command), plans_changed_a_day=planner.changed / days)


def results_of(year: Year, every_s: int, threshold: float) -> dict[str, Lived]:
    """Return the results of all ways by name, the perfect one first."""
    return {
        "perfect": perfect(year),
        "plan": planned(year, every_s, threshold),
        "cheapest and most expensive hours": lived(year, rule_command(year)),
        "store the sun": lived(year, only_sun_command(year)),
    }


@click.command(help=__doc__)
@click.argument("forecasts", type=click.Path(exists=True, path_type=Path))
@click.argument("prices", type=click.Path(exists=True, path_type=Path))
@click.option("--quarters", type=click.Path(exists=True, path_type=Path), help="Prices by the quarter.")
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), default="2025-01-01", help="First day.")
@click.option("--to", "last", type=click.DateTime(["%Y-%m-%d"]), default="2025-12-31", help="Last day.")
@click.option("--every", default=60, show_default=True, help="Minutes between plans.")
@click.option("--threshold", default=5.0, show_default=True, help="c a day for which a plan changes.")
@click.option("--full-horizon", is_flag=True, help="The whole forecast, as a private server may serve it.")
def main(
    forecasts: Path,
    prices: Path,
    quarters: Path | None,
    first: datetime,
    last: datetime,
    *,
    every: int,
    threshold: float,
    full_horizon: bool,
) -> None:
    """Print a table for each home."""
    market = read_market(prices, quarters, forecasts, full_horizon=full_horizon)
    start, end = ESTONIA.midnight(first.date()), ESTONIA.midnight(last.date() + timedelta(days=1))
    with ProcessPoolExecutor(len(HOMES)) as pool:
        years = [year_of(home, market, start, end) for home in HOMES.values()]
        found = pool.map(results_of, years, [every * 60] * 3, [threshold / 100] * 3)
        for name, results in zip(HOMES, found, strict=True):
            click.echo(f"{name:<40}{'share':>7}{'EUR':>7}{'cycles':>8}{'changes a day':>15}{'new plans a day':>17}")
            best = results["perfect"].saving
            for way, one in results.items():
                click.echo(
                    f"  {way:<38}{one.saving / best:7.3f}{one.saving:7.0f}{one.cycles:8.0f}"
                    f"{one.changes_a_day:15.1f}{one.plans_changed_a_day:17.1f}"
                )


if __name__ == "__main__":
    main()

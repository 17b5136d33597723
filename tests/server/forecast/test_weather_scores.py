"""The scores of the forecasts of wind and temperature, which use only data that was issued by then."""

from collections.abc import Callable, Iterable
from datetime import date, timedelta

import numpy as np
import pytest

from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, MARKETS, Zone, day_start, delivery_day
from tunnihind.forecast.run import LEAD_DAYS, issue_instant
from tunnihind.forecast.scoring.weather_scores import LeadAgreement, scored_covariate_names, weather_scores
from tunnihind.known import CovariateArchive, IssuedSeries

FINLAND = MARKETS["fi"]
HELSINKI = "temperature_2m@fi_helsinki"
REACH_H = 10 * 24
TODAY = date(2025, 12, 15)
AFTER_AUTUMN_CHANGE = date(2025, 11, 10)

type Value = Callable[[int, int], float]
"""A function from the instant of issue and the hour to the forecast value."""


def truth(_issued_ts: int, ts: int) -> float:
    """Return a temperature that changes with the hour and the week."""
    return float(5 * np.sin(ts / DAY_S) + 3 * np.cos(ts / DAY_S * 2 * np.pi))


def grows_off(issued_ts: int, ts: int) -> float:
    """Return the true value plus one degree for each delivery day between issue and target."""
    return truth(issued_ts, ts) + max((delivery_day(ts) - delivery_day(issued_ts)).days, 0)


def issues(value: Value, instants: Iterable[int]) -> tuple[IssuedSeries, ...]:
    """Return issues that begin 6 hours before they are known, like a weather model's runs."""
    found = []
    for issued_ts in sorted(instants):
        start = issued_ts - issued_ts % HOUR_S - 6 * HOUR_S
        hours = range(start, start + REACH_H * HOUR_S, HOUR_S)
        found.append(IssuedSeries(issued_ts, start, np.array([value(issued_ts, ts) for ts in hours], np.float32)))
    return tuple(found)


def four_a_day(until: date, days: int = 45) -> list[int]:
    """Return the instants at which the runs of 00, 06, 12 and 18 UTC become known, up to noon of a day."""
    noon = issue_instant(until) // DAY_S * DAY_S + 12 * HOUR_S
    return [noon - step * 6 * HOUR_S for step in range(4 * days)]


def scored(value: Value, *, today: date = TODAY, instants: list[int] | None = None) -> tuple[LeadAgreement, ...]:
    """Score Finland's temperature at noon of a day. The result is empty without a score."""
    archive = CovariateArchive({HELSINKI: issues(value, four_a_day(today) if instants is None else instants)})
    found = weather_scores(archive, FINLAND, issue_instant(today) + 5 * HOUR_S)
    assert [one.variable for one in found] == ["temperature_2m"] * bool(found)
    return found[0].by_days_ahead if found else ()


@pytest.mark.parametrize("today", [TODAY, AFTER_AUTUMN_CHANGE, date(2025, 4, 10)])
def test_errors_grow_by_the_days_ahead_also_across_the_change_of_the_clock(today: date) -> None:
    found = scored(grows_off, today=today)
    assert [one.days_ahead for one in found] == [*LEAD_DAYS]
    assert [one.error for one in found] == pytest.approx([*LEAD_DAYS], abs=1e-5)
    assert [one.correlation for one in found] == pytest.approx([1] * len(found))
    assert {one.days for one in found} == {30}


def test_a_forecast_issued_after_the_issue_time_does_not_count() -> None:
    late = {issue_instant(TODAY - timedelta(days=back)) + 1 for back in range(45)}

    def good_when_late(issued_ts: int, ts: int) -> float:
        return truth(issued_ts, ts) if issued_ts in late else grows_off(issued_ts, ts)

    found = scored(good_when_late, instants=[*four_a_day(TODAY), *late])
    assert [one.error for one in found] == pytest.approx([*LEAD_DAYS], abs=1e-5)


def test_a_source_that_fell_silent_is_not_compared_with_its_own_old_forecast() -> None:
    heard = [ts for ts in four_a_day(TODAY) if ts < day_start(TODAY - timedelta(days=10)) - 12 * HOUR_S]
    assert {one.days for one in scored(grows_off, instants=heard)} == {20}


@pytest.mark.parametrize("days", [3, 6])
def test_a_few_days_are_not_scored(days: int) -> None:
    assert scored(grows_off, instants=four_a_day(TODAY, days)) == ()


def test_weather_that_never_changes_has_no_correlation() -> None:
    assert scored(lambda _, __: 3.0) == ()


def test_nothing_is_scored_where_no_weather_is_known() -> None:
    assert weather_scores(CovariateArchive(), ESTONIA, issue_instant(TODAY)) == ()


@pytest.mark.parametrize(
    ("zone", "places"),
    [("fi", {"fi_raahe", "fi_kokkola", "fi_narpes", "fi_helsinki"}), ("lv", {"lv_kurzeme", "ee_west", "lt_kaunas"})],
)
def test_places_are_those_of_the_zones_region(zone: Zone, places: set[str]) -> None:
    names = scored_covariate_names(MARKETS[zone])
    assert places <= {name.partition("@")[2] for name in names}
    assert {name.partition("@")[0] for name in names} == {"wind_speed_100m", "temperature_2m"}
    assert not any("se_" in name for name in names)

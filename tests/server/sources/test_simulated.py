from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
import pytest

from tests.support.clocks import StillClock
from tunnihind.core.market import DAY_S, HOUR_S, ZONES, PriceLimits, day_end, day_start, publication_time, utc_midnight
from tunnihind.forecast.known_days.season import sine_of_sun_elevation
from tunnihind.known import Floats, IssuedSeries
from tunnihind.settling.day_prices import DayPrices
from tunnihind.settling.sheet import HeldReason, checked_prices, reason_to_doubt
from tunnihind.sources.base import DaySheet
from tunnihind.sources.simulated import SimulatedSource
from tunnihind.sources.simulated_market import SimulatedMarket, relative_load
from tunnihind.weather_points import POINTS, VARIABLES

DAY = date(2025, 12, 15)
LATER = StillClock(4_200_000_000)
FIRST, LAST = date(2024, 1, 1), date(2025, 12, 31)


async def year(seed: int = 1) -> list[DaySheet]:
    return await SimulatedSource(seed, clock=LATER).fetch_sheets(FIRST, LAST)


def hours_of(sheets: Sequence[DaySheet], zone: str = "ee") -> dict[int, float]:
    hours: dict[int, float] = {}
    for sheet in sheets:
        if sheet.zone == zone:
            prices = checked_prices(sheet, PriceLimits(-500, 4000))
            assert not isinstance(prices, HeldReason)
            assert reason_to_doubt(prices) is None
            hours |= DayPrices.of(sheet.day, prices).hours
    return hours


async def test_every_day_of_every_zone_passes_the_gate() -> None:
    sheets = await year()
    assert len(sheets) == ((LAST - FIRST).days + 1) * len(ZONES)
    for zone in ZONES:
        assert list(hours_of(sheets, zone)) == list(range(day_start(FIRST), day_end(LAST), HOUR_S))


@pytest.mark.parametrize(
    ("day", "quotes"),
    [
        (date(2021, 1, 1), 24),
        (date(2025, 3, 30), 23),
        (date(2025, 9, 30), 24),
        (date(2025, 10, 1), 96),
        (date(2025, 10, 26), 100),
        (date(2026, 3, 29), 92),
        (date(2099, 12, 31), 96),
    ],
)
async def test_days_are_traded_in_the_unit_of_their_time(day: date, quotes: int) -> None:
    sheets = await SimulatedSource(clock=LATER).fetch_sheets(day, day)
    assert [len(sheet.quotes) for sheet in sheets] == [quotes] * len(ZONES)


async def test_a_day_is_the_same_whatever_it_is_asked_with() -> None:
    alone = await SimulatedSource(clock=LATER).fetch_sheets(DAY, DAY)
    assert alone == [sheet for sheet in await year() if sheet.day == DAY]
    assert alone != await SimulatedSource(2, clock=LATER).fetch_sheets(DAY, DAY)


async def test_tomorrow_is_published_at_five_to_one_in_brussels() -> None:
    tomorrow = DAY + timedelta(days=1)
    clock = StillClock(publication_time(tomorrow) - 1)
    source = SimulatedSource(clock=clock)
    assert {sheet.day for sheet in await source.fetch_sheets(DAY, tomorrow)} == {DAY}
    await clock.sleep(1)
    assert {sheet.day for sheet in await source.fetch_sheets(DAY, tomorrow + timedelta(days=5))} == {DAY, tomorrow}


async def test_prices_have_the_level_and_the_extremes_of_a_real_market() -> None:
    sheets = await year()
    for zone in ZONES:
        prices = np.array(list(hours_of(sheets, zone).values()))
        assert 55 < prices.mean() < 110
        assert 0.005 < (prices <= 0).mean() < 0.10
        assert np.percentile(prices, 99.9) > 180
        assert prices.min() > -100


async def test_zones_are_coupled_but_not_one() -> None:
    sheets = await year()
    prices = np.array([list(hours_of(sheets, zone).values()) for zone in ZONES])
    correlation = np.corrcoef(prices)
    assert correlation[ZONES.index("lv"), ZONES.index("lt")] > 0.95
    assert 0.6 < correlation[ZONES.index("ee"), ZONES.index("fi")] < 0.95


async def test_wind_lowers_prices_and_evenings_raise_them() -> None:
    hours = hours_of(await year())
    ts = np.array(list(hours), np.float64)
    prices = np.array(list(hours.values()))
    lithuanian = next(point for point in POINTS if point.name == "lt_west")
    wind = SimulatedMarket(1).wind_speed(lithuanian, ts + HOUR_S / 2)
    assert np.corrcoef(wind, prices)[0, 1] < -0.3
    utc_hour = ts // HOUR_S % 24
    assert prices[utc_hour == 16].mean() > prices[utc_hour == 1].mean() + 20


async def test_a_price_of_last_week_is_a_fair_but_beatable_forecast() -> None:
    prices = np.array(list(hours_of(await year()).values()))
    assert 20 < np.abs(prices[168:] - prices[:-168]).mean() < 60


async def test_the_forecast_of_the_weather_reaches_as_far_as_the_real_one() -> None:
    now = day_start(DAY) + 12 * HOUR_S + 77
    found = await SimulatedSource(clock=LATER).newest_forecasts(now)
    assert set(found) == {f"{variable.name}@{point.name}" for variable in VARIABLES for point in POINTS}
    assert SimulatedSource.covariate_names == set(found)
    for issue in found.values():
        assert (issue.issued_ts, issue.start_ts) == (now, now // DAY_S * DAY_S)
        assert issue.values.size == 240
        assert np.isfinite(issue.values).all()


def instants(start_ts: float, hours: int) -> Floats:
    return start_ts + HOUR_S * np.arange(hours, dtype=np.float64)


def truth_of(name: str, issue: IssuedSeries) -> Floats:
    variable = next(one for one in VARIABLES if name.startswith(one.name))
    point = next(one for one in POINTS if name.endswith(one.name))
    ts = instants(issue.start_ts + HOUR_S / 2, issue.values.size)
    return SimulatedMarket(1).weather(variable, point, ts)


async def test_archived_forecasts_err_more_the_longer_their_lead() -> None:
    found = await SimulatedSource(clock=LATER).archived_forecasts(FIRST, date(2024, 12, 31))
    for name in ("wind_speed_100m@ee_parnu", "temperature_2m@ee_tallinn", "shortwave_radiation@lt_kaunas"):
        errors = np.mean([np.abs(issue.values - truth_of(name, issue)) for issue in found[name]], axis=0)
        by_lead = errors[:192].reshape(8, 24).mean(axis=1).tolist()
        assert by_lead == sorted(by_lead)
        assert by_lead[7] > 1.8 * by_lead[1] > 0


async def test_the_archive_has_what_was_the_live_forecast_of_each_morning() -> None:
    days = [DAY + timedelta(days=n) for n in range(3)]
    archived = await SimulatedSource(clock=LATER).archived_forecasts(days[0], days[-1])
    for n, day in enumerate(days):
        for name, live in (await SimulatedSource().newest_forecasts(utc_midnight(day) + 6 * HOUR_S)).items():
            issue = archived[name][n]
            assert (issue.issued_ts, issue.start_ts) == (live.issued_ts, live.start_ts)
            np.testing.assert_allclose(issue.values, live.values, rtol=1e-6)


@pytest.mark.parametrize(("hour", "issues"), [(6, 2), (5, 1)])
async def test_no_archived_forecast_is_issued_in_the_future(hour: int, issues: int) -> None:
    now = utc_midnight(DAY) + hour * HOUR_S
    found = await SimulatedSource(clock=StillClock(now)).archived_forecasts(
        DAY - timedelta(days=1), DAY + timedelta(days=3)
    )
    assert {len(of_name) for of_name in found.values()} == {issues}
    assert all(issue.issued_ts <= now for of_name in found.values() for issue in of_name)
    assert (
        await SimulatedSource(clock=StillClock(now)).archived_forecasts(
            DAY + timedelta(days=1), DAY + timedelta(days=3)
        )
        == {}
    )


def test_the_sun_is_highest_at_noon_in_june_and_down_in_a_winter_night() -> None:
    tallinn = next(point for point in POINTS if point.name == "ee_tallinn")
    june = 1_750_464_000.0  # 2025-06-21T00:00Z
    heights = sine_of_sun_elevation(instants(june, 24), tallinn)
    assert int(heights.argmax()) == 10
    assert np.degrees(np.arcsin(heights.max())) == pytest.approx(54.0, abs=0.5)
    assert sine_of_sun_elevation(np.array([june + 182 * DAY_S]), tallinn)[0] < -0.5


def test_the_load_follows_the_estonian_clock_over_its_changes() -> None:
    midnight = day_start(date(2025, 10, 20)) - HOUR_S
    half_past = midnight + HOUR_S / 2
    before = relative_load("ee", instants(half_past, 24))
    after = relative_load("ee", instants(half_past + 7 * DAY_S + HOUR_S, 24))
    assert before == pytest.approx(after)
    assert int(before.argmax()) == 18


def test_weekends_need_less_load() -> None:
    monday = day_start(date(2025, 10, 13)) - HOUR_S
    by_day = relative_load("ee", instants(monday, 168)).reshape(7, 24).mean(axis=1)
    assert by_day[:5] == pytest.approx(by_day[0])
    assert by_day[5:] == pytest.approx(0.92 * by_day[0])

import math
import re
from datetime import date

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, hours_view, make_run, make_view
from tunnihind.api.answers import forecast_response, series_response
from tunnihind.api.models.price_answers import (
    DayAheadHour,
    ForecastHour,
    ForecastResponse,
    SeriesActual,
    SeriesForecastPoint,
    SeriesResponse,
)
from tunnihind.api.served_data import Percentiles, ServedData
from tunnihind.core.market import (
    DAY_S,
    HOUR_S,
    consumer_price,
    floor_hour,
    free_until,
    hours_of,
    rounded_market_price,
)
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.price_series import PriceSeries
from tunnihind.settings import Settings

SETTINGS = Settings(public_url="https://tunnihind.example")
SPRING = next(iter(hours_of(date(2025, 3, 30))))
AUTUMN = next(iter(hours_of(date(2025, 10, 26))))

prices = st.floats(-500, 4000)


@st.composite
def percentiles(draw: st.DrawFn) -> Percentiles:
    return Percentiles(*sorted(draw(st.lists(prices, min_size=3, max_size=3))))


@st.composite
def runs(draw: st.DrawFn, hour: int) -> Run:
    start = hour + draw(st.integers(-120, 24)) * HOUR_S
    medians = draw(st.lists(st.floats(-490, 3990), min_size=1, max_size=220))
    return make_run(medians, start=start, made_at=start - draw(st.integers(1, 7200)))


@st.composite
def situations(draw: st.DrawFn) -> tuple[ServedData, int]:
    """Draw a view and an instant, on days of 23, 24 and 25 hours, with gaps, and without any of the data."""
    hour = draw(st.sampled_from([HOUR, SPRING, AUTUMN])) + draw(st.integers(-2, 26)) * HOUR_S
    now = hour + draw(st.sampled_from([0, 1, 1800, 3599]))
    offsets = st.integers(-16 * 24, 35)
    settled = draw(st.dictionaries(offsets, prices, max_size=60))
    issued = draw(st.dictionaries(st.integers(-16 * 24, 48), percentiles(), max_size=40))
    view = hours_view(
        "drawn",
        PriceSeries.of("ee", HOUR_S, {hour + offset * HOUR_S: price for offset, price in settled.items()}),
        issued={hour + offset * HOUR_S: point for offset, point in issued.items()},
        run=draw(st.none() | runs(hour)),
        last_refresh=draw(st.none() | st.just(now - 60)),
        backtest=draw(st.none() | st.just(BacktestScore(24.8, 51.2, 0.515, 24))),
    )
    return view, now


def run_hours(view: ServedData) -> list[int]:
    return list(view.hours.run.starts()) if view.hours.run else []


@given(situations())
def test_day_ahead_holds_every_settled_hour_from_the_current_one_in_order(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    served = [hour.ts for hour in forecast_response(view, now, SETTINGS).day_ahead]
    assert served == sorted(ts for ts in view.hours.settled if ts > now - HOUR_S)


@given(situations())
def test_forecast_holds_every_strictly_future_hour_up_to_free_until_in_order(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    answer = forecast_response(view, now, SETTINGS)
    assert [hour.ts for hour in answer.forecast] == [ts for ts in run_hours(view) if now < ts <= answer.free_until]


@given(situations())
def test_gated_says_whether_the_run_holds_hours_past_free_until(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    for answer in (forecast_response(view, now, SETTINGS), series_response(view, now, SETTINGS)):
        assert answer.free_until == free_until(view.newest_settled_ts, now)
        assert answer.gated == any(ts > answer.free_until for ts in run_hours(view))


@given(situations())
def test_consumer_prices_follow_from_the_served_market_prices(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    answer = forecast_response(view, now, SETTINGS)
    series = series_response(view, now, SETTINGS)
    actuals: list[DayAheadHour | SeriesActual] = [*answer.day_ahead, *series.actuals]
    for settled in actuals:
        assert settled.eur_mwh == rounded_market_price(view.hours.settled[settled.ts])
        assert settled.eur_kwh == round(settled.eur_mwh / 1000 * 1.22, 4)
    points: list[ForecastHour | SeriesForecastPoint] = [*answer.forecast, *series.forecast]
    for point in points:
        assert point.p10 <= point.p50 <= point.p90
        assert (point.p10_kwh, point.p50_kwh, point.p90_kwh) == tuple(
            consumer_price(value, 0.22) for value in (point.p10, point.p50, point.p90)
        )


@given(situations())
def test_bodies_decode_strictly_and_hold_neither_minus_zero_nor_a_missing_number(
    situation: tuple[ServedData, int],
) -> None:
    view, now = situation
    forecast, series = forecast_response(view, now, SETTINGS), series_response(view, now, SETTINGS)
    assert msgspec.json.decode(msgspec.json.encode(forecast), type=ForecastResponse) == forecast
    assert msgspec.json.decode(msgspec.json.encode(series), type=SeriesResponse) == series
    assert not re.search(rb"-0\.0+[,}]|NaN|Infinity", msgspec.json.encode([forecast, series]))


@given(situations(), st.integers(0, 99))
def test_actuals_hold_the_window_of_whole_days_and_all_that_is_settled_ahead(
    situation: tuple[ServedData, int], days: int
) -> None:
    view, now = situation
    start = floor_hour(now) - min(max(days, 2), 14) * DAY_S
    served = [actual.ts for actual in series_response(view, now, SETTINGS, days).actuals]
    assert served == sorted(ts for ts in view.hours.settled if ts >= start)


@given(situations(), st.integers(2, 14))
def test_series_forecast_joins_past_and_future_without_doubles(situation: tuple[ServedData, int], days: int) -> None:
    view, now = situation
    answer = series_response(view, now, SETTINGS, days)
    served = [point.ts for point in answer.forecast]
    current = floor_hour(now)
    assert served == sorted(set(served))
    assert [ts for ts in served if ts > now] == [ts for ts in run_hours(view) if now < ts <= answer.free_until]
    issued = {ts for ts in view.hours.issued if current - days * DAY_S <= ts <= current}
    assert issued <= set(served)
    for point in answer.forecast:
        if point.ts in issued:
            assert (point.p10, point.p50, point.p90) == tuple(map(rounded_market_price, view.hours.issued[point.ts]))


@given(situations())
def test_summary_of_settled_hours_looks_from_the_current_hour_on(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    answer = series_response(view, now, SETTINGS)
    ahead = {ts: rounded_market_price(price) for ts, price in view.hours.settled.items() if ts >= floor_hour(now)}
    assert (answer.current.ts if answer.current else None) == (floor_hour(now) if floor_hour(now) in ahead else None)
    assert (answer.cheapest is None, answer.priciest is None) == (not ahead, not ahead)
    if answer.cheapest and answer.priciest:
        assert answer.cheapest.eur_mwh == min(ahead.values())
        assert answer.priciest.eur_mwh == max(ahead.values())
        assert {answer.cheapest.ts, answer.priciest.ts} <= set(ahead)


@given(situations())
def test_summary_of_forecast_hours_looks_past_the_newest_settled_one(situation: tuple[ServedData, int]) -> None:
    view, now = situation
    answer = series_response(view, now, SETTINGS)
    newest = max(view.hours.settled, default=0)
    medians = {point.ts: point.p50 for point in answer.forecast if point.ts > max(newest, now)}
    assert (answer.cheapest_forecast is None, answer.priciest_forecast is None) == (not medians, not medians)
    if answer.cheapest_forecast and answer.priciest_forecast:
        assert answer.cheapest_forecast.p50 == min(medians.values())
        assert answer.priciest_forecast.p50 == max(medians.values())


@given(situations(), st.integers(0, 3599))
def test_within_an_hour_only_now_and_a_moving_free_until_change(situation: tuple[ServedData, int], second: int) -> None:
    view, now = situation
    start = floor_hour(now)

    def shown(at: int) -> tuple[object, object]:
        forecast, series = forecast_response(view, at, SETTINGS), series_response(view, at, SETTINGS)
        return (
            msgspec.structs.replace(forecast, now=0, free_until=0),
            msgspec.structs.replace(series, now=0, free_until=0),
        )

    assert shown(start) == shown(start + second)


def test_an_hour_begun_since_the_view_was_read_shows_what_had_been_said_before_it() -> None:
    issued = {HOUR: Percentiles(1.0, 2.0, 3.0), HOUR + HOUR_S: Percentiles(-5.0, 5.0, 15.0)}
    view = make_view({}, make_run([5.0, 6.0, 7.0]), issued=issued)
    points = series_response(view, HOUR + HOUR_S + 1, SETTINGS).forecast
    assert [(point.ts, point.p50) for point in points[:2]] == [(HOUR, 2.0), (HOUR + HOUR_S, 5.0)]


def test_a_tiny_negative_price_is_served_as_zero_without_a_sign() -> None:
    answer = forecast_response(make_view({HOUR: -0.004}, None), HOUR, SETTINGS)
    price = answer.day_ahead[0]
    assert (price.eur_mwh, math.copysign(1, price.eur_mwh), math.copysign(1, price.eur_kwh)) == (0.0, 1.0, 1.0)


def test_consumer_prices_use_the_vat_rate_that_is_set() -> None:
    answer = forecast_response(make_view({HOUR: 100.0}, None), HOUR, Settings(vat_rate=0.24))
    assert answer.day_ahead[0].eur_kwh == 0.124


def test_the_largest_forecast_fits_into_a_rest_sensor_of_home_assistant() -> None:
    settled = {HOUR + i * HOUR_S: -1234.56 - i / 100 for i in range(35)}
    view = hours_view(
        "largest",
        PriceSeries.of("ee", HOUR_S, settled),
        run=make_run([-1234.56 - i / 100 for i in range(200)]),
        last_refresh=HOUR,
        backtest=BacktestScore(27.111234567890123, 55.721234567890123, 0.51345678901234567, 24),
    )
    answer = forecast_response(view, HOUR + 3599, Settings(public_url=f"https://{'a' * 60}.example"))
    assert (len(answer.day_ahead), len(answer.forecast)) == (35, 72)
    assert len(msgspec.json.encode(answer)) < 16_384

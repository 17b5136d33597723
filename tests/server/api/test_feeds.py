"""Feeds as their programs read them, each program by its own rules (`price_readers`)."""

import json
import re
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import Serve, make_run
from tests.support.clocks import local
from tests.support.household.price_readers import EvccTariff, PredbatRates, emhass_steps, eos_prices
from tests.support.store.pipelines import quarters_of
from tunnihind.api.feeds import (
    FEED_FORMATS,
    PERCENTILES,
    PRICE_KINDS,
    VAT_RATE_FIELD,
    FeedFormat,
    FeedRequest,
    feed_answer,
)
from tunnihind.api.served_data import ServedData, ServedSeries, issued_forecasts, runs_at_step
from tunnihind.core.market import (
    DAY_S,
    ESTONIA,
    HOUR_S,
    QUARTER_S,
    consumer_price,
    day_end,
    day_start,
    rounded_market_price,
)
from tunnihind.errors import NoPriceAhead
from tunnihind.price_series import PriceSeries
from tunnihind.settings import Settings

SETTINGS: Final = Settings()
DAY: Final = date(2025, 12, 15)
NOW: Final = local("2025-12-15 12:10")
VAT: Final = 0.24
"""The legal rate of these days."""
STEPS: Final = (QUARTER_S, HOUR_S)

both_steps = pytest.mark.parametrize("step_s", STEPS)


def price(ts: int) -> float:
    """Return a settled price. All quarters differ, and some are negative."""
    return round(-60.01 + ts // QUARTER_S % 193 * 1.37, 2)


def median(ts: int) -> float:
    """Return the forecast of an hour."""
    return round(1000.0 + ts // HOUR_S % 97 * 1.5, 2)


def view(settled: dict[int, float], now: int, hours: int = 150) -> ServedData:
    """Return settled quarters, and runs made in each of the last 40 hours before `now`."""
    quarters = PriceSeries.of("ee", QUARTER_S, settled)
    whole = quarters.means(HOUR_S)
    current = now - now % HOUR_S
    made = [current - back * HOUR_S for back in range(40)] if hours else []
    runs = [
        make_run([median(at + n * HOUR_S) for n in range(1, hours + 1)], start=at + HOUR_S, made_at=at) for at in made
    ]
    quarter_runs = [quarters_of(run) for run in runs]
    series = {
        step_s: replace(
            ServedSeries.of(whole, prices),
            issued=issued_forecasts(runs_at_step(runs, of, step_s)),
            run=of[0] if of else None,
        )
        for step_s, prices, of in ((HOUR_S, whole, runs), (QUARTER_S, quarters, quarter_runs))
    }
    return ServedData("1", ESTONIA, series)


def quarters_between(start: int, end: int) -> dict[int, float]:
    return {ts: price(ts) for ts in range(start, end, QUARTER_S)}


def ordinary(now: int = NOW) -> ServedData:
    """Return a view of three days that are settled to the end of the current delivery day."""
    return view(quarters_between(now - now % HOUR_S - 2 * DAY_S, day_end(DAY)), now)


def best_known(data: ServedData, step_s: int) -> dict[int, float]:
    """Return each period's settled price, otherwise its median, EUR/MWh. Periods with neither are left out."""
    series = data.at_step(step_s)
    run = series.run
    ahead = dict(zip(run.starts(), run.p50.tolist(), strict=True)) if run else {}
    return {ts: said.p50 for ts, said in series.issued.items()} | ahead | dict(series.settled)


def text_of(
    data: ServedData, reader: FeedFormat, *, now: int = NOW, step_s: int = QUARTER_S, price: str = "consumer"
) -> str:
    body, _ = feed_answer(data, now, SETTINGS, FeedRequest(reader, step_s, price))
    return msgspec.json.encode(body).decode()


def starts_of(data: ServedData, now: int, step_s: int = QUARTER_S, settings: Settings = SETTINGS) -> list[int]:
    try:
        starts = [*prices_of(data, now, settings, FeedRequest("emhass", step_s, "market"))]
    except NoPriceAhead:
        return []
    assert all(late - early == step_s for early, late in pairwise(starts))
    return starts


def prices_of(data: ServedData, now: int, settings: Settings, feed: FeedRequest) -> dict[int, float]:
    """Return the prices of a feed for EMHASS by the start of their period."""
    body, _ = feed_answer(data, now, settings, feed)
    assert isinstance(body, dict)
    return {int(datetime.fromisoformat(start).timestamp()): price for start, price in body.items()}


@both_steps
@pytest.mark.parametrize("kind", PRICE_KINDS)
def test_evcc_has_a_price_from_midnight_to_the_end_of_what_is_served(step_s: int, kind: str) -> None:
    data = ordinary()
    tariff = EvccTariff.read(text_of(data, "evcc", step_s=step_s, price=kind))
    known = best_known(data, step_s)
    end = day_end(DAY) + 48 * HOUR_S
    for ts in range(local("2025-12-15 00:00"), end, QUARTER_S):
        market = rounded_market_price(known[ts - ts % step_s])
        expected = consumer_price(market, VAT) if kind == "consumer" else market / 1000
        assert tariff.at(ts) == pytest.approx(expected, abs=1e-9)
        assert tariff.at(ts + QUARTER_S - 1) == tariff.at(ts)
    assert tariff.at(end) is None
    assert tariff.at(local("2025-12-14 23:59")) is None


@both_steps
def test_emhass_plans_a_day_from_now_on_with_the_price_of_each_step(step_s: int) -> None:
    data = ordinary()
    text = text_of(data, "emhass", step_s=step_s, price="market")
    known = best_known(data, step_s)
    start = NOW - NOW % step_s
    taken = emhass_steps(text, start, 24 * HOUR_S // step_s, step_s)
    assert taken == pytest.approx([rounded_market_price(known[start + n * step_s]) / 1000 for n in range(len(taken))])


@both_steps
def test_predbat_knows_every_minute_in_cents_and_none_of_the_day_before(step_s: int) -> None:
    data = ordinary()
    midnight, end = local("2025-12-15 00:00"), day_end(DAY) + 48 * HOUR_S
    rates = PredbatRates.read([text_of(data, "octopus", step_s=step_s)], midnight)
    assert [*sorted(rates.minutes)] == [*range((end - midnight) // 60)]
    known = best_known(data, step_s)
    for ts in range(midnight, end, QUARTER_S):
        expected = 100 * consumer_price(rounded_market_price(known[ts - ts % step_s]), VAT)
        assert rates.at(ts) == rates.at(ts + QUARTER_S - 60) == pytest.approx(expected, abs=1e-9)


@both_steps
def test_eos_imports_a_price_per_wh_for_each_step_from_midnight_on(step_s: int) -> None:
    data = ordinary()
    imported = eos_prices(text_of(data, "eos", step_s=step_s, price="market"))
    assert [*imported] == [*range(local("2025-12-15 00:00"), day_end(DAY) + 48 * HOUR_S, step_s)]
    known = best_known(data, step_s)
    assert imported == pytest.approx({ts: rounded_market_price(known[ts]) / 1e6 for ts in imported}, abs=1e-12)


@pytest.mark.parametrize("percentile", PERCENTILES)
def test_a_percentile_applies_to_the_forecast_and_not_to_settled_prices(percentile: str) -> None:
    data = ordinary()
    run = data.hours.run
    assert run
    forecast = dict(zip(run.starts(), getattr(run, percentile).tolist(), strict=True)) | dict(data.hours.settled)
    got = prices_of(data, NOW, SETTINGS, FeedRequest("emhass", HOUR_S, "market", percentile))
    assert got == pytest.approx({ts: rounded_market_price(forecast[ts]) / 1000 for ts in got})


def test_octopuss_form_is_one_page_with_the_newest_first() -> None:
    body = msgspec.json.decode(text_of(ordinary(), "octopus"))
    assert body.keys() == {"count", "next", "previous", "results"}
    assert (body["next"], body["previous"]) == (None, None)
    starts = [rate["valid_from"] for rate in body["results"]]
    assert starts == sorted(starts, reverse=True)
    assert body["count"] == len(starts)
    assert all(len(str(rate["value_inc_vat"]).partition(".")[2]) <= 3 for rate in body["results"])


def test_all_times_are_utc_with_a_z() -> None:
    data = ordinary()
    times = [*msgspec.json.decode(text_of(data, "emhass"))]
    times += [rate[name] for rate in msgspec.json.decode(text_of(data, "evcc")) for name in ("start", "end")]
    results = msgspec.json.decode(text_of(data, "octopus"))["results"]
    times += [rate[name] for rate in results for name in ("valid_from", "valid_to")]
    assert {time[-1] for time in times} == {"Z"}


@pytest.mark.parametrize(
    ("day", "quarters"), [("2025-10-26", 100), ("2026-03-29", 92), ("2025-12-15", 96)], ids=["100", "92", "96"]
)
def test_a_day_has_as_many_quarters_as_the_estonian_clock_gives_it(day: str, quarters: int) -> None:
    now = local(f"{day} 12:10")
    data = view(quarters_between(now - now % HOUR_S - 2 * DAY_S, day_end(date.fromisoformat(day))), now)
    starts = starts_of(data, now)
    tomorrow = ESTONIA.midnight(date.fromisoformat(day) + timedelta(days=1))
    assert starts[0] == local(f"{day} 00:00")
    assert starts.index(tomorrow) == quarters


@pytest.mark.parametrize(
    ("at", "first"),
    [
        ("2025-12-14 23:59", "2025-12-14 00:00"),
        ("2025-12-15 00:00", "2025-12-15 00:00"),
        ("2025-12-15 00:59", "2025-12-15 00:00"),  # the delivery day of the 14th
        ("2025-12-15 01:00", "2025-12-15 00:00"),
        ("2025-12-15 01:59", "2025-12-15 00:00"),  # the 14th in UTC
        ("2025-12-15 02:00", "2025-12-15 00:00"),
    ],
)
def test_today_begins_at_estonian_midnight_not_at_that_of_the_market_or_utc(at: str, first: str) -> None:
    assert starts_of(ordinary(local(at)), local(at))[0] == local(first)


@both_steps
def test_while_tomorrows_publication_is_late_the_forecast_follows_without_a_gap(step_s: int) -> None:
    now = local("2025-12-15 23:30")
    data = view(quarters_between(now - now % HOUR_S - 2 * DAY_S, day_end(DAY)), now)
    starts = starts_of(data, now, step_s)
    assert starts[0] == local("2025-12-15 00:00")
    assert starts[-1] + step_s == day_end(DAY) + 48 * HOUR_S


@both_steps
def test_an_unsettled_day_has_what_was_forecast_before_each_of_its_periods(step_s: int) -> None:
    data = view(quarters_between(day_start(DAY) - 2 * DAY_S, day_start(DAY)), NOW)
    known = best_known(data, step_s)
    tariff = EvccTariff.read(text_of(data, "evcc", step_s=step_s, price="market"))
    for ts in range(local("2025-12-15 01:00"), day_start(DAY) + 48 * HOUR_S, QUARTER_S):
        period = ts - ts % step_s
        assert period not in dict(data.hours.settled)
        assert tariff.at(ts) == pytest.approx(rounded_market_price(known[period]) / 1000)


def test_before_a_gap_only_the_periods_with_the_current_one_are_served() -> None:
    lost = local("2025-12-15 20:00")
    settled = quarters_between(NOW - NOW % HOUR_S - 2 * DAY_S, day_end(DAY))
    data = view({ts: at for ts, at in settled.items() if not lost <= ts < lost + HOUR_S}, NOW, hours=0)
    assert starts_of(data, NOW) == [*range(local("2025-12-15 00:00"), lost, QUARTER_S)]
    later = lost + 2 * HOUR_S
    assert starts_of(data, later) == [*range(lost + HOUR_S, day_end(DAY), QUARTER_S)]


def test_a_server_that_knows_nothing_of_the_current_period_on_has_no_feed() -> None:
    stale = view(quarters_between(day_start(DAY), local("2025-12-15 11:00")), NOW, hours=0)
    for reader in FEED_FORMATS:
        for data in (ServedData("empty", ESTONIA), stale):
            with pytest.raises(NoPriceAhead):
                feed_answer(data, NOW, SETTINGS, FeedRequest(reader, QUARTER_S, "consumer"))


@pytest.mark.parametrize(
    ("reader", "kind", "value"),
    [
        ("evcc", "consumer", -0.0744),
        ("evcc", "market", -0.06001),
        ("emhass", "consumer", -0.0744),
        ("emhass", "market", -0.06001),
        ("octopus", "consumer", -7.44),
        ("octopus", "market", -6.001),
        ("eos", "market", -6.001e-05),
    ],
)
def test_negative_prices_keep_their_sign_and_nothing_is_minus_zero(reader: FeedFormat, kind: str, value: float) -> None:
    settled = dict.fromkeys(quarters_between(day_start(DAY), day_end(DAY)), -0.002)
    text = text_of(view(settled | {NOW - NOW % QUARTER_S: -60.01}, NOW, hours=0), reader, price=kind)
    numbers = re.findall(r"(?<=[:,\[])-?[0-9][-0-9.e]*(?=[,}\]])", text)
    assert {float(number) for number in numbers if number not in {"0.0", "95", "96"}} == {value}
    assert "-0.0" not in numbers


@both_steps
def test_a_private_server_serves_the_whole_forecast(step_s: int) -> None:
    data, settings = ordinary(), replace(SETTINGS, full_horizon=True)
    assert data.hours.run is not None
    assert starts_of(data, NOW, step_s, settings)[-1] + step_s == data.hours.run.end_ts
    assert starts_of(data, NOW, step_s)[-1] + step_s == day_end(DAY) + 48 * HOUR_S < data.hours.run.end_ts


@given(
    known=st.sets(st.integers(0, 40)),
    forecast=st.integers(0, 60),
    passed_s=st.integers(0, 30 * HOUR_S),
    step_s=st.sampled_from(STEPS),
)
def test_whatever_is_known_a_feed_has_no_gap_and_reaches_past_now(
    known: set[int], forecast: int, passed_s: int, step_s: int
) -> None:
    first = local("2025-12-14 22:00")
    now = first + passed_s
    hours = {first + n * HOUR_S for n in known}
    data = view({ts + n * QUARTER_S: 1.0 for ts in hours for n in range(4)}, now, hours=forecast)
    starts = starts_of(data, now, step_s)
    if starts:
        assert starts[-1] + step_s > now
    if now - now % HOUR_S in hours:
        assert now - now % step_s in starts


LAW_CHANGES: Final = local("2025-07-01 00:00")


@pytest.mark.parametrize(
    ("settings", "kind", "now", "before", "after", "named"),
    [
        (Settings(), "consumer", LAW_CHANGES - HOUR_S, 0.22, 0.24, f"0.22, 0.24;from={LAW_CHANGES}"),
        (Settings(), "consumer", LAW_CHANGES + HOUR_S, None, 0.24, "0.24"),
        (Settings(), "consumer", LAW_CHANGES - 9 * DAY_S, 0.22, None, "0.22"),
        # The legal rate doesn't count as an operator's choice.
        (Settings(vat_rate=0.24), "consumer", LAW_CHANGES - HOUR_S, 0.22, 0.24, f"0.22, 0.24;from={LAW_CHANGES}"),
        (Settings(vat_rate=0.09), "consumer", LAW_CHANGES - HOUR_S, 0.09, 0.09, "0.09"),
        (Settings(vat_rate=0.0), "consumer", LAW_CHANGES - HOUR_S, 0.0, 0.0, "0"),
        (Settings(vat_rate=0.09), "market", LAW_CHANGES - HOUR_S, 0.0, 0.0, "0"),
    ],
    ids=["change", "after", "before", "law", "chosen", "chosen none", "market"],
)
@both_steps
def test_prices_have_the_vat_of_their_date_or_the_operators(
    settings: Settings, kind: str, now: int, before: float | None, after: float | None, named: str, step_s: int
) -> None:
    start = ESTONIA.midnight(datetime.fromtimestamp(now, ESTONIA.time_zone).date())
    # The second day is settled to its middle, so both sides of a change have settled prices and medians.
    data = view(quarters_between(now - now % HOUR_S - 2 * DAY_S, start + 36 * HOUR_S), now)
    known = best_known(data, step_s)
    feed = FeedRequest("emhass", step_s, kind)
    _, fields = feed_answer(data, now, settings, feed)
    assert fields == {VAT_RATE_FIELD: named}
    for ts, eur_kwh in prices_of(data, now, settings, feed).items():
        vat = before if ts < LAW_CHANGES else after
        assert vat is not None
        assert eur_kwh == pytest.approx(rounded_market_price(known[ts]) / 1000 * (1 + vat), abs=0.000051)


@pytest.mark.parametrize("reader", FEED_FORMATS)
async def test_the_rate_is_in_the_header_of_answers_and_of_304s(serve: Serve, reader: FeedFormat) -> None:
    server = await serve(ordinary(), now=NOW)
    path = f"/api/feeds/{reader}"
    first = await server.ask(path)
    for answer in (
        first,
        await server.ask(path, method="HEAD"),
        await server.ask(path, "Accept-Encoding: gzip"),
        await server.ask(path, f"If-None-Match: {first.headers['ETag']}"),
    ):
        assert answer.headers["Tunnihind-VAT-Rate"] == "0.24"
        assert "Tunnihind-VAT-Rate" in answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert (await server.ask(f"{path}?price=market")).headers["Tunnihind-VAT-Rate"] == "0"
    assert "vat_rate" not in first.body.decode().lower()


@pytest.mark.parametrize("path", ["forecast", "quarters", "scenarios"])
async def test_the_specified_rate_stays_where_the_feeds_go_by_the_law(serve: Serve, path: str) -> None:
    answer = await (await serve()).ask(f"/api/v1/{path}")
    assert "Tunnihind-VAT-Rate" not in answer.headers
    [hour, *_] = json.loads(answer.body)["dayAhead"]
    assert hour["eurKwh"] == round(hour["eurMwh"] / 1000 * 1.22, 4)

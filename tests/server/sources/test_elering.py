import json
import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession
from hypothesis import given
from hypothesis import strategies as st

from tests.support.upstreams import FakeElering
from tests.support.upstreams.elering import flat_quotes
from tunnihind.core.market import HOUR_S, QUARTER_S, ZONES, PriceLimits, day_end, day_start, publication_time
from tunnihind.errors import BadAnswer, SourceRefused
from tunnihind.settling.sheet import HeldReason, ReasonCode, checked_prices
from tunnihind.sources.base import DaySheet
from tunnihind.sources.elering import EleringPrices, parse_sheets

DAY = date(2025, 12, 15)
ROW = '{"success":true,"data":{"ee":[{"timestamp":%s,"price":%s}]}}'


async def fetch(session: ClientSession, server: FakeElering, first: date, last: date) -> list[DaySheet]:
    return await EleringPrices(session, f"{server.url}/api").fetch_sheets(first, last)


async def test_all_four_zones_come_in_one_request_as_sheets_by_delivery_day(session: ClientSession) -> None:
    quotes = flat_quotes(DAY - timedelta(days=1), DAY + timedelta(days=2), QUARTER_S)
    async with FakeElering(quotes) as server:
        sheets = await fetch(session, server, DAY, DAY + timedelta(days=1))
    assert len(server.requests) == 1
    assert {(sheet.zone, sheet.day) for sheet in sheets} == {
        (zone, day) for zone in ZONES for day in (DAY, DAY + timedelta(days=1))
    }
    for sheet in sheets:
        assert sheet.source == "elering"
        assert dict(sheet.quotes) == {
            ts: price for ts, price in quotes[sheet.zone].items() if day_start(sheet.day) <= ts < day_end(sheet.day)
        }


async def test_asks_in_utc_up_to_the_last_second_of_the_day_because_the_end_is_included(session: ClientSession) -> None:
    async with FakeElering(flat_quotes(DAY, DAY, QUARTER_S)) as server:
        await fetch(session, server, DAY, DAY)
    assert server.requests == [{"start": "2025-12-14T23:00:00Z", "end": "2025-12-15T22:59:59Z"}]


@pytest.mark.parametrize(
    ("day", "step_s", "quotes"),
    [
        (date(2026, 3, 29), QUARTER_S, 92),
        (date(2025, 10, 26), QUARTER_S, 100),
        (date(2025, 3, 30), HOUR_S, 23),
        (date(2024, 10, 27), HOUR_S, 25),
    ],
)
async def test_days_of_a_clock_change_are_whole(session: ClientSession, day: date, step_s: int, quotes: int) -> None:
    around = flat_quotes(day - timedelta(days=1), day + timedelta(days=1), step_s)
    async with FakeElering(around) as server:
        sheets = await fetch(session, server, day, day)
    assert [len(sheet.quotes) for sheet in sheets] == [quotes] * len(ZONES)


async def test_years_are_asked_for_in_quarters(session: ClientSession) -> None:
    first, last = date(2021, 1, 1), date(2025, 3, 1)
    async with FakeElering(flat_quotes(first, last, HOUR_S)) as server:
        sheets = await fetch(session, server, first, last)
    spans = [[datetime.fromisoformat(query[edge]) for edge in ("start", "end")] for query in server.requests]
    assert len(spans) == 17
    assert all(end - start <= timedelta(days=92, hours=1) for start, end in spans)
    estonian = [sheet.day for sheet in sheets if sheet.zone == "ee"]
    assert estonian == [first + timedelta(days=n) for n in range((last - first).days + 1)]


async def test_a_day_that_is_not_published_has_no_sheet(session: ClientSession) -> None:
    tomorrow = DAY + timedelta(days=1)
    quotes = flat_quotes(DAY, tomorrow, QUARTER_S)
    async with FakeElering(quotes, now=lambda: publication_time(tomorrow) - 1) as server:
        sheets = await fetch(session, server, DAY, tomorrow)
    assert {sheet.day for sheet in sheets} == {DAY}


async def test_part_of_a_day_is_a_sheet_for_the_check_to_refuse(session: ClientSession) -> None:
    async with FakeElering(flat_quotes(DAY, DAY, QUARTER_S)) as server:
        server.cut(DAY, 12)
        sheets = await fetch(session, server, DAY, DAY)
    assert checked_prices(sheets[0], PriceLimits(-500, 4000)) == HeldReason(ReasonCode.INCOMPLETE, "12 of 96 quarters")


async def test_a_day_of_zeros_is_a_sheet_for_the_rule_to_doubt(session: ClientSession) -> None:
    async with FakeElering(flat_quotes(DAY, DAY, QUARTER_S)) as server:
        server.zero(DAY)
        sheets = await fetch(session, server, DAY, DAY)
    assert checked_prices(sheets[0], PriceLimits(-500, 4000)) == (0.0,) * 96


async def test_a_burst_of_503_costs_nothing(session: ClientSession) -> None:
    async with FakeElering(flat_quotes(DAY, DAY, QUARTER_S)) as server:
        server.fail(times=3, status=503)
        assert len(await fetch(session, server, DAY, DAY)) == len(ZONES)


async def test_a_refusal_carries_the_words_of_the_source(session: ClientSession) -> None:
    async with FakeElering({}) as server:
        server.say(b'{"status":400,"messages":["Maximum period is 1 year"]}', status=400)
        with pytest.raises(SourceRefused, match="Maximum period is 1 year"):
            await fetch(session, server, DAY, DAY)


async def test_rows_may_come_in_any_order(session: ClientSession) -> None:
    starts = list(range(day_start(DAY), day_end(DAY), HOUR_S))
    rows = [{"timestamp": ts, "price": ts % 7} for ts in reversed(starts)]
    async with FakeElering({}) as server:
        server.say(json.dumps({"success": True, "data": {"ee": rows}}).encode())
        (sheet,) = await fetch(session, server, DAY, DAY)
    assert [quote.ts for quote in sheet.quotes] == starts


@pytest.mark.parametrize(
    ("stamp", "price", "place"),
    [
        ("1765753200", '"12.5"', r"\$\[1\]\.price"),
        ("1765753200", "null", r"\$\[1\]\.price"),
        ("1765753200", "1e999", r"\$\[1\]\.price"),
        *(("1765753200", price, "malformed") for price in ("NaN", "-Infinity", "1_0", "1,5", "", "1 2", "..")),
        ("1765753200000", "12.5", r"\$\[1\]\.timestamp"),
        ("0", "12.5", r"\$\[1\]\.timestamp"),
        ('"2025-12-15T00:00:00Z"', "12.5", r"\$\[1\]\.timestamp"),
        ("", "12.5", "malformed"),
    ],
)
@pytest.mark.parametrize("broken", ZONES)
async def test_a_bad_row_is_named_and_costs_its_own_zone_alone(
    session: ClientSession, broken: str, stamp: str, price: str, place: str
) -> None:
    quotes = flat_quotes(DAY, DAY, HOUR_S)
    rows = {zone: [{"timestamp": ts, "price": value} for ts, value in quotes[zone].items()] for zone in ZONES}
    # Only the second row of one zone is bad.
    body = json.dumps({"success": True, "data": {zone: ["BAD", "BAD", *rows[zone][2:]] for zone in ZONES}})
    for zone in ZONES:
        bad = f'{{"timestamp":{stamp},"price":{price}}}' if zone == broken else json.dumps(rows[zone][1])
        body = body.replace('"BAD"', json.dumps(rows[zone][0]), 1).replace('"BAD"', bad, 1)
    async with FakeElering({}) as server:
        server.say(body.encode())
        sheets = {sheet.zone: sheet for sheet in await fetch(session, server, DAY, DAY)}
    assert set(sheets) == set(ZONES)
    for zone, sheet in sheets.items():
        verdict = checked_prices(sheet, PriceLimits(-500, 4000))
        if zone == broken:
            assert isinstance(verdict, HeldReason)
            assert verdict.reason == "unreadable"
            assert re.search(place, verdict.detail)
        else:
            assert isinstance(verdict, tuple)


@pytest.mark.parametrize("rows", ["{}", "null", "", "[", "1_0"])
async def test_rows_that_are_no_list_are_a_fault_of_every_day_that_was_asked_for(
    session: ClientSession, rows: str
) -> None:
    async with FakeElering({}) as server:
        server.say(b'{"success":true,"data":{"fi":%s,"ee":[]}}' % rows.encode())
        sheets = await fetch(session, server, DAY, DAY + timedelta(days=1))
    assert [(sheet.zone, sheet.day.day, "rows can't be read" in sheet.fault) for sheet in sheets] == [
        ("fi", 15, True),
        ("fi", 16, True),
    ]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (ROW % ("1765753200", "NaN"), "malformed"),
        ('{"success":false,"data":{"lv":[],"ee":[NaN]}}', "malformed"),
        ('{"success":true,"data":[]}', r"\$\.data"),
        ('{"success":false,"messages":[]}', "reports a failure"),
        ('{"success":true}', "no prices"),
        ("{}", "success"),
        ("<html>Just a moment...</html>", "malformed"),
        ("", "truncated"),
        ("[" * 100_000, "object"),
    ],
)
def test_a_malformed_answer_is_refused_with_its_place(body: str, place: str) -> None:
    with pytest.raises(BadAnswer, match=f"^elering: .*{place}"):
        parse_sheets(body.encode(), DAY, DAY)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["ee", "data", "price"]), inner),
    max_leaves=8,
)
row_like = st.dictionaries(st.sampled_from(["timestamp", "price"]), json_values)
answer_like = st.fixed_dictionaries({"success": json_values, "data": st.fixed_dictionaries({"ee": st.lists(row_like)})})


@given(body=st.binary() | st.text().map(str.encode) | (json_values | answer_like).map(json.dumps).map(str.encode))
def test_no_answer_raises_anything_but_bad_answer(body: bytes) -> None:
    with suppress(BadAnswer):
        parse_sheets(body, DAY, DAY)


@pytest.mark.parametrize(
    ("file", "day", "verdict"),
    [
        ("nps_price_15min_2025-12-05_partial92.json", date(2025, 12, 5), "92 of 96 quarters"),
        ("nps_price_15min_2026-03-29_dst_spring_partial.json", date(2026, 3, 29), "88 of 92 quarters"),
        ("nps_price_15min_2026-08-22_partial.json", date(2026, 8, 22), "88 of 96 quarters"),
        ("nps_price_hourly_2024-11-11.json", date(2024, 11, 11), "settled"),
        ("nps_price_hourly_2024-11-11.json", date(2024, 11, 17), "18 of 24 hours"),
    ],
)
async def test_recorded_answers(session: ClientSession, shared: Path, file: str, day: date, verdict: str) -> None:
    async with FakeElering({}) as server:
        server.say((shared / "fixtures/elering" / file).read_bytes())
        sheets = await fetch(session, server, day, day)
    for judged in (checked_prices(sheet, PriceLimits(-500, 4000)) for sheet in sheets):
        assert verdict == (judged.detail if isinstance(judged, HeldReason) else "settled")

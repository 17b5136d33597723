import logging
import traceback
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType
from xml.etree.ElementTree import Element, SubElement

import pytest
from aiohttp import ClientSession, web

from tests.support.upstreams import FakeEntsoe
from tests.support.upstreams.elering import flat_quotes
from tests.support.upstreams.entsoe import TOKEN
from tunnihind.core.market import HOUR_S, QUARTER_S, ZONES, day_end, day_start
from tunnihind.errors import BadAnswer, RateLimited, SourceError, SourceRefused, TokenRefused
from tunnihind.sources.base import DaySheet, Quote
from tunnihind.sources.entsoe import AREA_CODES, EntsoePlatform, EntsoePrices, price_sheets
from tunnihind.sources.entsoe_xml import Period, TimeSeries

DAY = date(2025, 12, 15)
START = day_start(DAY)
SEQUENCE = "classificationSequence_AttributeInstanceComponent.position"


async def fetch(
    session: ClientSession, server: FakeEntsoe, first: date, last: date, token: str = TOKEN
) -> list[DaySheet]:
    return await EntsoePrices(EntsoePlatform(session, f"{server.url}/api", token), ZONES).fetch_sheets(first, last)


def series(
    values: list[float], step_s: int = HOUR_S, attributes: Mapping[str, str] = MappingProxyType({})
) -> TimeSeries:
    given = {
        "in_Domain.mRID": "10Y1001A1001A39I",
        "currency_Unit.name": "EUR",
        "price_Measure_Unit.name": "MWH",
        **attributes,
    }
    return TimeSeries(given, (Period(START, step_s, tuple(values)),))


def sheet(*found: TimeSeries) -> Mapping[int, float]:
    sheets = price_sheets("ee", found, DAY, DAY)
    return dict(sheets[0].quotes) if sheets else {}


def test_the_codes_of_the_areas() -> None:
    assert dict(AREA_CODES) == {
        "ee": "10Y1001A1001A39I",
        "lv": "10YLV-1001A00074",
        "lt": "10YLT-1001A0008Q",
        "fi": "10YFI-1--------U",
        "se3": "10Y1001A1001A46L",
        "se4": "10Y1001A1001A47J",
        "pl": "10YPL-AREA-----S",
    }


@pytest.mark.parametrize(
    ("day", "step_s"),
    [
        (DAY, QUARTER_S),
        (date(2026, 3, 29), QUARTER_S),
        (date(2025, 10, 26), QUARTER_S),
        (date(2024, 10, 27), HOUR_S),
    ],
)
async def test_every_price_of_all_zones_comes_through(session: ClientSession, day: date, step_s: int) -> None:
    quotes = flat_quotes(day, day, step_s)
    async with FakeEntsoe(quotes) as server:
        sheets = await fetch(session, server, day, day)
    assert {sheet.zone: dict(sheet.quotes) for sheet in sheets} == quotes


async def test_asks_for_the_delivery_day_in_utc(session: ClientSession) -> None:
    async with FakeEntsoe(flat_quotes(DAY, DAY, QUARTER_S)) as server:
        await fetch(session, server, DAY, DAY)
    assert server.requests[0] == {
        "documentType": "A44",
        "in_Domain": "10Y1001A1001A39I",
        "out_Domain": "10Y1001A1001A39I",
        "contract_MarketAgreement.type": "A01",
        "periodStart": "202512142300",
        "periodEnd": "202512152300",
        "securityToken": TOKEN,
    }


async def test_repeated_prices_left_out_at_the_end_of_the_day_are_there(session: ClientSession) -> None:
    quotes = flat_quotes(DAY, DAY, QUARTER_S)
    last_hour = day_end(DAY) - HOUR_S
    for prices in quotes.values():
        prices |= {ts: 12.34 for ts in prices if ts >= last_hour}
    async with FakeEntsoe(quotes) as server:
        sheets = await fetch(session, server, DAY, DAY)
    assert {sheet.zone: dict(sheet.quotes) for sheet in sheets} == quotes


@pytest.mark.parametrize("status", [200, 400])
async def test_no_matching_data_is_no_sheet(session: ClientSession, status: int) -> None:
    async with FakeEntsoe({}, no_data_status=status) as server:
        assert await fetch(session, server, DAY, DAY) == []
        assert len(server.requests) == len(ZONES)


async def test_a_zone_without_data_does_not_cost_the_others_theirs(session: ClientSession) -> None:
    quotes = flat_quotes(DAY, DAY, QUARTER_S)
    del quotes["lv"]
    async with FakeEntsoe(quotes) as server:
        assert [sheet.zone for sheet in await fetch(session, server, DAY, DAY)] == ["ee", "lt", "fi"]


@pytest.mark.parametrize(
    ("status", "body"), [(200, b"<html>"), (400, b"<Acknowledgement_MarketDocument/>"), (500, b"error")]
)
async def test_a_neighbours_failure_does_not_cost_estonia_its_prices(
    session: ClientSession, status: int, body: bytes
) -> None:
    class FailingForLatvia(FakeEntsoe):
        def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
            if query["in_Domain"] == AREA_CODES["lv"]:
                return web.Response(body=body, status=status)
            return super().answer(path, query)

    async with FailingForLatvia(flat_quotes(DAY, DAY, QUARTER_S)) as server:
        sheets = await fetch(session, server, DAY, DAY)
    assert [(sheet.zone, bool(sheet.fault)) for sheet in sheets] == [
        ("ee", False),
        ("lv", True),
        ("lt", False),
        ("fi", False),
    ]


async def test_an_answer_of_which_no_zone_can_be_read_is_a_failure(session: ClientSession) -> None:
    async with FakeEntsoe({}) as server:
        server.say(b"<html>", times=4)
        with pytest.raises(BadAnswer, match="not XML"):
            await fetch(session, server, DAY, DAY)


async def test_a_range_that_is_too_long_for_the_platform_is_halved(session: ClientSession) -> None:
    last = DAY + timedelta(days=9)
    async with FakeEntsoe(flat_quotes(DAY, last, HOUR_S), max_days=4) as server:
        sheets = await fetch(session, server, DAY, last)
    days = [sheet.day for sheet in sheets if sheet.zone == "ee"]
    assert days == [DAY + timedelta(days=n) for n in range(10)]


async def test_one_day_that_is_too_long_for_the_platform_is_a_refusal(session: ClientSession) -> None:
    async with FakeEntsoe({}, max_days=0) as server:
        with pytest.raises(SourceRefused, match="exceeds allowed limit"):
            await fetch(session, server, DAY, DAY)


async def test_history_is_asked_for_in_pieces(session: ClientSession) -> None:
    last = DAY + timedelta(days=199)
    async with FakeEntsoe(flat_quotes(DAY, last, HOUR_S)) as server:
        sheets = await fetch(session, server, DAY, last)
    assert len(server.requests) == 3 * len(ZONES)
    assert len(sheets) == 200 * len(ZONES)


async def test_a_wrong_token_is_refused_without_repeating_it(session: ClientSession) -> None:
    async with FakeEntsoe({}) as server:
        with pytest.raises(TokenRefused, match="Unauthorized") as caught:
            await fetch(session, server, DAY, DAY, token="someone-elses")  # noqa: S106
    assert caught.value.status == 401
    assert "someone-elses" not in str(caught.value)


async def test_a_ban_lasts_ten_minutes(session: ClientSession) -> None:
    async with FakeEntsoe({}) as server:
        server.fail(status=429)
        with pytest.raises(RateLimited) as caught:
            await fetch(session, server, DAY, DAY)
    assert caught.value.retry_after_s == 600.0
    assert len(server.requests) == 1


async def test_a_refusal_in_an_acknowledgement_is_a_refusal(session: ClientSession) -> None:
    body = (
        b"<Acknowledgement_MarketDocument><Reason><text>Invalid area</text></Reason></Acknowledgement_MarketDocument>"
    )
    async with FakeEntsoe({}) as server:
        server.say(body, status=400)
        with pytest.raises(SourceRefused, match=r"^entsoe: Invalid area$"):
            await fetch(session, server, DAY, DAY)


def test_the_first_auction_wins_over_a_finer_second_one() -> None:
    coupled = series([50.0] * 24, HOUR_S, {SEQUENCE: "1"})
    other = series([70.0] * 96, QUARTER_S, {SEQUENCE: "2"})
    assert set(sheet(other, coupled).values()) == {50.0}


@pytest.mark.parametrize("position", ["0", "1", "2", "3", "12", "01"])
def test_the_only_auction_of_a_day_counts_at_any_position(position: str) -> None:
    assert set(sheet(series([70.0] * 96, QUARTER_S, {SEQUENCE: position})).values()) == {70.0}


@pytest.mark.parametrize(("low", "high"), [("0", "1"), ("1", "2"), ("2", "3"), ("2", "10")])
def test_the_lowest_position_of_each_day_counts_and_the_rest_is_named(
    low: str, high: str, caplog: pytest.LogCaptureFixture
) -> None:
    next_day, hours = DAY + timedelta(days=1), [70.0] * 24
    both_days = TimeSeries(
        {**series(hours).attributes, SEQUENCE: high, "currency_Unit.name": "EUR"},
        (Period(START, HOUR_S, (*hours, *hours)),),
    )
    sheets = price_sheets("ee", [both_days, series([50.0] * 24, HOUR_S, {SEQUENCE: low})], DAY, next_day)
    assert [(one.day, {quote.eur_mwh for quote in one.quotes}) for one in sheets] == [(DAY, {50.0}), (next_day, {70.0})]
    assert caplog.messages == [
        f"entsoe: prices of EE from auction position {high} for {DAY} are left out: a lower one has them too"
    ]


def test_a_fault_of_an_auction_that_is_left_out_costs_nothing() -> None:
    other = series([70.0] * 24, HOUR_S, {SEQUENCE: "2", "currency_Unit.name": "PLN"})
    assert set(sheet(other, series([50.0] * 24)).values()) == {50.0}


@pytest.mark.parametrize("position", ["1_0", "١", "１", "one", "1.0", "-1"])
def test_an_auction_position_that_is_no_number_is_left_out_and_named(
    position: str, caplog: pytest.LogCaptureFixture
) -> None:
    odd = series([70.0] * 24, HOUR_S, {SEQUENCE: position})
    assert set(sheet(odd, series([50.0] * 24, HOUR_S, {SEQUENCE: "2"})).values()) == {50.0}
    assert sheet(odd) == {}
    assert caplog.messages == ["entsoe: prices of EE without a readable auction position are left out"] * 2


async def test_what_is_left_out_is_logged_once(session: ClientSession, caplog: pytest.LogCaptureFixture) -> None:
    class WithTwoAuctions(FakeEntsoe):
        def _series(self, query: Mapping[str, str], asked: Sequence[date]) -> list[Element]:
            first, second = (super(WithTwoAuctions, self)._series(query, asked) for _ in range(2))
            for one in second:
                SubElement(one, SEQUENCE).text = "2"
            return first + second

    async with WithTwoAuctions({"ee": flat_quotes(DAY, DAY, HOUR_S)["ee"]}) as server:
        prices = EntsoePrices(EntsoePlatform(session, f"{server.url}/api", TOKEN), ("ee",))
        assert len(await prices.fetch_sheets(DAY, DAY)) == len(await prices.fetch_sheets(DAY, DAY)) == 1
    assert len(caplog.messages) == 1


def test_an_intraday_contract_is_no_price() -> None:
    assert sheet(series([70.0] * 24, HOUR_S, {"contract_MarketAgreement.type": "A07"})) == {}


def test_quarters_win_over_hours_that_cover_the_same() -> None:
    assert len(sheet(series([50.0] * 24), series([51.0] * 96, QUARTER_S))) == 96


def test_hours_of_a_whole_day_win_over_a_few_quarters_and_nothing_is_mixed() -> None:
    found = sheet(series([50.0] * 24), series([51.0] * 8, QUARTER_S))
    assert list(found.values()) == [50.0] * 24


def test_the_same_series_twice_is_one() -> None:
    assert len(sheet(series([50.0] * 24), series([50.0] * 24))) == 24


def test_series_that_contradict_each_other_are_left_to_the_gate() -> None:
    (found,) = price_sheets("ee", [series([50.0] * 24), series([51.0] * 24)], DAY, DAY)
    assert found.quotes[:2] == (Quote(START, 50.0), Quote(START, 51.0))


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("currency_Unit.name", "PLN"),
        ("price_Measure_Unit.name", "KWH"),
        ("in_Domain.mRID", "10YLV-1001A00074"),
    ],
)
def test_prices_of_another_currency_unit_or_zone_are_refused(attribute: str, value: str) -> None:
    with pytest.raises(BadAnswer, match=f"{attribute} {value}, not"):
        sheet(series([50.0] * 24, HOUR_S, {attribute: value}))


REASON = (
    f"<Acknowledgement_MarketDocument><Reason><text>api?securityToken={TOKEN}</text></Reason>"
    "</Acknowledgement_MarketDocument>"
)
RESOLUTION = (
    "<Publication_MarketDocument><TimeSeries><Period><timeInterval><start>2025-12-14T23:00Z</start>"
    f"<end>2025-12-15T23:00Z</end></timeInterval><resolution>{TOKEN}</resolution></Period></TimeSeries>"
    "</Publication_MarketDocument>"
)
CURRENCY = (
    f"<Publication_MarketDocument><TimeSeries><currency_Unit.name>{TOKEN}</currency_Unit.name></TimeSeries>"
    "</Publication_MarketDocument>"
)


@pytest.mark.parametrize("status", [200, 400, 401, 503])
@pytest.mark.parametrize("body", [REASON, RESOLUTION, CURRENCY, f"<{TOKEN}/>", f"<a>&{TOKEN};</a>", TOKEN])
@pytest.mark.parametrize("coding", ["utf-8", "utf-16"])
async def test_a_token_that_is_repeated_gets_into_no_error_and_no_log(
    session: ClientSession, status: int, body: str, coding: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with FakeEntsoe({}) as server:
        server.say(body.encode(coding), status=status, times=10)
        with pytest.raises(SourceError) as caught:
            await fetch(session, server, DAY, DAY)
    assert TOKEN not in "".join(traceback.format_exception(caught.value)).replace("\0", "")
    assert not [record for record in caplog.records if TOKEN in repr(vars(record)).replace("\\x00", "")]

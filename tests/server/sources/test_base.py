from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tunnihind.core.market import PriceLimits, day_end, day_start, delivery_day
from tunnihind.settling.sheet import HeldReason, checked_prices
from tunnihind.sources.base import Quote, day_ranges, day_sheets, days_between

some_day = st.dates(date(2020, 1, 1), date(2099, 1, 1))
DAY = date(2025, 12, 15)


@given(first=some_day, length=st.integers(-3, 900), max_days=st.integers(1, 400))
def test_spans_cover_every_day_once_in_order(first: date, length: int, max_days: int) -> None:
    last = first + timedelta(days=length)
    pieces = list(day_ranges(first, last, max_days))
    assert [day for start, end in pieces for day in days_between(start, end)] == list(days_between(first, last))
    assert all(1 <= (end - start).days + 1 <= max_days for start, end in pieces)


quotes_around = st.lists(
    st.builds(
        Quote,
        st.integers(day_start(DAY) - 200_000, day_end(DAY) + 200_000),
        st.floats(-500, 4000, allow_nan=False),
    ),
    max_size=50,
)


@given(quotes=quotes_around)
def test_every_quote_in_range_stands_on_the_sheet_of_its_delivery_day(quotes: list[Quote]) -> None:
    last = DAY + timedelta(days=1)
    sheets = day_sheets("source", "lt", quotes, DAY, last)
    assert {quote for sheet in sheets for quote in sheet.quotes} == {
        quote for quote in quotes if day_start(DAY) <= quote.ts < day_end(last)
    }
    for sheet in sheets:
        assert (sheet.source, sheet.zone) == ("source", "lt")
        assert sheet.quotes
        assert list(sheet.quotes) == sorted(sheet.quotes)
        assert {delivery_day(quote.ts) for quote in sheet.quotes} == {sheet.day}


def test_the_hour_before_midnight_in_brussels_belongs_to_the_day_that_ends() -> None:
    midnight_in_brussels = day_start(DAY)
    quotes = [Quote(midnight_in_brussels - 3600, 1.0), Quote(midnight_in_brussels, 2.0)]
    (sheet,) = day_sheets("source", "ee", quotes, DAY, DAY)
    assert sheet.quotes == (Quote(midnight_in_brussels, 2.0),)


def test_equal_duplicates_collapse_and_contradicting_ones_stay() -> None:
    ts = day_start(DAY)
    (sheet,) = day_sheets("source", "ee", [Quote(ts, 2.0), Quote(ts, 1.0), Quote(ts, 2.0)], DAY, DAY)
    assert sheet.quotes == (Quote(ts, 1.0), Quote(ts, 2.0))


def test_of_far_too_many_quotes_enough_stay_for_the_check_to_refuse_the_day() -> None:
    quotes = [Quote(day_start(DAY) + 900 * (number % 96), float(number)) for number in range(10_000)]
    (sheet,) = day_sheets("source", "ee", quotes, DAY, DAY)
    assert len(sheet.quotes) == 500
    assert isinstance(checked_prices(sheet, PriceLimits(-500.0, 4000.0)), HeldReason)

"""Reading a server's documents: all documents of the specification, and none that break it."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.client.answers import About, Backtest, Band, MarketPrices
from custom_components.tunnihind.client.documents import (
    MalformedDocument,
    UnknownZoneDocument,
    about_from,
    history_prices_from,
    market_prices_from,
    series_prices_from,
)
from custom_components.tunnihind.core.market import ESTONIA, FINLAND, HOUR_S, LATVIA, MARKETS, Market
from tests.support.api.api_documents import ABOUT, FORECAST, NOW, SERIES, Place, altered, lacking
from tests.support.markets.price_strategies import answers

HOUR = NOW - NOW % HOUR_S
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)

NOT_NUMBERS: tuple[object, ...] = (None, "84.37", True, [], {}, float("nan"), float("inf"))
NOT_INTEGERS: tuple[object, ...] = (1.5, "1768378800", True, [])
NO_HOUR_STARTS = (HOUR + 900, HOUR + 0.5, HOUR * 1000, -HOUR_S, str(HOUR), None)
NO_PRICES = (1e300, -1e300, 100_000.01)

FORECAST_FIELDS: tuple[tuple[Place, tuple[object, ...]], ...] = (
    (("zone",), (None, 1)),
    (("currency",), ("SEK", None)),
    (("now",), (*NOT_INTEGERS, None, NOW * 1000, -1)),
    (("madeAt",), (*NOT_INTEGERS, NOW * 1000)),
    (("lastRefresh",), (*NOT_INTEGERS, -(10**15))),
    (("backtest",), ("good", 1, [])),
    (("backtest", "mae"), NOT_NUMBERS),
    (("backtest", "baselineMae"), NOT_NUMBERS),
    (("backtest", "skill"), NOT_NUMBERS),
    (("backtest", "horizonH"), NOT_INTEGERS),
    (("dayAhead",), (None, {}, "", 1)),
    (("dayAhead", 1), (None, [], 84.37)),
    (("dayAhead", 1, "ts"), NO_HOUR_STARTS),
    (("dayAhead", 1, "eurMwh"), (*NOT_NUMBERS, *NO_PRICES)),
    (("forecast",), (None, {}, "", 1)),
    (("forecast", 0), (None, [])),
    (("forecast", 0, "ts"), NO_HOUR_STARTS),
    (("forecast", 0, "p10"), (*NOT_NUMBERS, *NO_PRICES)),
    (("forecast", 0, "p50"), (*NOT_NUMBERS, *NO_PRICES)),
    (("forecast", 0, "p90"), (*NOT_NUMBERS, *NO_PRICES)),
)
BROKEN = [(place, value) for place, values in FORECAST_FIELDS for value in values]
MARKS = [("zone",), ("dayAhead",), ("forecast",)]
"""The fields that make a document a price document."""
NEEDED = [place for place, _ in FORECAST_FIELDS if place not in MARKS and isinstance(place[-1], str)]


def test_a_forecast_document_is_read_whole() -> None:
    assert asdict(market_prices_from(FORECAST)) == asdict(
        MarketPrices(
            now=NOW,
            made_at=NOW - 600,
            last_refresh=NOW - 300,
            backtest=Backtest(mae=12.5, baseline_mae=31.25, skill=0.6, horizon_h=24),
            settled={HOUR: 84.37, HOUR + HOUR_S: -1.5},
            forecast={HOUR + 2 * HOUR_S: Band(40.0, 50.0, 65.5)},
            step_s=HOUR_S,
        )
    )


@pytest.mark.parametrize(("place", "value"), BROKEN)
def test_a_value_that_breaks_the_specification_is_refused_by_the_name_of_its_field(place: Place, value: object) -> None:
    with pytest.raises(MalformedDocument) as refusal:
        market_prices_from(altered(FORECAST, place, value))
    assert all(str(step) in str(refusal.value) for step in place)


@pytest.mark.parametrize("place", NEEDED)
def test_a_missing_field_is_named(place: Place) -> None:
    with pytest.raises(MalformedDocument, match=str(place[-1])):
        market_prices_from(lacking(FORECAST, place))


@pytest.mark.parametrize("place", MARKS)
def test_a_document_without_the_fields_of_prices_is_foreign(place: Place) -> None:
    with pytest.raises(ValueError, match="no price document"):
        market_prices_from(lacking(FORECAST, place))


@pytest.mark.parametrize("band", [(50, 40, 60), (40, 60, 50), (60, 50, 40)])
def test_percentiles_out_of_order_are_refused(band: tuple[int, int, int]) -> None:
    hour = dict(zip(("p10", "p50", "p90"), band, strict=True))
    with pytest.raises(MalformedDocument, match=r"p10 <= p50 <= p90.*forecast"):
        market_prices_from(altered(FORECAST, ("forecast", 0), FORECAST["forecast"][0] | hour))


@pytest.mark.parametrize("field", ["madeAt", "lastRefresh", "backtest"])
def test_fields_that_may_be_null_become_none(field: str) -> None:
    read = market_prices_from(altered(FORECAST, (field,), None))
    assert {"madeAt": read.made_at, "lastRefresh": read.last_refresh, "backtest": read.backtest}[field] is None


def test_integers_are_prices_too() -> None:
    read = market_prices_from(altered(FORECAST, ("dayAhead", 0, "eurMwh"), 84))
    assert read.settled[HOUR] == 84.0
    assert isinstance(read.settled[HOUR], float)


def test_further_fields_are_allowed() -> None:
    more = altered(altered(FORECAST, ("news",), {"a": 1}), ("dayAhead", 0, "source"), "elering")
    assert market_prices_from(more) == market_prices_from(FORECAST)


def test_the_answer_of_a_server_without_data_is_empty() -> None:
    empty = {**FORECAST, "dayAhead": [], "forecast": [], "madeAt": None, "lastRefresh": None, "backtest": None}
    read = market_prices_from(empty)
    assert (read.settled, read.forecast, read.market_price(NOW)) == ({}, {}, None)


def _document_of(known: MarketPrices) -> dict[str, Any]:
    return {
        **FORECAST,
        "now": known.now,
        "madeAt": known.made_at,
        "lastRefresh": known.last_refresh,
        "backtest": None,
        "dayAhead": [{"ts": start, "eurMwh": price} for start, price in known.settled.items()],
        "forecast": [
            {"ts": start, "p10": band.p10, "p50": band.p50, "p90": band.p90} for start, band in known.forecast.items()
        ],
    }


@given(json_values)
def test_any_other_document_is_foreign_or_malformed_and_nothing_else(document: object) -> None:
    with pytest.raises(ValueError):
        market_prices_from(document)
    for read in (about_from, series_prices_from):
        with pytest.raises(MalformedDocument):
            read(document)


@given(answers(), st.data())
def test_a_document_with_anything_anywhere_is_read_or_refused(known: MarketPrices, data: st.DataObject) -> None:
    document = _document_of(known)
    field = data.draw(st.sampled_from(sorted(document)))
    document[field] = data.draw(json_values)
    try:
        assert isinstance(market_prices_from(document), MarketPrices)
    except MalformedDocument as refusal:
        assert field in str(refusal)  # noqa: PT017  whether it is refused depends on what was drawn


@given(answers())
def test_an_answer_has_exactly_the_sent_values(known: MarketPrices) -> None:
    document = _document_of(known)
    assert asdict(market_prices_from(json.loads(json.dumps(document)))) == asdict(known)


@given(answers(), answers())
def test_answers_that_differ_only_in_their_time_are_equal(one: MarketPrices, other: MarketPrices) -> None:
    assert replace(one, now=other.now) == one
    assert (one == other) is (asdict(replace(one, now=0)) == asdict(replace(other, now=0)))


def test_the_servers_description_of_itself_is_read() -> None:
    assert about_from(ABOUT) == About("1.0.0", "other", 0.24, "Other (other.example)")


@pytest.mark.parametrize(
    ("told", "read"),
    [([1, 2.5, 3, 4], (1, 2.5, 3, 4)), ([4, 1], (1, 4)), (["1"], ()), ({}, ()), (None, ()), ([1e9], ())],
)
def test_an_impossible_scale_of_colours_is_empty(told: object, read: tuple[float, ...]) -> None:
    assert about_from(ABOUT | {"priceScale": told}).price_scale == read


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", None),
        ("version", 1),
        ("version", 301 * "1"),
        ("instanceId", ""),
        ("instanceId", None),
        ("instanceId", 301 * "a"),
        ("zone", None),
        ("zone", "ee"),
        ("zones", None),
        ("zones", [{"zone": "EE"}]),
        ("zones", [{"zone": "EE", "url": "http://[box"}]),
        ("vatRateIsChosen", None),
        ("vatRateIsChosen", "no"),
        ("vatRate", -0.01),
        ("vatRate", 1),
        ("vatRate", 24),
        ("vatRate", "0.24"),
        ("attribution", None),
        ("attribution", 301 * "a"),
    ],
)
def test_a_description_that_is_not_ours_is_refused_by_the_name_of_its_field(field: str, value: Any) -> None:  # noqa: ANN401
    with pytest.raises(MalformedDocument, match=field):
        about_from(altered(ABOUT, (field,), value))


@pytest.mark.parametrize("zone", [*MARKETS.values()])
def test_prices_of_each_of_the_four_zones_are_read(zone: Market) -> None:
    assert market_prices_from({**FORECAST, "zone": zone.code}).zone == zone.code


@pytest.mark.parametrize("zone", ["SE3", "ee", "Estonia"])
def test_prices_of_any_other_zone_are_refused_by_its_name(zone: str) -> None:
    with pytest.raises(UnknownZoneDocument, match=zone):
        market_prices_from({**FORECAST, "zone": zone})


@pytest.mark.parametrize("root", ["http://localhost:8080", "https://prices.example/tunnihind"])
def test_the_zones_of_a_server_are_read_with_their_paths_below_the_first_one(root: str) -> None:
    zones = [{"zone": "FI", "url": root}, {"zone": "EE", "url": f"{root}/ee"}, {"zone": "SE3", "url": f"{root}/se3"}]
    about = about_from({**ABOUT, "zone": "EE", "instanceId": "other", "zones": zones})
    assert about.zones == {"FI": "", "EE": "/ee"}
    assert about.instance_id_of(FINLAND) == "other-fi"


def test_past_prices_of_another_zone_are_refused() -> None:
    document = {"zone": "LV", "currency": "EUR", "prices": [{"ts": HOUR, "eurMwh": 70.0}]}
    assert history_prices_from(document, LATVIA) == {HOUR: 70.0}
    with pytest.raises(MalformedDocument, match="zone"):
        history_prices_from(document, ESTONIA)


def test_settled_prices_are_read_from_the_series() -> None:
    assert series_prices_from(SERIES) == {HOUR - HOUR_S: 70.0}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("actuals",), None),
        *((("actuals", 0, "ts"), value) for value in NO_HOUR_STARTS),
        *((("actuals", 0, "eurMwh"), value) for value in (*NOT_NUMBERS, *NO_PRICES)),
    ],
)
def test_a_series_that_breaks_the_specification_is_refused_by_the_name_of_its_field(
    place: Place, value: object
) -> None:
    with pytest.raises(MalformedDocument) as refusal:
        series_prices_from(altered(SERIES, place, value))
    assert all(str(step) in str(refusal.value) for step in place)

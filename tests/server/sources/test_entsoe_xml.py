import math
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.errors import BadAnswer
from tunnihind.sources.entsoe_xml import Acknowledgement, Period, TimeSeries, parse_document

NAMESPACE = "urn:iec62325.351:tc57wg16:451-3:publicationdocument:7:3"
START = 1_765_753_200  # 2025-12-14T23:00Z


def point(position: object, value: object) -> str:
    return f"<Point><position>{position}</position><price.amount>{value}</price.amount></Point>"


def document(
    points: str,
    *,
    start: str = "2025-12-14T23:00Z",
    end: str = "2025-12-15T01:00Z",
    resolution: str = "PT15M",
    curve: str = "A03",
) -> bytes:
    interval = f"<timeInterval><start>{start}</start><end>{end}</end></timeInterval>"
    period = f"<Period>{interval}<resolution>{resolution}</resolution>{points}</Period>"
    series = f"<TimeSeries><curveType>{curve}</curveType>{period}</TimeSeries>"
    return f'<Publication_MarketDocument xmlns="{NAMESPACE}">{series}</Publication_MarketDocument>'.encode()


def parse(body: bytes) -> tuple[TimeSeries, ...]:
    parsed = parse_document(body)
    assert isinstance(parsed, tuple)
    return parsed


def values(body: bytes) -> tuple[float, ...]:
    return parse(body)[0].periods[0].values


def same(ours: tuple[float, ...], theirs: list[float]) -> bool:
    return [None if math.isnan(x) else x for x in ours] == [None if math.isnan(x) else x for x in theirs]


def test_values_left_out_are_the_one_before_to_the_end_of_the_period() -> None:
    assert values(document(point(1, 10) + point(3, 30))) == (10, 10, 30, 30, 30, 30, 30, 30)


def test_points_may_come_in_any_order() -> None:
    body = document("".join(point(position, position) for position in (1, 5, 2, 3, 8, 4)))
    assert values(body) == (1, 2, 3, 4, 5, 5, 5, 8)


def test_what_is_before_the_first_point_is_unknown_not_shifted() -> None:
    nan = math.nan
    assert same(values(document(point(3, 30))), [nan, nan, 30, 30, 30, 30, 30, 30])


def test_without_curve_a03_a_missing_point_is_unknown() -> None:
    nan = math.nan
    assert same(values(document(point(1, 10) + point(3, 30), curve="A01")), [10, nan, 30, nan, nan, nan, nan, nan])


@pytest.mark.parametrize(
    ("start", "end", "resolution", "count"),
    [
        ("2026-03-28T23:00Z", "2026-03-29T22:00Z", "PT15M", 92),
        ("2025-10-25T22:00Z", "2025-10-26T23:00Z", "PT15M", 100),
        ("2025-10-25T22:00Z", "2025-10-26T23:00Z", "PT60M", 25),
        ("2025-10-25T22:00Z", "2025-10-26T23:00Z", "PT1H", 25),
        ("2025-10-25T22:00Z", "2025-10-26T23:00Z", "PT30M", 50),
    ],
)
def test_a_period_is_as_long_as_its_interval_says(start: str, end: str, resolution: str, count: int) -> None:
    body = document(point(1, 10), start=start, end=end, resolution=resolution)
    assert values(body) == (10,) * count


def test_the_namespace_version_does_not_matter() -> None:
    body = document(point(1, 10))
    for other in ("urn:iec62325.351:tc57wg16:451-3:publicationdocument:7:0", ""):
        assert parse(body.replace(NAMESPACE.encode(), other.encode())) == parse(body)


def test_known_values_carry_their_instants() -> None:
    period = Period(START, 900, (math.nan, 20.0, 30.0))
    assert list(period.known_values()) == [(START + 900, 20.0), (START + 1800, 30.0)]


@pytest.mark.parametrize(
    ("reason", "no_data", "too_much"),
    [
        ("No matching data found for Data item ENERGY_PRICES", True, False),
        ("The amount of requested data exceeds allowed limit. Requested: 365, allowed: 100", False, True),
        ("The number of instances (365) exceeds the allowed maximum (100)", False, True),
        ("The area is not valid", False, False),
    ],
)
def test_an_acknowledgement_says_why_there_is_no_data(reason: str, *, no_data: bool, too_much: bool) -> None:
    body = f"<Acknowledgement_MarketDocument><Reason><text>{reason}</text></Reason></Acknowledgement_MarketDocument>"
    parsed = parse_document(body.encode())
    assert isinstance(parsed, Acknowledgement)
    assert (parsed.reason, parsed.has_no_data, parsed.is_range_too_long) == (reason, no_data, too_much)


LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><l>&b;</l>'
EXTERNAL = '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/hostname">]><l>&a;</l>'
REMOTE = '<!DOCTYPE l SYSTEM "http://127.0.0.1:1/evil.dtd"><l/>'


@pytest.mark.parametrize("body", [LAUGHS, EXTERNAL, REMOTE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_hostile_xml_is_refused_by_its_document_type(body: str, encoding: str) -> None:
    with pytest.raises(BadAnswer, match="contains a DOCTYPE declaration"):
        parse_document(body.encode(encoding))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "not XML"),
        (b"<html><body>Service Unavailable</body></html>", "document is a html"),
        (document(point(1, 10))[:-20], "not XML"),
        (document(point(0, 10)), "position 0 in a Period of 8"),
        (document(point(9, 10)), "position 9 in a Period of 8"),
        (document(point("1" * 5000, 10)), "not a number in range"),
        (document(point(-1, 10)), "not a number in range"),
        (document(point("١", 10)), "not a number in range"),
        (document(point(1, 10) + point(1, 11)), "position 1 of a Period has two values"),
        (document(point(1, "NaN")), "one number"),
        (document(point(1, "1e999")), "one number"),
        (document(point(1, "1_0")), "one number"),
        (document(point(1, "١٠")), "one number"),
        (document(point("1_0", 10)), "not a number in range"),
        (document(point(1, "ten")), "exactly one number|one number"),
        (document(point(1, "")), "one number"),
        (document("<Point><position>1</position></Point>"), "one number"),
        (document("<Point><price.amount>1</price.amount></Point>"), "exactly one position"),
        (document(point(1, 10), resolution="P1D"), "resolution P1D"),
        (document(point(1, 10), resolution="PT1M"), "resolution PT1M"),
        (document(point(1, 10), end="2025-12-14T23:00Z"), "can't be cut"),
        (document(point(1, 10), end="2025-12-14T23:20Z"), "can't be cut"),
        (document(point(1, 10), start="0001-01-01T00:00Z"), "can't be cut"),
        (document(point(1, 10), start="yesterday"), "not an instant"),
    ],
)
def test_a_malformed_document_is_refused_in_plain_words(body: bytes, problem: str) -> None:
    with pytest.raises(BadAnswer, match=problem):
        parse_document(body)


texts = st.text(max_size=8) | st.sampled_from(["PT15M", "PT60M", "A03", "2025-12-14T23:00Z", "1", "-1", "1e400", "nan"])


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    def escaped() -> str:
        return draw(texts).replace("&", "&amp;").replace("<", "&lt;")

    points = "".join(point(escaped(), escaped()) for _ in range(draw(st.integers(0, 3))))
    body = document(points, start=escaped(), end=escaped(), resolution=escaped(), curve=escaped())
    cut = draw(st.none() | st.integers(0, len(body)))
    return body[:cut]


@given(body=st.binary() | documents())
def test_no_document_raises_anything_but_bad_answer(body: bytes) -> None:
    with suppress(BadAnswer):
        parse_document(body)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<a>" * 32 + b"</a>" * 32, "document is a a"),
        (b"<a>" * 33 + b"</a>" * 33, "deeper elements"),
        (b"<a>" + b"<b/>" * 50 + b"<a>" * 32 + b"</a>" * 33, "deeper elements"),
        (b"<a>" + b"<b/>" * 249_999 + b"</a>", "document is a a"),
        (b"<a>" + b"<b/>" * 250_000 + b"</a>", "more or deeper elements"),
    ],
)
def test_a_document_has_at_most_32_levels_and_250_000_elements(body: bytes, problem: str) -> None:
    with pytest.raises(BadAnswer, match=problem):
        parse_document(body)


def test_recorded_curve(shared: Path) -> None:
    (series,) = parse((shared / "fixtures/entsoe/A44_A03_curve.xml").read_bytes())
    assert series.periods == (Period(1_704_067_200, 3600, (50, 50, 55, 55, 55, 60)),)


def test_recorded_overlap_of_two_auctions(shared: Path) -> None:
    first, second = parse((shared / "fixtures/entsoe/A44_DE_60M_15M_overlap.xml").read_bytes())
    sequence = "classificationSequence_AttributeInstanceComponent.position"
    assert [(series.get(sequence), series.periods[0].step_s) for series in (first, second)] == [("1", 3600), ("2", 900)]
    assert [len(period.values) for period in first.periods + second.periods] == [24, 24, 96, 96]


def test_recorded_acknowledgement(shared: Path) -> None:
    parsed = parse_document((shared / "fixtures/entsoe/ack_invalid_request.xml").read_bytes())
    assert isinstance(parsed, Acknowledgement)
    assert parsed.has_no_data


def test_recorded_unknown_document(shared: Path) -> None:
    with pytest.raises(BadAnswer, match="Unknown_MarketDocument"):
        parse_document((shared / "fixtures/entsoe/invalid.xml").read_bytes())

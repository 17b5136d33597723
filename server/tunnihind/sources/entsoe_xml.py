"""Parses market documents of the ENTSO-E Transparency Platform (IEC 62325-351) into time series.

Elements are found by their local name, because their namespace contains a version number that changes. The length of a
Period comes from its element timeInterval, because the day of a clock change has 23 or 25 hours. Points may be in any
order. If the curve type is A03, a missing Point has the value of the Point before it. All other missing values are
unknown.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Final, override
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

import defusedxml.ElementTree
from defusedxml import DefusedXmlException

from tunnihind.core.market import HOUR_S, QUARTER_S, delivery_day
from tunnihind.errors import BadAnswer, one_line
from tunnihind.numerals import decimal_number, whole_number

SOURCE: Final = "entsoe"

_STEP_OF_RESOLUTION: Final = {"PT15M": QUARTER_S, "PT30M": 2 * QUARTER_S, "PT60M": HOUR_S, "PT1H": HOUR_S}
_MAX_POINTS: Final = 40_000
"""The most steps in a Period. A leap year has 35,136 quarters."""

_MAX_ELEMENTS: Final = 250_000
"""The most elements in a document. The prices of 90 days in quarters have about 28,000 elements for each auction."""
_MAX_DEPTH: Final = 32

_ACKNOWLEDGEMENT: Final = "Acknowledgement_MarketDocument"
_DOCUMENTS: Final = frozenset({"Publication_MarketDocument", "GL_MarketDocument"})
_SPACE: Final = " \t\r\n"
"""The characters that count as white space in XML."""
_POSITION_OF_AUCTION: Final = "classificationSequence_AttributeInstanceComponent.position"
_VALUE_ELEMENTS: Final = ("price.amount", "quantity")


@dataclass(frozen=True, slots=True)
class Period:
    """Consecutive values, each for `step_s` seconds. An unknown value is NaN."""

    start_ts: int
    step_s: int
    values: tuple[float, ...]

    def known_values(self) -> Iterator[tuple[int, float]]:
        """Yield the pair (start, value) for each known value."""
        for position, value in enumerate(self.values):
            if not math.isnan(value):
                yield self.start_ts + position * self.step_s, value

    def without_days(self, days: Collection[date]) -> Period:
        """Return this period with unknown values for some delivery days."""
        known = {ts: value for ts, value in self.known_values() if delivery_day(ts) not in days}
        starts = range(self.start_ts, self.start_ts + len(self.values) * self.step_s, self.step_s)
        return replace(self, values=tuple(known.get(ts, math.nan) for ts in starts))


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """One time series of a document.

    `attributes` maps the local names of child elements to their texts. Elements without text are left out. The
    attribute `psrType` has the text of the nested element MktPSRType/psrType.
    """

    attributes: dict[str, str]
    periods: tuple[Period, ...]

    def get(self, name: str) -> str | None:
        """Return the text of an attribute, or None if the attribute is missing."""
        return self.attributes.get(name)

    @property
    def auction_position(self) -> int | None:
        """The position of the series' auction among the auctions of a day. Without an auction, it is 1.

        None if the position is unreadable.
        """
        try:
            position = whole_number(self.get(_POSITION_OF_AUCTION) or "1")
        except ValueError:
            return None
        return position if position >= 0 else None

    def without_days(self, days: Collection[date]) -> TimeSeries:
        """Return this series with unknown values for some delivery days."""
        return replace(self, periods=tuple(period.without_days(days) for period in self.periods))

    def days(self) -> set[date]:
        """Return the delivery days that have known values."""
        return {delivery_day(ts) for period in self.periods for ts, _ in period.known_values()}


def series_of_lowest_positions(
    series: Iterable[TimeSeries], what: str, warn: Callable[[str], None]
) -> list[TimeSeries]:
    """For each delivery day, keep only the values from the lowest auction position that has values for this day.

    `warn` is called with a text about the data that are left out. `what` names the data in this text.
    """
    by_position: dict[int, list[TimeSeries]] = defaultdict(list)
    for one in series:
        if one.auction_position is None:
            warn(f"{SOURCE}: {what} without a readable auction position are left out")
        else:
            by_position[one.auction_position].append(one)
    kept: list[TimeSeries] = []
    taken: set[date] = set()
    for position, of_auction in sorted(by_position.items()):
        days: set[date] = set().union(*(one.days() for one in of_auction))
        if left_out := sorted(days & taken):
            span = " to ".join(map(str, dict.fromkeys((left_out[0], left_out[-1]))))
            warn(f"{SOURCE}: {what} from auction position {position} for {span} are left out: a lower one has them too")
            of_other_days = [one.without_days(taken) for one in of_auction]
            kept += [one for one in of_other_days if one.days()]
        else:
            kept += of_auction
        taken |= days
    return kept


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """An answer in which the platform gives a reason instead of data."""

    reason: str

    @property
    def has_no_data(self) -> bool:
        """True if the platform has no data for the requested range."""
        return "no matching data found" in self.reason.lower()

    @property
    def is_range_too_long(self) -> bool:
        """True if the request asks for more data than the platform allows."""
        return "exceeds" in self.reason.lower() and "allowed" in self.reason.lower()


def parse_document(body: bytes, redact: Callable[[str], str] = one_line) -> tuple[TimeSeries, ...] | Acknowledgement:
    """Parse a document, and apply `redact` to the text of each element.

    Raises BadAnswer if the body is not a valid market document, has too many or too deeply nested elements, or contains
    a DOCTYPE declaration.
    """
    parser = defusedxml.ElementTree.DefusedXMLParser(target=_BoundedTreeBuilder(redact), forbid_dtd=True)
    try:
        parser.feed(body)
        root = parser.close()
    except DefusedXmlException:
        raise BadAnswer(SOURCE, "its XML contains a DOCTYPE declaration, which no market document does") from None
    except (ParseError, ValueError, LookupError) as error:
        raise BadAnswer(SOURCE, f"its answer is not XML: {redact(str(error))}") from None
    kind = _local_name(root)
    if kind == _ACKNOWLEDGEMENT:
        return Acknowledgement(redact(" ".join(_texts(root, "Reason", "text"))) or "no reason given")
    if kind not in _DOCUMENTS:
        raise BadAnswer(SOURCE, f"its document is a {redact(kind)}, not one of {', '.join(sorted(_DOCUMENTS))}")
    return tuple(map(_time_series, _elements_at(root, "TimeSeries")))


class _BoundedTreeBuilder(TreeBuilder):
    """Builds an XML tree of limited size and depth, with redacted texts and without XML attributes."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact
        self._elements = 0
        self._depth = 0

    @override
    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self._elements += 1
        self._depth += 1
        if self._elements > _MAX_ELEMENTS or self._depth > _MAX_DEPTH:
            raise BadAnswer(SOURCE, "its document has more or deeper elements than any market document")
        return super().start(tag, {})

    @override
    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        element = super().end(tag)
        if element.text:
            element.text = self._redact(element.text)
        return element


def _local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _elements_at(element: Element, *path: str) -> list[Element]:
    """Return the elements at `path` below `element`. `path` consists of local names, without namespaces."""
    return element.findall("/".join(f"{{*}}{name}" for name in path))


def _texts(element: Element, *path: str) -> list[str]:
    return [(child.text or "").strip(_SPACE) for child in _elements_at(element, *path)]


def _text(element: Element, *path: str) -> str:
    texts = _texts(element, *path)
    if len(texts) != 1 or not texts[0]:
        raise BadAnswer(SOURCE, f"a {_local_name(element)} must have exactly one {'/'.join(path)}, and has {texts}")
    return texts[0]


def _time_series(element: Element) -> TimeSeries:
    attributes = {_local_name(child): text for child in element if (text := (child.text or "").strip(_SPACE))}
    psr_types = _texts(element, "MktPSRType", "psrType")
    if psr_types:
        attributes["psrType"] = psr_types[0]
    fill = attributes.get("curveType") == "A03"
    return TimeSeries(attributes, tuple(_period(child, fill=fill) for child in _elements_at(element, "Period")))


def _period(element: Element, *, fill: bool) -> Period:
    start_ts = _instant(_text(element, "timeInterval", "start"))
    end_ts = _instant(_text(element, "timeInterval", "end"))
    resolution = _text(element, "resolution")
    step_s = _STEP_OF_RESOLUTION.get(resolution)
    if step_s is None:
        raise BadAnswer(SOURCE, f"a Period has resolution {resolution}, not one of {', '.join(_STEP_OF_RESOLUTION)}")
    count, rest = divmod(end_ts - start_ts, step_s)
    if rest or not 0 < count <= _MAX_POINTS:
        raise BadAnswer(SOURCE, f"a Period of {end_ts - start_ts} s can't be cut into steps of {resolution}")
    return Period(start_ts, step_s, _filled_values(_points(element, count), count, fill=fill))


def _filled_values(points: dict[int, float], count: int, *, fill: bool) -> tuple[float, ...]:
    values = []
    value = math.nan
    for position in range(1, count + 1):
        value = points.get(position, value if fill else math.nan)
        values.append(value)
    return tuple(values)


def _points(element: Element, count: int) -> dict[int, float]:
    points: dict[int, float] = {}
    for point in _elements_at(element, "Point"):
        position, value = _position(_text(point, "position")), _value(point)
        if not 1 <= position <= count:
            raise BadAnswer(SOURCE, f"a Point has position {position} in a Period of {count} points")
        if points.setdefault(position, value) != value:
            raise BadAnswer(SOURCE, f"position {position} of a Period has two values, {points[position]} and {value}")
    return points


def _position(text: str) -> int:
    with suppress(ValueError):
        if (position := whole_number(text)) >= 0:
            return position
    raise BadAnswer(SOURCE, f"a Point's position {text[:20]!r} is not a number in range")


def _value(point: Element) -> float:
    texts = [text for name in _VALUE_ELEMENTS for text in _texts(point, name)]
    try:
        (value,) = (decimal_number(text) for text in texts)
    except ValueError:
        raise BadAnswer(SOURCE, f"a Point must have one number, and has {texts}") from None
    return value


def _instant(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadAnswer(SOURCE, f"{text[:40]!r} is not an instant in ISO 8601") from None
    # The platform's times are UTC, with or without a Z.
    return int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp())

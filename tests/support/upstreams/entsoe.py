"""A server that answers as the ENTSO-E Transparency Platform does."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from aiohttp import web

from tests.support.upstreams.elering import Quotes
from tests.support.upstreams.server import FakeUpstream
from tunnihind.core.market import HOUR_S, QUARTER_S, day_end, day_start, delivery_day
from tunnihind.sources.base import days_between
from tunnihind.sources.entsoe import AREA_CODES

TOKEN = "0d4c2f4e-secret"  # noqa: S105

_RESOLUTIONS = {QUARTER_S: "PT15M", HOUR_S: "PT60M"}
_ZONES = {code: zone for zone, code in AREA_CODES.items()}
_PUBLICATION = "urn:iec62325.351:tc57wg16:451-3:publicationdocument:7:3"
_GENERATION_LOAD = "urn:iec62325.351:tc57wg16:451-6:generationloaddocument:3:0"
_ACKNOWLEDGEMENT = "urn:iec62325.351:tc57wg16:451-1:acknowledgementdocument:7:0"


class FakeEntsoe(FakeUpstream):
    """Serves day-ahead `quotes` (A44) and hourly `forecasts` (A65, A69) like ENTSO-E.

    Forecasts are in MW, by `<zone>_<load|B16|B18|B19>`. Answers have whole delivery days, leave out repeated values
    (curve A03), and list points in reverse order.
    """

    def __init__(
        self,
        quotes: Quotes,
        forecasts: dict[str, dict[int, float]] | None = None,
        *,
        token: str = TOKEN,
        no_data_status: int = 200,
        max_days: int = 100,
    ) -> None:
        super().__init__()
        self.quotes = quotes
        self.forecasts = forecasts or {}
        self._token = token
        self._no_data_status = no_data_status
        self._max_days = max_days

    def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
        """Answer a query for a document."""
        if path != "/api":
            raise web.HTTPNotFound
        if query.get("securityToken") != self._token:
            return _acknowledge(f"Unauthorized. Invalid security token {query.get('securityToken')}", 401)
        first, last = _day(query["periodStart"]), _day(query["periodEnd"], before=True)
        asked = list(days_between(first, last))
        if len(asked) > self._max_days:
            numbers = f"Requested: {len(asked)}, allowed: {self._max_days}"
            return _acknowledge(f"The amount of requested data exceeds allowed limit. {numbers}", 400)
        series = self._series(query, asked)
        if not series:
            return _acknowledge("No matching data found for Data item ENERGY_PRICES", self._no_data_status)
        is_price = query["documentType"] == "A44"
        root = Element("Publication_MarketDocument" if is_price else "GL_MarketDocument")
        root.set("xmlns", _PUBLICATION if is_price else _GENERATION_LOAD)
        root.extend(series)
        return web.Response(body=tostring(root, encoding="utf-8", xml_declaration=True), content_type="text/xml")

    def _series(self, query: Mapping[str, str], asked: Sequence[date]) -> list[Element]:
        match query["documentType"]:
            case "A44":
                quotes = self.quotes.get(_ZONES[query["in_Domain"]], {})  # type: ignore[call-overload]
                attributes = {
                    "in_Domain.mRID": query["in_Domain"],
                    "out_Domain.mRID": query["out_Domain"],
                    "contract_MarketAgreement.type": "A01",
                    "currency_Unit.name": "EUR",
                    "price_Measure_Unit.name": "MWH",
                }
                return time_series(quotes, asked, attributes, "price.amount")
            case "A65":
                values = self.forecasts.get(f"{_ZONES[query['outBiddingZone_Domain']]}_load", {})
                return time_series(values, asked, {"quantity_Measure_Unit.name": "MAW"}, "quantity")
            case _:
                zone = _ZONES[query["in_Domain"]]
                series = []
                for psr_type in ("B16", "B18", "B19"):
                    values = self.forecasts.get(f"{zone}_{psr_type}", {})
                    attributes = {"quantity_Measure_Unit.name": "MAW", "psrType": psr_type}
                    series += time_series(values, asked, attributes, "quantity")
                return series


def time_series(
    values: Mapping[int, float], asked: Sequence[date], attributes: Mapping[str, str], value_name: str
) -> list[Element]:
    """Return a TimeSeries for each delivery day with any value, from the day's first value on."""
    by_day: defaultdict[date, dict[int, float]] = defaultdict(dict)
    for ts in sorted(values):
        by_day[delivery_day(ts)][ts] = values[ts]
    return [_one_day(day, by_day[day], attributes, value_name) for day in asked if day in by_day]


def _one_day(day: date, known: Mapping[int, float], attributes: Mapping[str, str], value_name: str) -> Element:
    element = Element("TimeSeries")
    for name, text in attributes.items():
        parent = SubElement(element, "MktPSRType") if name == "psrType" else element
        SubElement(parent, name).text = text
    SubElement(element, "curveType").text = "A03"
    step_s = HOUR_S if all(ts % HOUR_S == 0 for ts in known) else QUARTER_S
    period = SubElement(element, "Period")
    interval = SubElement(period, "timeInterval")
    SubElement(interval, "start").text = _minute(day_start(day))
    SubElement(interval, "end").text = _minute(day_end(day))
    SubElement(period, "resolution").text = _RESOLUTIONS[step_s]
    points = [(ts, value) for ts, value in known.items() if known.get(ts - step_s) != value]
    for ts, value in reversed(points):
        point = SubElement(period, "Point")
        SubElement(point, "position").text = str((ts - day_start(day)) // step_s + 1)
        SubElement(point, value_name).text = f"{value:.2f}"
    return element


def _acknowledge(reason: str, status: int) -> web.Response:
    root = Element("Acknowledgement_MarketDocument", xmlns=_ACKNOWLEDGEMENT)
    SubElement(SubElement(root, "Reason"), "text").text = reason
    return web.Response(body=tostring(root), status=status, content_type="text/xml")


def _minute(ts: int) -> str:
    return datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%dT%H:%MZ")


def _day(text: str, *, before: bool = False) -> date:
    ts = datetime.strptime(text, "%Y%m%d%H%M").replace(tzinfo=UTC).timestamp()
    return delivery_day(ts - 1 if before else ts)

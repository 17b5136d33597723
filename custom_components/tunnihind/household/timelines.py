"""From an answer of the server to the prices of a household: what it pays, what it compares, and what it gets."""

from typing import Final

from ..prices.billing import Billing, Resolution
from ..prices.selling import SellingContract
from ..prices.tariff import Tariff
from ..prices.timeline import HOUR_S, Period, Timeline
from ..server.answers import Band, ForecastAnswer

_NOTHING: Final = Timeline(HOUR_S)


class Timelines:
    """A household's prices, worked out again only where the answer or anything of its contracts has changed.

    `paid` has the periods by which the household is billed, `levels` those that are compared with their day, and
    `sold` what it gets; that is empty where it sells nothing.
    """

    def __init__(self) -> None:
        self.paid = self.levels = self.sold = _NOTHING
        self._priced_from: tuple[ForecastAnswer, Tariff, Billing, SellingContract | None] | None = None

    def update(self, answer: ForecastAnswer, tariff: Tariff, billing: Billing, selling: SellingContract | None) -> None:
        """Price the answer by these contracts."""
        priced = answer, tariff, billing, selling
        if priced == self._priced_from:
            return
        self._priced_from = priced
        in_hours = answer.in_hours()
        hours = timeline_of(in_hours, tariff)
        self.paid = timeline_of(answer, tariff) if billing.billed_by is Resolution.QUARTER else hours
        self.levels = self.paid if billing.levels_by is Resolution.QUARTER else hours
        self.sold = _NOTHING
        if selling:
            self.sold = timeline_of(answer if selling.resolution is Resolution.QUARTER else in_hours, selling)


def timeline_of(answer: ForecastAnswer, tariff: Tariff | SellingContract) -> Timeline:
    """Return what the household pays or gets; where a price is settled its forecast does not count."""
    predicted = {start: band for start, band in answer.forecast.items() if start not in answer.settled}
    return Timeline(
        answer.step_s,
        [
            *(
                _settled(start, start + answer.step_s, tariff.price(eur_mwh, start))
                for start, eur_mwh in answer.settled.items()
            ),
            *(_predicted(start, start + answer.step_s, band, tariff) for start, band in predicted.items()),
        ],
    )


def _settled(start: int, end: int, price: float) -> Period:
    return Period(start, end, price, price, price, settled=True)


def _predicted(start: int, end: int, band: Band, tariff: Tariff | SellingContract) -> Period:
    p10, p50, p90 = (tariff.price(eur_mwh, start) for eur_mwh in (band.p10, band.p50, band.p90))
    return Period(start, end, p50, p10, p90, settled=False)

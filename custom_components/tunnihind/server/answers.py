"""The answers of a server: its prices and forecast, its identity, and the accuracy of its forecasts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean
from typing import Final

from ..prices.timeline import HOUR_S
from ..prices.zones import Zone

_PRICE_DECIMALS: Final = 2
_NAME: Final = "Tunnihind"
_ENGLISH: Final = "en"


@dataclass(frozen=True, slots=True)
class Band:
    """A forecast: 10th percentile, median and 90th percentile. In a server's answers it is in EUR/MWh without VAT."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Backtest:
    """The accuracy of the server's model: mean absolute errors in EUR/MWh, skill as a fraction, horizon in hours."""

    mae: float
    baseline_mae: float
    skill: float
    horizon_h: int


@dataclass(frozen=True, slots=True)
class PlanScore:
    """The saving of plans by the server's forecasts over some `days`, as fractions of the possible saving.

    `share` is for plans that took the four cheapest hours of the next day. `baseline` is for the same plans by last
    week's prices. `week` is for plans that took four hours of the coming week; It is None until a week has passed.
    `boiler_eur` is the yearly saving of a 3 kW boiler that heats in the three cheapest hours of each day by the
    forecast, EUR without VAT. `ideal_boiler_eur` is the greatest possible saving.
    """

    days: int
    share: float
    baseline: float
    week: float | None
    boiler_eur: float
    ideal_boiler_eur: float


class Mode(StrEnum):
    """The kind of prices that a server serves."""

    LIVE = "live"
    DEMO = "demo"
    """A simulated market, whose prices are made up."""
    REHEARSAL = "rehearsal"
    """A past day as it was known then, by a clock that runs on from that day."""


@dataclass(frozen=True, slots=True)
class About:
    """The server's description of itself, at one of its addresses.

    At this address the server answers for `zone`. `zones` has all zones of the server, each with its path below the
    first zone's path. The first zone's path is empty. `vat_rate` is a fraction; `vat_rate_is_chosen` is true if the
    operator chose it. `full_horizon` is true if the quarters reach past `freeUntil`. `price_scale` has the four prices,
    EUR/MWh, that separate the colours from cheap to expensive; it is empty if the server sends none.
    """

    version: str
    instance_id: str
    vat_rate: float
    attribution: str
    zone: Zone = Zone.EE
    zones: Mapping[Zone, str] = field(default_factory=lambda: {Zone.EE: ""})
    vat_rate_is_chosen: bool = False
    mode: Mode = Mode.LIVE
    full_horizon: bool = False
    price_scale: tuple[float, ...] = ()

    @property
    def chosen_vat_rate(self) -> float | None:
        """The VAT rate that the operator chose for all dates; None if the legal rate by date applies."""
        return self.vat_rate if self.vat_rate_is_chosen else None

    def instance_id_of(self, zone: Zone) -> str:
        """Return the id of a zone: the installation's id, with a suffix for zones other than Estonia."""
        return self.instance_id.removesuffix(self.zone.suffix) + zone.suffix


@dataclass(frozen=True, slots=True)
class ForecastAnswer:
    """The answer of `GET /api/v1/forecast` or `GET /api/v1/quarters`. Instants are UTC seconds.

    Prices are in EUR/MWh without VAT, by the start of their period, which is `step_s` seconds long: an hour or a
    quarter of an hour. Two answers that differ only in `now` are equal.
    """

    now: int = field(compare=False)
    made_at: int | None
    last_refresh: int | None
    backtest: Backtest | None
    settled: dict[int, float]
    forecast: dict[int, Band]
    step_s: int
    zone: Zone = Zone.EE

    def covers(self, instant: int) -> bool:
        """Return whether the period that contains `instant` has a settled or forecast price."""
        start = instant - instant % self.step_s
        return start in self.settled or start in self.forecast

    def market_price(self, instant: int) -> float | None:
        """Return the settled price or the forecast's median, EUR/MWh, of the period that contains `instant`."""
        start = instant - instant % self.step_s
        if start in self.settled:
            return self.settled[start]
        return self.forecast[start].p50 if start in self.forecast else None

    def in_hours(self) -> ForecastAnswer:
        """Return the answer by the hour.

        Prices are means of four quarters. The means have 2 decimals, like the server's prices.

        An hour is settled if all its quarters are. An hour with an unknown quarter has no price.
        """
        if self.step_s == HOUR_S:
            return self
        settled: dict[int, float] = {}
        forecast: dict[int, Band] = {}
        for hour in sorted({start - start % HOUR_S for start in (*self.settled, *self.forecast)}):
            quarters = range(hour, hour + HOUR_S, self.step_s)
            if all(start in self.settled for start in quarters):
                settled[hour] = _mean(self.settled[start] for start in quarters)
            elif all(start in self.settled or start in self.forecast for start in quarters):
                bands = [self._band(start) for start in quarters]
                forecast[hour] = Band(*(_mean(figures) for figures in zip(*bands, strict=True)))
        return replace(self, settled=settled, forecast=forecast, step_s=HOUR_S)

    def _band(self, start: int) -> tuple[float, float, float]:
        if start in self.settled:
            return (self.settled[start],) * 3
        band = self.forecast[start]
        return band.p10, band.p50, band.p90


def _mean(prices: Iterable[float]) -> float:
    return round(fmean(prices), _PRICE_DECIMALS)


_WORDS: Final = {
    "en": {Mode.DEMO: "demo", Mode.REHEARSAL: "rehearsal"},
    "et": {Mode.DEMO: "demo", Mode.REHEARSAL: "proov"},
    "ru": {Mode.DEMO: "демо", Mode.REHEARSAL: "репетиция"},
}
_CREDITS: Final = {
    "en": {Mode.DEMO: "Demo, simulated prices", Mode.REHEARSAL: "Rehearsal, prices of a past day"},
    "et": {Mode.DEMO: "Demo, väljamõeldud hinnad", Mode.REHEARSAL: "Proov, möödunud päeva hinnad"},
    "ru": {Mode.DEMO: "Демо, вымышленные цены", Mode.REHEARSAL: "Репетиция, цены прошедшего дня"},
}


def name_of(mode: Mode, zone: Zone, language: str) -> str:
    """Return the name of a server. It includes the country unless that is Estonia, and the mode unless that is live."""
    country = zone.country(language) if zone.suffix else None
    word = _WORDS.get(language, _WORDS[_ENGLISH]).get(mode)
    return " ".join(part for part in (_NAME, country, word) if part)


def marked_credit(credit: str, mode: Mode, language: str) -> str:
    """Return the credit, with a mark in front for a demo or a rehearsal."""
    mark = _CREDITS.get(language, _CREDITS[_ENGLISH]).get(mode)
    return f"{mark} · {credit}" if mark else credit

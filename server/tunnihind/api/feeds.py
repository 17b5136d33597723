"""Makes the answers of `/api/feeds/…`: settled prices, then forecast medians, for evcc, EMHASS and Predbat."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from tunnihind.api.models.prices import EvccRate, OctopusRate, OctopusRates
from tunnihind.api.periods import served_periods
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import Market, VatRates, consumer_price, iso_utc, rounded_market_price, vat_rate_at
from tunnihind.errors import NoPriceAhead
from tunnihind.settings import Settings

type FeedFormat = Literal["evcc", "emhass", "octopus"]
"""The format of a feed. Predbat reads Octopus's format."""

FEED_FORMATS: Final[tuple[FeedFormat, ...]] = ("evcc", "emhass", "octopus")

PRICE_KINDS: Final = ("consumer", "market")
"""The values of the parameter `price`: with VAT (the default), and without VAT."""


VAT_RATE_FIELD: Final = "Tunnihind-VAT-Rate"
"""The header field with the VAT rates of a feed's prices. The body can't contain these rates, because other programs
set the body's format."""


class FeedRequest(NamedTuple):
    """A request for a feed: the format, the step in seconds, and the kind of price (one of `PRICE_KINDS`)."""

    format: FeedFormat
    step_s: int
    price_kind: str


class FeedPrice(NamedTuple):
    """The price in EUR/kWh from `start` until `end` (unix seconds)."""

    start: int
    end: int
    eur_kwh: float


class FeedAnswer(NamedTuple):
    """The body of a feed before it is encoded as JSON, and the header fields that only feeds have."""

    body: object
    fields: Mapping[str, str]


def feed_answer(data: ServedData, now: int, settings: Settings, feed: FeedRequest) -> FeedAnswer:
    """Return the answer to `GET /api/feeds/…` as of `now` (unix seconds).

    Raises NoPriceAhead if no current or future price is known.
    """
    periods = [*feed_prices(data, now, settings, feed)]
    if not periods:
        raise NoPriceAhead(
            "No current or future price is known: the newest known prices are past, or no price is known yet"
        )
    vat = _vat_header_value(_vat_rates(data.market, settings, feed), periods[0].start, periods[-1].end)
    return FeedAnswer(_feed_body(periods, feed.format), {VAT_RATE_FIELD: vat})


def _feed_body(periods: Sequence[FeedPrice], feed_format: FeedFormat) -> object:
    prices = [period.eur_kwh for period in periods]
    times = [*(iso_utc(period.start) for period in periods), iso_utc(periods[-1].end)]
    match feed_format:
        case "evcc":
            return [
                EvccRate(start=start, end=end, value=price)
                for (start, end), price in zip(pairwise(times), prices, strict=True)
            ]
        case "emhass":
            return dict(zip(times[:-1], prices, strict=True))
        case "octopus":
            newest_first = [
                OctopusRate(value_inc_vat=round(100 * price, 3), valid_from=start, valid_to=end)
                for (start, end), price in zip(pairwise(times), prices, strict=True)
            ][::-1]
            return OctopusRates(count=len(periods), next=None, previous=None, results=newest_first)


def feed_prices(data: ServedData, now: int, settings: Settings, feed: FeedRequest) -> Iterator[FeedPrice]:
    """Yield the settled or forecast prices from the last local midnight on, without gaps.

    Other programs assume that each price holds until the next price starts. So the prices begin after the newest gap in
    the past, and end at the first gap in the future. If the current price is unknown, the prices begin with the next
    known price. If no current or future price is known, yield nothing.

    If a period has no settled price, its price is the forecast's median. For a period that has begun, the median comes
    from the newest forecast made before the period's start.
    """
    market = data.market
    vat = _vat_rates(market, settings, feed)
    midnight = market.midnight(market.local_time(now).date())
    served = served_periods(data, now, settings, step_s=feed.step_s, since=midnight)
    prices = {period.ts: period.percentiles.p50 for period in served.forecast}
    prices |= {period.ts: period.eur_mwh for period in served.settled}
    current = now - now % feed.step_s
    start = min((ts for ts in prices if ts >= current), default=None)
    if start is None:
        return
    while start - feed.step_s in prices:
        start -= feed.step_s
    while start in prices:
        yield FeedPrice(
            start, start + feed.step_s, _price_in_eur_kwh(prices[start], feed.price_kind, vat_rate_at(vat, start))
        )
        start += feed.step_s


def _price_in_eur_kwh(eur_mwh: float, price_kind: str, vat_rate: float) -> float:
    """Convert a market price to EUR/kWh, and add VAT if `price_kind` is `consumer`.

    A price with VAT is rounded to 4 decimals, as everywhere in the API. A price without VAT is rounded to 5 decimals,
    which are 2 decimals in EUR/MWh. Negative zero becomes zero.
    """
    market = rounded_market_price(eur_mwh)
    return consumer_price(market, vat_rate) if price_kind == "consumer" else round(market / 1000, 5) + 0.0


def _vat_rates(market: Market, settings: Settings, feed: FeedRequest) -> VatRates:
    """Return the VAT rates of a feed's prices.

    For market prices, the rate is zero. For consumer prices, it is `settings.chosen_vat_rate`. If this is None, each
    date has its legal rate.
    """
    chosen = 0.0 if feed.price_kind == "market" else settings.chosen_vat_rate
    return market.legal_vat_rates if chosen is None else ((0, chosen),)


def _vat_header_value(rates: VatRates, start: int, end: int) -> str:
    """Return the value of the header field `VAT_RATE_FIELD` for prices from `start` to `end`.

    For example, `0.22, 0.24;from=1751317200` means 22% at first, and 24% from the instant 1751317200 on.
    """
    later = [f"{rate:.6g};from={since}" for since, rate in rates if start < since < end]
    return ", ".join([f"{vat_rate_at(rates, start):.6g}", *later])

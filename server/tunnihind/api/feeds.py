"""Makes the answers of `/api/feeds/…`: settled prices, then forecast medians, for evcc, EMHASS and Predbat."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from tunnihind.api.models.prices import EvccRate, OctopusRate, OctopusRates
from tunnihind.api.periods import served_periods
from tunnihind.api.served_data import ServedData
from tunnihind.errors import NoPriceAhead
from tunnihind.market import Market, VatRates, consumer_price, iso_utc, market_price, vat_rate_at
from tunnihind.settings import Settings

type Reader = Literal["evcc", "emhass", "octopus"]
"""The format of a feed. Predbat reads Octopus's format."""

READERS: Final[tuple[Reader, ...]] = ("evcc", "emhass", "octopus")

PRICES: Final = ("consumer", "market")
"""The values of the parameter `price`: with VAT (the default), and without VAT."""


VAT_RATE: Final = "Tunnihind-VAT-Rate"
"""The header field with the VAT rates of a feed's prices. The body can't contain these rates, because other programs
set the body's format."""


class Feed(NamedTuple):
    """A request for a feed: the format, the step in seconds, and the kind of price (one of `PRICES`)."""

    reader: Reader
    step_s: int
    price: str


class Rate(NamedTuple):
    """The price in EUR/kWh from `start` until `end` (unix seconds)."""

    start: int
    end: int
    eur_kwh: float


class FeedAnswer(NamedTuple):
    """The body of a feed before it is encoded as JSON, and the header fields that only feeds have."""

    body: object
    fields: Mapping[str, str]


def feed_answer(data: ServedData, now: int, settings: Settings, feed: Feed) -> FeedAnswer:
    """Return the answer to `GET /api/feeds/…` as of `now` (unix seconds).

    Raises NoPriceAhead if no current or future price is known.
    """
    rates = [*feed_rates(data, now, settings, feed)]
    if not rates:
        raise NoPriceAhead("No current or future price is known: the newest ones are past, or there are none yet")
    vat = _header_value(_vat_rates(data.market, settings, feed), rates[0].start, rates[-1].end)
    return FeedAnswer(_body(rates, feed.reader), {VAT_RATE: vat})


def _body(rates: Sequence[Rate], reader: Reader) -> object:
    prices = [rate.eur_kwh for rate in rates]
    times = [*(iso_utc(rate.start) for rate in rates), iso_utc(rates[-1].end)]
    match reader:
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
            return OctopusRates(count=len(rates), next=None, previous=None, results=newest_first)


def feed_rates(data: ServedData, now: int, settings: Settings, feed: Feed) -> Iterator[Rate]:
    """Yield the settled or forecast prices from the last local midnight on, without gaps.

    Other programs assume that each price holds until the next price starts. So the prices begin after the newest gap in
    the past, and end at the first gap in the future. If the current price is unknown, the prices begin with the next
    known price. If a period has no settled price, its price is the forecast's median. For a period that has begun, the
    median comes from the newest forecast made before the period's start.
    """
    market = data.market
    vat = _vat_rates(market, settings, feed)
    midnight = market.midnight(market.local(now).date())
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
        yield Rate(start, start + feed.step_s, _eur_kwh(prices[start], feed.price, vat_rate_at(vat, start)))
        start += feed.step_s


def _eur_kwh(eur_mwh: float, price: str, vat_rate: float) -> float:
    """Convert a price to EUR/kWh.

    A price with VAT is rounded to 4 decimals, as everywhere in the API. A price without VAT is rounded to 5 decimals,
    which are 2 decimals in EUR/MWh. Negative zero becomes zero.
    """
    market = market_price(eur_mwh)
    return consumer_price(market, vat_rate) if price == "consumer" else round(market / 1000, 5) + 0.0


def _vat_rates(market: Market, settings: Settings, feed: Feed) -> VatRates:
    """Return the VAT rates of a feed's prices: zero, the operator's choice, or the legal rate of each date."""
    chosen = 0.0 if feed.price == "market" else settings.chosen_vat_rate
    return market.vat_by_law if chosen is None else ((0, chosen),)


def _header_value(rates: VatRates, start: int, end: int) -> str:
    """Return the value of the header field `VAT_RATE` for prices from `start` to `end`.

    For example, `0.22, 0.24;from=1751317200` means 22% at first, and 24% from the instant 1751317200 on.
    """
    later = [f"{rate:.6g};from={since}" for since, rate in rates if start < since < end]
    return ", ".join([f"{vat_rate_at(rates, start):.6g}", *later])

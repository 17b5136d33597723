"""Makes the answers of `/api/feeds/…`: settled prices, then the forecast, for evcc, EMHASS, Predbat and EOS."""

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from tunnihind.api.models.price_answers import EosPrices, EvccRate, OctopusRate, OctopusRates
from tunnihind.api.periods import served_periods
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import Market, VatRates, consumer_price, iso_utc, rounded_market_price, vat_rate_at
from tunnihind.errors import NoPriceAhead
from tunnihind.settings import Settings

type FeedFormat = Literal["evcc", "emhass", "octopus", "eos"]
"""The format of a feed. Predbat reads Octopus's format."""

FEED_FORMATS: Final[tuple[FeedFormat, ...]] = ("evcc", "emhass", "octopus", "eos")

PRICE_KINDS: Final = ("consumer", "market")
"""The values of the parameter `price`: with VAT (the default), and without VAT."""

PERCENTILES: Final = ("p50", "p10", "p90")
"""The values of the parameter `percentile`: the forecast's median (the default), or its 10th or 90th percentile."""

VAT_RATE_FIELD: Final = "Tunnihind-VAT-Rate"
"""The header field with the VAT rates of a feed's prices. The body can't contain these rates, because other programs
set the body's format."""


_MINUTE_S: Final = 60
_WH_PER_KWH: Final = 1000


class FeedRequest(NamedTuple):
    """A request for a feed: the format, the step in seconds, and one each of `PRICE_KINDS` and `PERCENTILES`."""

    format: FeedFormat
    step_s: int
    price_kind: str
    percentile: str = PERCENTILES[0]


class FeedAnswer(NamedTuple):
    """The body of a feed before it is encoded as JSON, and the header fields that only feeds have."""

    body: object
    fields: Mapping[str, str]


def feed_answer(data: ServedData, now: int, settings: Settings, feed: FeedRequest) -> FeedAnswer:
    """Return the answer to `GET /api/feeds/…` as of `now` (unix seconds), with prices from the last local midnight on.

    If a period has no settled price, its price is the requested percentile of the forecast. For a period that has
    begun, the forecast is the newest one made before the period's start. Raises NoPriceAhead if no current or future
    price is known.
    """
    vat = _vat_rates(data.market, settings, feed)
    midnight = data.market.midnight(data.market.local_time(now).date())
    served = served_periods(data, now, settings, step_s=feed.step_s, since=midnight)
    settled, forecast = served.settled, served.forecast
    starts = _starts_without_gaps(settled.keys() | forecast.keys(), now, feed.step_s)
    if not starts:
        raise NoPriceAhead(
            "No current or future price is known: the newest known prices are past, or no price is known yet"
        )
    market_prices = (settled[ts] if ts in settled else getattr(forecast[ts], feed.percentile) for ts in starts)
    prices = (
        _price_in_eur_kwh(eur_mwh, feed.price_kind, vat_rate_at(vat, ts))
        for ts, eur_mwh in zip(starts, market_prices, strict=True)
    )
    return FeedAnswer(
        _feed_body(starts, prices, feed.format), {VAT_RATE_FIELD: _vat_header_value(vat, starts.start, starts.stop)}
    )


def _feed_body(starts: range, prices: Iterable[float], feed_format: FeedFormat) -> object:
    times = [*map(iso_utc, starts), iso_utc(starts.stop)]
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
            return OctopusRates(count=len(starts), next=None, previous=None, results=newest_first)
        case "eos":
            return EosPrices(
                start_datetime=times[0],
                interval=f"{starts.step // _MINUTE_S} minutes",
                # A price in EUR/kWh has at most 5 decimals.
                elecprice_marketprice_wh=[round(price / _WH_PER_KWH, 8) for price in prices],
            )


def _starts_without_gaps(known: Collection[int], now: int, step_s: int) -> range:
    """Return the starts of the periods of a feed, without gaps. `known` has the starts of all known prices.

    Other programs assume that each price holds until the next price starts. So the periods begin after the newest gap
    in the past, and end at the first gap in the future. If the current price is unknown, the periods begin with the
    next known price. If no current or future price is known, there are none.
    """
    first = end = min((ts for ts in known if ts >= now - now % step_s), default=0)
    while first - step_s in known:
        first -= step_s
    while end in known:
        end += step_s
    return range(first, end, step_s)


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

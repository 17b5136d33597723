"""Wrong answers: each function takes the right quotes of all zones, and returns a source's wrong quotes."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta

from tests.support.upstreams.elering import Quotes
from tunnihind.core.market import HOUR_S, QUARTER_S, Zone, day_end, day_start, delivery_day, floor_hour

type Lie = Callable[[Quotes], Quotes]
type Change = Callable[[Zone, int, dict[int, float]], float | None]


def right(quotes: Quotes) -> Quotes:
    return quotes


def nothing(_: Quotes) -> Quotes:
    return {}


def changed(
    change: Callable[[Zone, int, dict[int, float]], float | None], *days: date, zone: Zone | None = None
) -> Lie:
    """Change the prices of all zones or of one. `change` gets a zone's prices by time."""

    def lie(quotes: Quotes) -> Quotes:
        said: Quotes = {}
        for of, prices in quotes.items():
            is_changed = zone in {None, of}
            told = {
                ts: change(of, ts, prices) if is_changed and (not days or delivery_day(ts) in days) else price
                for ts, price in prices.items()
            }
            said[of] = {ts: price for ts, price in told.items() if price is not None}
        return said

    return lie


def moved(by_s: int, *days: date, zone: Zone | None = None) -> Lie:
    """Give each period the price of the period `by_s` seconds earlier."""
    return changed(lambda _, ts, prices: prices.get(ts - by_s), *days, zone=zone)


def rotated(by_s: int, *days: date) -> Lie:
    """Shift the prices within each day: the prices at one end come back at the other."""

    def change(_: Zone, ts: int, prices: dict[int, float]) -> float:
        start, end = day_start(delivery_day(ts)), day_end(delivery_day(ts))
        return prices[start + (ts - start - by_s) % (end - start)]

    return changed(change, *days)


def times(factor: float, *days: date, zone: Zone | None = None, digits: int = 2) -> Lie:
    return changed(lambda _, ts, prices: round(prices[ts] * factor, digits), *days, zone=zone)


def plus(eur_mwh: float, *days: date, hours: int = 25, zone: Zone | None = None) -> Lie:
    """Add an amount to the first hours of the days."""

    def change(_: Zone, ts: int, prices: dict[int, float]) -> float:
        is_early = ts < day_start(delivery_day(ts)) + hours * HOUR_S
        return round(prices[ts] + eur_mwh, 2) if is_early else prices[ts]

    return changed(change, *days, zone=zone)


def level(eur_mwh: float, *days: date, zone: Zone | None = None) -> Lie:
    return changed(lambda *_: eur_mwh, *days, zone=zone)


def at_periods(prices: Mapping[int, float], *days: date) -> Lie:
    """Give other prices in some quarters, which are named by their number in the day."""
    return changed(lambda _, ts, right: prices.get((ts - day_start(delivery_day(ts))) // QUARTER_S, right[ts]), *days)


def zeros(hours: int, *days: date) -> Lie:
    """Give zeros in the first hours of the days."""
    return at_periods(dict.fromkeys(range(hours * HOUR_S // QUARTER_S), 0.0), *days)


def padded(hours: int, *days: date) -> Lie:
    """Give the first hours of the days, and repeat the last price until midnight."""

    def change(_: Zone, ts: int, prices: dict[int, float]) -> float:
        return prices[min(ts, day_start(delivery_day(ts)) + hours * HOUR_S - QUARTER_S)]

    return changed(change, *days)


def right_at_ends(lie: Lie, day: date, *, first: int = 0, last: int = 0) -> Lie:
    """Tell `lie`, but with the right prices in the first or the last hours of a day."""

    def mixed(quotes: Quotes) -> Quotes:
        start, end = day_start(day), day_end(day)
        ends = [*range(start, start + first * HOUR_S), *range(end - last * HOUR_S, end)]
        return {
            zone: prices | {ts: quotes[zone][ts] for ts in ends if ts in prices} for zone, prices in lie(quotes).items()
        }

    return mixed


def random(seed: int, *days: date, zone: Zone | None = None) -> Lie:
    """Give random prices instead of the right ones."""
    return changed(lambda _, ts, __: round(hash((seed, ts)) % 20000 / 100 - 20, 2), *days, zone=zone)


def first_half(*days: date, zone: Zone | None = None) -> Lie:
    return changed(
        lambda _, ts, prices: prices[ts] if ts - day_start(delivery_day(ts)) < 12 * HOUR_S else None, *days, zone=zone
    )


def first_quarters(*days: date) -> Lie:
    """Give hours, each with the price of its first quarter."""
    return changed(lambda _, ts, prices: prices[ts] if ts % HOUR_S == 0 else None, *days)


def in_hours(*days: date) -> Lie:
    """Give hours instead of quarters, each with its right mean price."""

    def change(_: Zone, ts: int, prices: dict[int, float]) -> float | None:
        return None if ts % HOUR_S else sum(prices[ts + n * QUARTER_S] for n in range(4)) / 4

    return changed(change, *days)


def flat_hours(*days: date) -> Lie:
    """Give quarters, each with the price of its hour's first quarter."""
    return changed(lambda _, ts, prices: prices[floor_hour(ts)], *days)


def copied(*days: date, back: int = 1) -> Lie:
    """Give the prices of `back` days before, in the same order."""

    def lie(quotes: Quotes) -> Quotes:
        said = {zone: dict(prices) for zone, prices in quotes.items()}
        for zone, prices in said.items():
            for day in days:
                before = [quotes[zone][ts] for ts in sorted(prices) if delivery_day(ts) == day - timedelta(days=back)]
                starts = range(day_start(day), day_end(day), QUARTER_S)
                prices |= {ts: before[n % len(before)] for n, ts in enumerate(starts)}
        return said

    return lie


def swapped(one: Zone, other: Zone, *days: date) -> Lie:
    """Exchange the prices of two zones."""

    def lie(quotes: Quotes) -> Quotes:
        names = {one: other, other: one}
        return {
            zone: {
                ts: quotes[names.get(zone, zone)][ts] if not days or delivery_day(ts) in days else price
                for ts, price in prices.items()
            }
            for zone, prices in quotes.items()
        }

    return lie


def doubled(zone: Zone, other: Zone, *days: date) -> Lie:
    """Write a zone's key twice into the document.

    The second key has another zone's prices, and readers use the second key.
    """
    return lambda quotes: {**quotes, zone: swapped(zone, other, *days)(quotes)[zone]}

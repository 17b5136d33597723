"""Hypothesis strategies for instants, hours and answers."""

from hypothesis import strategies as st

from custom_components.tunnihind.client.answers import Band, MarketPrices
from custom_components.tunnihind.core.market import HOUR_S, QUARTER_S
from custom_components.tunnihind.prices.timeline import Period
from tests.support.household.home import DAY_S, instant

BEGINNING = instant("2024-01-01T00:00:00+02:00")
HOURS = range(BEGINNING, BEGINNING + 6 * 366 * DAY_S, HOUR_S)
"""Six years of hours, with twelve changes of the clocks."""

hour_starts = st.sampled_from(HOURS)
instants = st.integers(HOURS.start, HOURS.stop - 1)
eur_mwh = st.integers(-50_000, 500_000).map(lambda price: price / 100)
eur_kwh = st.integers(-5_000, 50_000).map(lambda price: price / 10_000)


@st.composite
def bands(draw: st.DrawFn) -> Band:
    return Band(*sorted(draw(st.tuples(eur_mwh, eur_mwh, eur_mwh))))


@st.composite
def answers(draw: st.DrawFn, *, since: int = HOURS.start, step_s: int = HOUR_S) -> MarketPrices:
    """Draw a server's answer at some instant within three days of `since`, with any hours around that instant."""
    now = draw(st.integers(since, since + 3 * DAY_S))
    first = now - now % step_s
    around = st.integers(-60, 40).map(lambda place: first + place * step_s)
    ahead = st.integers(1, 72).map(lambda place: first + place * step_s)
    return MarketPrices(
        now=now,
        made_at=draw(st.none() | st.just(now - 600)),
        last_refresh=draw(st.none() | st.just(now - 300)),
        backtest=None,
        settled=draw(st.dictionaries(around, eur_mwh, max_size=30)),
        forecast=draw(st.dictionaries(ahead, bands(), max_size=30)),
        step_s=step_s,
    )


@st.composite
def lines(draw: st.DrawFn) -> list[Period]:
    """Draw known periods of one length in any order, with gaps."""
    starts = draw(st.lists(st.integers(0, 60), unique=True, max_size=30))
    first = draw(hour_starts)
    step_s = draw(st.sampled_from([HOUR_S, QUARTER_S]))
    periods = []
    for start in (first + place * step_s for place in starts):
        low, price, high = sorted(draw(st.tuples(eur_kwh, eur_kwh, eur_kwh)))
        settled = draw(st.booleans())
        band = (price, price, price) if settled else (price, low, high)
        periods.append(Period(start, start + step_s, *band, settled=settled))
    return periods

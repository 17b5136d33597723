"""Finds the highlights ahead, and describes them in sentences.

Highlights are cheap and expensive hours, and days with unusual prices. Each `amount` is a price in the reader's unit.
The usual price is the mean of the published prices of the two weeks before today. Cheap hours cost far less than the
day's mean price. Expensive hours cost far more than the day's mean price. If the usual price is known, cheap hours also
cost less than the usual price, and expensive hours more.

The following figures come from pages made at 09:00 UTC on 365 days of 2025, with the legal VAT in all prices: 22% until
June, and then 24%.

Half of the cheap hours cost at most 43% of the usual price, and 99% of the cheap hours cost at most 89% of it. Half of
the expensive hours cost at least 170% of the usual price, and 99% of the expensive hours cost at least 110% of it. If
the forecast's median for an hour was below zero, the price fell below zero in only 3 of 10 cases.

For each sentence, `tests/benchmarks/bench_outlook.py` counted the pages that contained it. The share is the fraction of
these pages on which the sentence came true:

| sentence | days ahead | pages | the sentence came true if | share |
|---|---|---|---|---|
| cheap hours | 1 | 239 | the mean price of the named hours was below the day's mean price | 100% |
| cheap hours | 1 | 239 | the named hours' mean was over 15% and over 1 c/kWh plus VAT below the day's mean | 95% |
| expensive hours | 1 | 313 | the mean price of the named hours was above the day's mean price | 100% |
| expensive hours | 1 | 313 | the named hours' mean was over 15% and over 1 c/kWh plus VAT above the day's mean | 96% |
| cheaper than usual | 1 | 102 | the day's mean price was below the usual price | 97% |
| cheaper than usual | 2 | 90 | the day's mean price was below the usual price | 89% |
| more expensive than usual | 1 | 76 | the day's mean price was above the usual price | 100% |
| more expensive than usual | 2 | 67 | the day's mean price was above the usual price | 93% |
| close to zero | 1 | 82 | the mean price of the named hours was below 1 c/kWh plus VAT | 93% |
| close to zero | 2 | 55 | the mean price of the named hours was below 1 c/kWh plus VAT | 89% |
| may be very expensive | 2 | 54 | a named hour cost more than twice the usual price | 78% |
| may be very expensive | 2 | 54 | a named hour cost more than all hours of the two weeks before | 33% |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby
from statistics import fmean
from typing import Final, Literal, NamedTuple

from tunnihind.core.market import HOUR_S, floor_hour
from tunnihind.web.display import Display, PricedPeriod
from tunnihind.web.weather import RegionWeather

type Weather = Literal["windy", "calm", "sunny"]
type UsualPrice = Literal["cheap", "veryCheap", "expensive", "veryExpensive"]

_NOTABLE_EUR_MWH: Final = 20.0
"""A difference from a mean price makes a highlight only if the difference is at least this large, without VAT."""
_NOTABLE_SHARE: Final = 0.3
"""A difference from a mean price makes a highlight only if it is also at least this fraction of the mean price.

Hours are compared with the day's mean price, and days with the usual price. In a span of cheap or expensive hours, at
least one hour must differ by more than both minimums, and each other hour by more than half of each.
"""
_MUCH_CHEAPER: Final = 0.6
"""A price is much below the usual price if the difference is at least this fraction of the sum of the usual price and
`_NOTABLE_EUR_MWH`."""
_MUCH_MORE_EXPENSIVE: Final = 1.0
"""A price is much above the usual price if the difference is at least this multiple of the sum of the usual price and
`_NOTABLE_EUR_MWH`."""
_USUAL_DAYS: Final = 3
"""If the hours before today with published prices add up to fewer days than this, the usual price is unknown."""
_WHOLE_DAY_HOURS: Final = 20
"""A day is compared with the usual price only if at least this many of its hours have a price or a forecast. Past hours
count too, so that today is compared all day."""
_NEAR_ZERO_SHARE: Final = 0.25
"""If any remaining price of a day is a forecast, the day's prices below this fraction of `_NOTABLE_EUR_MWH`, 0.5 c/kWh
plus the VAT in the shown prices, count as close to zero."""
_BEYOND_USUAL_SHARE: Final = 0.5
"""If the usual price is known, at least one hour in a span of cheap hours must be below the usual price by more than
this fraction of `_NOTABLE_EUR_MWH`.

Likewise, in a span of expensive hours, at least one hour must be above the usual price by more than the same amount.
"""
_MAX_SPANS: Final = 2
_SHORTEST_LOW_SPAN_S: Final = 2 * HOUR_S
"""No span of low prices is shorter than this, because a single cheap hour is hardly worth waiting for."""
_WINDY_M_S: Final = 9.5
"""The page names wind as the reason for low prices only if the mean wind speed of the day's remaining hours is at
least this value.

At this wind speed, Baltic wind farms give 77% of their full power. This figure comes from 169 days from January to June
2025. The wind speeds are forecasts for ten Lithuanian towns. The wind power is ENTSO-E's forecast for the three Baltic
states.
"""
_CALM_M_S: Final = 5.0
"""The page names calm as the reason for high prices only if the mean wind speed of the day's remaining hours is at most
this value.

At this wind speed, Baltic wind farms give 20% of their full power, according to the forecasts named below `_WINDY_M_S`.
"""
_SUNNY_W_M2: Final = 400.0
"""The page names the sun as the reason for low prices only if the radiation reaches this value in an hour with these
prices.

At a cloudless noon in June, the radiation is about twice this value. In 2025, the radiation reached this value on 70%
of the days from April to June, and on no day in January. From March to June 2025, the median price from 11 to 18
o'clock was 13% of the day's mean on sunny days, and 39% on other days.
"""
_WORTH_NAMING_SHARE: Final = 0.5
"""The page names a second span only if its size is at least this fraction of the largest span's size.

A span's size is the sum of the amounts by which the values of its hours exceed the `level` of `_largest_spans`.
"""


class HourSpan(NamedTuple):
    """A span of consecutive hours, from the start of the first hour to the end of the last hour (unix seconds)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DayOutlook:
    """The highlights of one day of the reader's calendar. Past hours count only in `usual`.

    Each tuple holds at most two spans. Spans of low prices last at least two hours. Except in `possibly_expensive`, a
    price that isn't published yet counts with the forecast's median.

    `usual` compares the day's mean price with the usual price. If the difference is small or can't be judged, `usual`
    is None. `cheap` and `expensive` are filled only for today and tomorrow. If all remaining prices of the day are
    published, `negative` holds hours with prices below zero. Otherwise, `near_zero` holds hours with prices below or
    close to zero, because a forecast can't show reliably whether a price will be below zero. If `negative` or
    `near_zero` holds any hours, `cheap` is empty. `possibly_expensive` holds hours in which p90 is far above the usual
    price, and above all prices of the two weeks before today. If `expensive` holds any hours, `possibly_expensive` is
    empty. `weather` is the forecast weather that explains the prices: wind or sun for low prices, calm for high prices.
    """

    day: date
    usual: UsualPrice | None = None
    negative: tuple[HourSpan, ...] = ()
    near_zero: tuple[HourSpan, ...] = ()
    cheap: tuple[HourSpan, ...] = ()
    expensive: tuple[HourSpan, ...] = ()
    possibly_expensive: tuple[HourSpan, ...] = ()
    weather: Weather | None = None

    def __bool__(self) -> bool:
        return bool(self.usual or self.spans)

    @property
    def low_spans(self) -> tuple[HourSpan, ...]:
        """The spans of hours with low prices."""
        return (*self.negative, *self.near_zero, *self.cheap)

    @property
    def spans(self) -> tuple[HourSpan, ...]:
        """The spans of all highlights of the day."""
        return (*self.low_spans, *self.expensive, *self.possibly_expensive)


@dataclass(frozen=True, slots=True)
class _HourPrice:
    """An hour's mean price.

    `high` is the mean of the 90th percentiles in the hour. If a price within the hour is settled, `high` is None.
    """

    ts: int
    amount: float
    high: float | None


@dataclass(frozen=True, slots=True)
class _UsualPrices:
    """The mean and the highest of the published hourly prices of the two weeks before today."""

    mean: float
    highest: float


def day_outlooks(
    days: Mapping[date, Sequence[PricedPeriod]], now: int, display: Display, weather: RegionWeather | None = None
) -> tuple[DayOutlook, ...]:
    """Return the highlights of today and of later days, as of `now` (unix seconds).

    `days` maps each day of the reader's calendar, from two weeks before today on, to its periods. Days without
    highlights are left out of the result.
    """
    today = display.local_day(now)
    hours = {day: list(_hourly_prices(periods, display)) for day, periods in days.items()}
    usual = _usual_prices([of_day for day, of_day in hours.items() if day < today])
    notable = display.shown_amount(_NOTABLE_EUR_MWH, now) - display.shown_amount(0.0, now)
    ahead = (
        _day_outlook(day, of_day, usual, notable, floor_hour(now), is_near=day <= today + timedelta(days=1))
        for day, of_day in hours.items()
        if day >= today
    )
    return tuple(
        replace(
            one,
            weather=_explaining_weather(
                one, weather, [hour.ts for hour in hours[one.day] if one.usual or hour.ts >= floor_hour(now)]
            ),
        )
        for one in ahead
        if one
    )


def _explaining_weather(of_day: DayOutlook, weather: RegionWeather | None, hours: Sequence[int]) -> Weather | None:
    """Return the weather that explains a day's low or high prices, or None if no known weather explains them."""
    if weather is None:
        return None
    wind, _ = weather.wind_and_sun_at(hours)
    is_low = of_day.usual in ("cheap", "veryCheap") or bool(of_day.low_spans)
    is_high = of_day.usual in ("expensive", "veryExpensive") or bool(of_day.expensive or of_day.possibly_expensive)
    if is_high and not is_low and wind.mean() <= _CALM_M_S:
        return "calm"
    if is_low and not is_high and wind.mean() >= _WINDY_M_S:
        return "windy"
    low = [ts for ts in hours if any(span.start <= ts < span.end for span in of_day.low_spans)]
    if low and weather.wind_and_sun_at(low)[1].max() >= _SUNNY_W_M2:
        return "sunny"
    return None


def _hourly_prices(periods: Iterable[PricedPeriod], display: Display) -> Iterator[_HourPrice]:
    for ts, group in groupby(periods, key=lambda period: floor_hour(period.ts)):
        of_hour = list(group)
        highs = [display.interval(period)[1] for period in of_hour if period.settled is None]
        yield _HourPrice(
            ts, fmean(map(display.shown_price, of_hour)), fmean(highs) if len(highs) == len(of_hour) else None
        )


def _usual_prices(days: Sequence[Sequence[_HourPrice]]) -> _UsualPrices | None:
    amounts = [hour.amount for hours in days for hour in hours if hour.high is None]
    return _UsualPrices(fmean(amounts), max(amounts)) if len(amounts) >= _USUAL_DAYS * 24 else None


def _day_outlook(
    day: date, hours: Sequence[_HourPrice], usual: _UsualPrices | None, notable: float, since: int, *, is_near: bool
) -> DayOutlook:
    """Return the highlights of a day from `since` on. If `is_near` is false, leave out cheap and expensive hours."""
    mean = fmean(hour.amount for hour in hours)
    centre = usual.mean if usual else mean
    margin, beyond = max(notable, _NOTABLE_SHARE * abs(mean)), _BEYOND_USUAL_SHARE * notable
    ahead = [hour for hour in hours if hour.ts >= since]
    is_whole = len(hours) >= _WHOLE_DAY_HOURS
    is_forecast = any(hour.high is not None for hour in ahead)
    below = [(hour.ts, -hour.amount) for hour in ahead]
    above = [(hour.ts, hour.amount) for hour in ahead]
    lowest = _largest_spans(below, -_NEAR_ZERO_SHARE * notable if is_forecast else 0.0, shortest=_SHORTEST_LOW_SPAN_S)
    cheap = _largest_spans(
        below, -min(mean - margin / 2, centre), -min(mean - margin, centre - beyond), shortest=_SHORTEST_LOW_SPAN_S
    )
    expensive = (
        _largest_spans(above, max(mean + margin / 2, centre), max(mean + margin, centre + beyond)) if is_near else ()
    )
    return DayOutlook(
        day,
        usual=_usual_comparison(mean, usual.mean, notable) if usual and is_whole else None,
        negative=() if is_forecast else lowest,
        near_zero=lowest if is_forecast else (),
        cheap=cheap if is_near and not lowest else (),
        expensive=expensive,
        possibly_expensive=_possibly_expensive_spans(ahead, usual, notable) if usual and not expensive else (),
    )


def _usual_comparison(mean: float, usual: float, notable: float) -> UsualPrice | None:
    more, reference_amount = mean - usual, notable + abs(usual)
    if abs(more) < max(notable, _NOTABLE_SHARE * abs(usual)):
        return None
    if more < 0:
        return "veryCheap" if -more >= _MUCH_CHEAPER * reference_amount else "cheap"
    return "veryExpensive" if more >= _MUCH_MORE_EXPENSIVE * reference_amount else "expensive"


def _possibly_expensive_spans(hours: Sequence[_HourPrice], usual: _UsualPrices, notable: float) -> tuple[HourSpan, ...]:
    """Return at most two spans in which p90 is far above the usual price, and also above `usual.highest`."""
    level = max(usual.highest, usual.mean + _MUCH_MORE_EXPENSIVE * (notable + abs(usual.mean)))
    return _largest_spans([(hour.ts, hour.high) for hour in hours if hour.high is not None], level)


def _largest_spans(
    hours: Sequence[tuple[int, float]], level: float, peak: float | None = None, *, shortest: int = HOUR_S
) -> tuple[HourSpan, ...]:
    """Return at most two spans of consecutive hours with values above `level`, in chronological order.

    These are the two largest spans. If the second is smaller than `_WORTH_NAMING_SHARE` times the largest, only the
    largest is returned. `_WORTH_NAMING_SHARE` also explains the size of a span. `hours` lists the start and the value
    of each hour. If `peak` is given, each span contains at least one value above `peak`. `shortest` is the minimum
    length of a span in seconds.
    """
    found: list[tuple[float, float, HourSpan]] = []
    for ts, value in hours:
        if value <= level:
            continue
        if found and found[-1][-1].end == ts:
            size, top, span = found.pop()
            found.append((size + value - level, max(top, value), HourSpan(span.start, ts + HOUR_S)))
        else:
            found.append((value - level, value, HourSpan(ts, ts + HOUR_S)))
    long = [one for one in found if one[-1].end - one[-1].start >= shortest]
    high = sorted((one for one in long if peak is None or one[1] > peak), reverse=True)[:_MAX_SPANS]
    return tuple(sorted(span for size, _, span in high if size >= _WORTH_NAMING_SHARE * high[0][0]))


def outlook_sentences(
    outlooks: Sequence[DayOutlook], days: Mapping[date, Sequence[PricedPeriod]], now: int, display: Display
) -> tuple[str, ...]:
    """Write the highlights in the reader's language. `days` must be the mapping that was given to `day_outlooks`."""
    writer = _SentenceWriter(days, now, display)
    # Adjacent outlooks share a sentence if they have no spans and differ only in the day.
    alike = groupby(outlooks, key=lambda one: (one.day if one.spans else None, replace(one, day=date.min)))
    return tuple(writer.sentence(list(group), is_first=not n) for n, (_, group) in enumerate(alike))


class _Highlight(NamedTuple):
    """What a day's price is like, when, and in brackets the highest price. `is_split` is true for two spans."""

    what: str
    when: str
    top: str
    is_split: bool = False

    @property
    def text(self) -> str:
        """The highlight as a part of a sentence."""
        return f"{self.what} {self.when}{self.top}"


class _SentenceWriter:
    def __init__(self, days: Mapping[date, Sequence[PricedPeriod]], now: int, display: Display) -> None:
        self._days = days
        self._now = now
        self._show = display
        self._text = display.texts

    def sentence(self, alike: Sequence[DayOutlook], *, is_first: bool) -> str:
        """Write the highlights of one day, or of several days with equal highlights."""
        outlook = alike[0]
        is_forecast = any(period.settled is None for one in alike for period in self._described_periods(one))
        gaps = {
            "day": self._day_names([one.day for one in alike]),
            "subject": self._text("outlook.first" if is_first else "outlook.next"),
            "weather": self._text(f"outlook.weather.{outlook.weather}") if outlook.weather else "",
        }
        highest = self._possibly_expensive_highlight(outlook) if outlook.possibly_expensive else None
        if highest and outlook == DayOutlook(
            outlook.day, possibly_expensive=outlook.possibly_expensive, weather=outlook.weather
        ):
            return self._text("outlook.possible", **highest._asdict(), **gaps)
        highlights = self._highlights(outlook)
        if highest:
            what = self._highlights_text(outlook, highlights)
            return self._text("outlook.likelyAndPossible", what=what, highest=highest.text, **gaps)
        certainty = "likely" if is_forecast else "certain"
        if outlook.usual is None and len(highlights) == 1:
            [only] = highlights.values()
            return self._text(f"outlook.{certainty}.one", **only._asdict(), **gaps)
        return self._text(f"outlook.{certainty}", what=self._highlights_text(outlook, highlights), **gaps)

    def _day_names(self, days: Sequence[date]) -> str:
        today = self._show.local_day(self._now)
        if days == [today]:
            return self._text("days.today")
        if days == [today + timedelta(days=1)]:
            return self._text("days.tomorrow")
        named = self._text("outlook.on", days=self._list_text([self._text.on_weekday(day) for day in days]))
        # In Estonian and Russian, `named` begins with a small letter, but a sentence begins with a capital letter.
        return named[0].upper() + named[1:]

    def _highlights(self, outlook: DayOutlook) -> dict[str, _Highlight]:
        """Return the highlights of a day by kind, except `usual`, `possibly_expensive` and `weather`."""
        kinds = {
            "negative": outlook.negative,
            "nearZero": outlook.near_zero,
            "cheap": outlook.cheap,
            "expensive": outlook.expensive,
        }
        spans = dict(sorted(((kind, found) for kind, found in kinds.items() if found), key=lambda item: item[1]))
        top = self._highest_price_text(outlook.day, outlook.expensive)
        return {
            kind: _Highlight(
                self._text(f"outlook.{kind}"),
                self._times_text(outlook.day, found),
                top if kind == "expensive" else "",
                is_split=len(found) > 1,
            )
            for kind, found in spans.items()
        }

    def _highlights_text(self, outlook: DayOutlook, highlights: Mapping[str, _Highlight]) -> str:
        """Describe `usual` and the other highlights of a day."""
        texts = {kind: highlight.text for kind, highlight in highlights.items()}
        if outlook.usual is None:
            some_are_split = any(highlight.is_split for highlight in highlights.values())
            return self._list_text([*texts.values()], "outlook.andAlso" if some_are_split else "outlook.and")
        whole = self._text(f"outlook.usual.{outlook.usual}")
        is_expensive = outlook.usual in ("expensive", "veryExpensive")
        same_kind = "expensive" if is_expensive else "cheap"
        others = ("negative", "nearZero", "cheap") if is_expensive else ("expensive",)
        if same_kind in texts:
            same = highlights[same_kind]
            whole = self._text("outlook.especially", what=whole, when=same.when, top=same.top)
        elif same_kind == "cheap":
            whole = self._list_text([whole, *(texts[kind] for kind in ("negative", "nearZero") if kind in texts)])
        but = [texts[kind] for kind in others if kind in texts]
        return self._text("outlook.but", what=whole, other=self._list_text(but)) if but else whole

    def _possibly_expensive_highlight(self, outlook: DayOutlook) -> _Highlight:
        """Return at which times prices may be very high, and the forecast for the period with the highest p90."""
        highest = max(
            self._periods_within(outlook.day, outlook.possibly_expensive), key=lambda period: period.percentiles.p90
        )
        price = self._text("outlook.price", price=self._show.price_with_about(highest), unit=self._show.unit)
        top = self._text("outlook.range", price=price, band=self._show.interval_text(highest))
        return _Highlight(
            self._text("outlook.veryExpensive"), self._times_text(outlook.day, outlook.possibly_expensive), f" ({top})"
        )

    def _highest_price_text(self, day: date, spans: Sequence[HourSpan]) -> str:
        """Write the highest price within `spans`, in brackets. If the price is a forecast, add its likely range."""
        if not spans:
            return ""
        periods = self._periods_within(day, spans)
        highest = max(periods, key=self._show.shown_price)
        top = self._text("outlook.price", price=self._show.price_with_about(highest), unit=self._show.unit)
        if len(periods) > 1:
            top = self._text("outlook.upTo", price=top)
        if highest.settled is None:
            top = self._text("outlook.range", price=top, band=self._show.interval_text(highest))
        return f" ({top})"

    def _times_text(self, day: date, spans: Sequence[HourSpan]) -> str:
        return self._list_text([self._span_text(day, span) for span in spans])

    def _span_text(self, day: date, span: HourSpan) -> str:
        """Write a span's times in words, such as "from 10:00 to 12:00" or "all day".

        If the day's prices after the span are unknown, write that the span may last longer.
        """
        ahead = self._periods_ahead(day)
        is_from_first = span.start <= ahead[0].ts
        is_to_midnight = self._show.local_day(span.end) != day
        is_to_last = span.end > ahead[-1].ts and not is_to_midnight
        start, end = self._show.time_of_day(span.start), self._show.time_of_day(span.end)
        if is_from_first and is_to_midnight:
            return self._text("outlook.allDay" if len(ahead) == len(self._days[day]) else "outlook.untilMidnight")
        if is_from_first:
            return self._text("outlook.untilAtLeast" if is_to_last else "outlook.until", end=end)
        if is_to_midnight:
            return self._text("outlook.from", start=start)
        return self._text("outlook.betweenAtLeast" if is_to_last else "outlook.between", start=start, end=end)

    def _periods_ahead(self, day: date) -> list[PricedPeriod]:
        return [period for period in self._days[day] if period.ts >= floor_hour(self._now)]

    def _described_periods(self, outlook: DayOutlook) -> list[PricedPeriod]:
        if outlook.usual is not None:
            return list(self._days[outlook.day])
        return self._periods_within(outlook.day, outlook.spans)

    def _periods_within(self, day: date, spans: Sequence[HourSpan]) -> list[PricedPeriod]:
        return [period for period in self._days[day] if any(span.start <= period.ts < span.end for span in spans)]

    def _list_text(self, items: Sequence[str], between: str = "outlook.and") -> str:
        """Join items into a list such as "a, b and c", in the reader's language."""
        *others, last = items
        return self._text(between, others=", ".join(others), last=last) if others else last

"""What stands out in the hours to come as sentences, each of one day or of days that are alike."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby

from tunnihind.market import floor_hour
from tunnihind.web.display import Display
from tunnihind.web.outlook import DayOutlook, Span
from tunnihind.web.periods import PricedPeriod


def sentences(
    outlooks: Sequence[DayOutlook], days: Mapping[date, Sequence[PricedPeriod]], now: int, display: Display
) -> tuple[str, ...]:
    """Say what stands out, in the reader's language; `days` are those that the outlooks were made from."""
    written = _Sentences(days, now, display)
    # A sentence that names times of its day can't be of another day as well.
    alike = groupby(outlooks, key=lambda one: (one.day if one.spans else None, replace(one, day=date.min)))
    return tuple(written.sentence(list(group), is_first=not n) for n, (_, group) in enumerate(alike))


class _Sentences:
    """Writes in a reader's language. A forecast is never told as certain, and its prices come with their range."""

    def __init__(self, days: Mapping[date, Sequence[PricedPeriod]], now: int, display: Display) -> None:
        self._days = days
        self._now = now
        self._show = display
        self._text = display.texts

    def sentence(self, alike: Sequence[DayOutlook], *, is_first: bool) -> str:
        """Say what stands out on one day, or on several that have no times of their own."""
        outlook = alike[0]
        is_forecast = any(period.settled is None for one in alike for period in self._judged(one))
        gaps = {
            "day": self._names([one.day for one in alike]),
            "subject": self._text("outlook.first" if is_first else "outlook.next"),
            "highest": self._highest_possible(outlook),
            "weather": self._text(f"outlook.weather.{outlook.weather}") if outlook.weather else "",
        }
        if outlook == DayOutlook(outlook.day, possible=outlook.possible, weather=outlook.weather):
            return self._text("outlook.possible", **gaps)
        what = self._what(outlook)
        if outlook.possible:
            return self._text("outlook.likelyAndPossible", what=what, **gaps)
        return self._text("outlook.likely" if is_forecast else "outlook.certain", what=what, **gaps)

    def _names(self, days: Sequence[date]) -> str:
        today = self._show.day(self._now)
        if days == [today]:
            return self._text("outlook.today")
        if days == [today + timedelta(days=1)]:
            return self._text("outlook.tomorrow")
        named = self._text("outlook.on", days=self._joined([self._text.on_weekday(day) for day in days]))
        # It begins the sentence; within one, weekdays are written small in Estonian.
        return named[0].upper() + named[1:]

    def _what(self, outlook: DayOutlook) -> str:
        """Say what the day's prices are like, by the forecast's median where they aren't known."""
        kinds = {
            "negative": outlook.negative,
            "nearZero": outlook.near_zero,
            "cheap": outlook.cheap,
            "expensive": outlook.expensive,
        }
        spans = dict(sorted(((kind, found) for kind, found in kinds.items() if found), key=lambda item: item[1]))
        top = self._top(outlook.day, outlook.expensive)
        told = {
            kind: self._text(f"outlook.{kind}", when=self._when(outlook.day, found), top=top)
            for kind, found in spans.items()
        }
        if outlook.usual is None:
            some_are_split = any(len(found) > 1 for found in spans.values())
            return self._joined([*told.values()], "outlook.andAlso" if some_are_split else "outlook.and")
        whole = self._text(f"outlook.usual.{outlook.usual}")
        is_expensive = outlook.usual in ("expensive", "veryExpensive")
        alike = "expensive" if is_expensive else "cheap"
        others = ("negative", "nearZero", "cheap") if is_expensive else ("expensive",)
        if alike in told:
            when = self._when(outlook.day, spans[alike])
            whole = self._text("outlook.especially", what=whole, when=when, top=top if alike == "expensive" else "")
        elif alike == "cheap":
            whole = self._joined([whole, *(told[kind] for kind in ("negative", "nearZero") if kind in told)])
        but = [told[kind] for kind in others if kind in told]
        return self._text("outlook.but", what=whole, other=self._joined(but)) if but else whole

    def _highest_possible(self, outlook: DayOutlook) -> str:
        """Say when the price may be very high, and how high."""
        if not outlook.possible:
            return ""
        highest = max(self._within(outlook.day, outlook.possible), key=lambda period: period.percentiles.p90)
        price = self._text("outlook.price", price=self._show.told(highest), unit=self._show.unit)
        top = self._text("outlook.range", price=price, band=self._show.band(highest))
        return self._text("outlook.veryExpensive", when=self._when(outlook.day, outlook.possible), top=f" ({top})")

    def _top(self, day: date, spans: Sequence[Span]) -> str:
        """Write the highest price within some hours in brackets, a forecast with its range."""
        if not spans:
            return ""
        periods = self._within(day, spans)
        highest = max(periods, key=self._show.shown)
        top = self._text("outlook.price", price=self._show.told(highest), unit=self._show.unit)
        if len(periods) > 1:
            top = self._text("outlook.upTo", price=top)
        if highest.settled is None:
            top = self._text("outlook.range", price=top, band=self._show.band(highest))
        return f" ({top})"

    def _when(self, day: date, spans: Sequence[Span]) -> str:
        return self._joined([self._span(day, span) for span in spans])

    def _span(self, day: date, span: Span) -> str:
        """Say from when to when; where nothing is known of what follows, that it may go on."""
        ahead = self._ahead(day)
        is_from_first = span.start <= ahead[0].ts
        is_to_midnight = self._show.day(span.end) != day
        is_to_last = span.end > ahead[-1].ts and not is_to_midnight
        start, end = self._show.clock(span.start), self._show.clock(span.end)
        if is_from_first and is_to_midnight:
            return self._text("outlook.allDay" if len(ahead) == len(self._days[day]) else "outlook.untilMidnight")
        if is_from_first:
            return self._text("outlook.untilAtLeast" if is_to_last else "outlook.until", end=end)
        if is_to_midnight:
            return self._text("outlook.from", start=start)
        return self._text("outlook.betweenAtLeast" if is_to_last else "outlook.between", start=start, end=end)

    def _ahead(self, day: date) -> list[PricedPeriod]:
        """Return what there is of a day from the current hour on."""
        return [period for period in self._days[day] if period.ts >= floor_hour(self._now)]

    def _judged(self, outlook: DayOutlook) -> list[PricedPeriod]:
        """Return the periods that a day's sentence is about."""
        if outlook.usual is not None:
            return self._ahead(outlook.day)
        return self._within(outlook.day, outlook.spans)

    def _within(self, day: date, spans: Sequence[Span]) -> list[PricedPeriod]:
        return [period for period in self._days[day] if any(span.start <= period.ts < span.end for span in spans)]

    def _joined(self, items: Sequence[str], between: str = "outlook.and") -> str:
        """Write a list as the language does: a, b and c."""
        *others, last = items
        return self._text(between, others=", ".join(others), last=last) if others else last

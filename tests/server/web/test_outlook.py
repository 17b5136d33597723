import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from statistics import fmean

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.markets.day_quotes import AUTUMN, SPRING
from tunnihind.api.served_data import Percentiles
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S
from tunnihind.web.display import Display, PricedPeriod, group_by_day, shown_vat
from tunnihind.web.options import LANGUAGES, PageOptions
from tunnihind.web.outlook import DayOutlook, HourSpan, day_outlooks, outlook_sentences
from tunnihind.web.weather import RegionWeather

SUNDAY = date(2025, 12, 14)
NIGHT, DAY, EVENING = range(2, 6), range(6, 17), range(17, 20)


@dataclass(frozen=True)
class View:
    """The contents of the page at an instant, by the reader's day."""

    days: Mapping[date, Sequence[PricedPeriod]]
    now: int
    display: Display
    weather: RegionWeather | None = None

    @property
    def outlook(self) -> tuple[DayOutlook, ...]:
        return day_outlooks(self.days, self.now, self.display, self.weather)

    @property
    def sentences(self) -> tuple[str, ...]:
        return outlook_sentences(self.outlook, self.days, self.now, self.display)


def midnight(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=ESTONIA.time_zone).timestamp())


def view(
    ahead: Sequence[Sequence[float] | Mapping[range, float | None]],
    *,
    past: Sequence[float] = (100.0,) * 14,
    today: date = SUNDAY,
    hour: int = 0,
    known_days: int = 2,
    spread: float = 20.0,
    step_s: int = HOUR_S,
    **options: str,
) -> View:
    """Return a view of days with prices by the hour of the clock, EUR/MWh. The default price is 100.

    Hours with None have no price. `past` has one price for each of the days before. From the day `known_days` on,
    prices are forecasts.
    """
    now = midnight(today) + hour * HOUR_S + 600
    period = "hour" if step_s == HOUR_S else "quarter"
    chosen = PageOptions.read({"vat": "none", "unit": "mwh", "period": period, **options})
    display = Display(chosen, ESTONIA, shown_vat(chosen, ESTONIA, 0.24, now))
    prices: dict[int, PricedPeriod] = {}
    for offset, of_day in enumerate([*([price] * 25 for price in past), *ahead], start=-len(past)):
        day = today + timedelta(days=offset)
        for ts in range(midnight(day), midnight(day + timedelta(days=1)), step_s):
            at = datetime.fromtimestamp(ts, ESTONIA.time_zone).hour
            price = _at(of_day, at)
            if price is None:
                continue
            forecast = Percentiles(price - spread, price, price + 2 * spread)
            prices[ts] = PricedPeriod(ts, price if offset < known_days else None, forecast)
    return View(group_by_day(prices, {ts: display.local_day(ts) for ts in prices}), now, display)


def _at(of_day: Sequence[float] | Mapping[range, float | None], hour: int) -> float | None:
    if isinstance(of_day, Mapping):
        return next((price for hours, price in of_day.items() if hour in hours), 100.0)
    return of_day[hour % len(of_day)]


FLAT: Mapping[range, float | None] = {}
ORDINARY: Mapping[range, float | None] = {NIGHT: 40.0, EVENING: 180.0}


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        pytest.param(view([FLAT, FLAT, FLAT]), "", id="nothing stands out"),
        pytest.param(
            view([FLAT, ORDINARY]),
            "Tomorrow electricity is cheap from 02:00 to 06:00 and expensive from 17:00 to 20:00 "
            "(highest 180.00 €/MWh).",
            id="tomorrow",
        ),
        pytest.param(
            view([FLAT, ORDINARY], known_days=1),
            "Tomorrow electricity is likely to be cheap from 02:00 to 06:00 and expensive from 17:00 to 20:00 "
            "(highest about 180 €/MWh, likely 160–220).",
            id="tomorrow, not published yet",
        ),
        pytest.param(
            view([ORDINARY], hour=18),
            "Today electricity is expensive until 20:00 (highest 180.00 €/MWh).",
            id="the rest of today",
        ),
        pytest.param(
            view([{range(22, 24): 30.0}], hour=22), "Today electricity is cheap until midnight.", id="late today"
        ),
        pytest.param(view([{range(22, 24): 30.0}]), "Today electricity is cheap from 22:00.", id="the end of today"),
        pytest.param(
            view([FLAT, {range(18, 19): 180.0}]),
            "Tomorrow electricity is expensive from 18:00 to 19:00 (180.00 €/MWh).",
            id="a single hour",
        ),
        pytest.param(
            view([FLAT, {range(7, 10): 180.0, EVENING: 190.0, NIGHT: 20.0}]),
            "Tomorrow electricity is cheap from 02:00 to 06:00, "
            "and expensive from 07:00 to 10:00 and from 17:00 to 20:00 (highest 190.00 €/MWh).",
            id="two peaks",
        ),
        pytest.param(
            view([FLAT, {range(12, 15): -5.0}]),
            "Tomorrow electricity is priced below zero from 12:00 to 15:00.",
            id="below zero",
        ),
        pytest.param(
            view([FLAT, {range(12, 15): -5.0}], known_days=1),
            "Tomorrow electricity is likely to be priced close to zero from 12:00 to 15:00.",
            id="below zero by a forecast",
        ),
        pytest.param(
            view([FLAT, {range(12, 15): 4.0}], known_days=1),
            "Tomorrow electricity is likely to be priced close to zero from 12:00 to 15:00.",
            id="close to zero by a forecast",
        ),
        pytest.param(
            view([FLAT, {range(9, 17): 40.0, range(12, 13): -5.0}]),
            "Tomorrow electricity is cheap from 09:00 to 17:00.",
            id="a single hour below zero",
        ),
        pytest.param(view([FLAT, {range(1): 20.0}]), "", id="a single cheap hour"),
        pytest.param(
            view([FLAT, {range(25): 200.0, NIGHT: 95.0}]),
            "Tomorrow electricity is more expensive than usual.",
            id="hardly below the usual on an expensive day",
        ),
        pytest.param(
            view([FLAT, FLAT, {range(4): 100.0, range(4, 14): 190.0, range(14, 24): None}], spread=60.0),
            "On Tuesday electricity may be very expensive from 04:00 until at least 14:00 "
            "(about 190 €/MWh, likely 130–310).",
            id="the forecast ends before the day does",
        ),
        pytest.param(
            view([FLAT, FLAT, {range(14): 190.0, range(14, 24): None}], spread=60.0),
            "On Tuesday electricity may be very expensive until at least 14:00 (about 190 €/MWh, likely 130–310).",
            id="the forecast ends early",
        ),
        pytest.param(
            view([FLAT, [150.0], [20.0], [20.0]]),
            "Tomorrow electricity is more expensive than usual. "
            "On Tuesday and Wednesday it is likely to be much cheaper than usual.",
            id="other days than usual",
        ),
        pytest.param(
            view([FLAT, [250.0]]),
            "Tomorrow electricity is much more expensive than usual.",
            id="much dearer",
        ),
        pytest.param(
            view([FLAT, FLAT, {range(7, 9): 190.0}], spread=60.0),
            "On Tuesday electricity may be very expensive from 07:00 to 09:00 (about 190 €/MWh, likely 130–310).",
            id="may be very expensive",
        ),
        pytest.param(
            view([FLAT, FLAT, {range(7, 9): 400.0}], spread=60.0),
            "On Tuesday electricity may be very expensive from 07:00 to 09:00 (about 400 €/MWh, likely 340–520).",
            id="very expensive by the median, too",
        ),
        pytest.param(
            view([{range(2, 5): 150.0}], today=AUTUMN, hour=1),
            "Today electricity is expensive from 02:00 to 05:00 (highest 150.00 €/MWh).",
            id="an hour twice",
        ),
    ],
)
def test_what_stands_out_is_told_in_short_sentences(shown: View, told: str) -> None:
    assert " ".join(shown.sentences) == told


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        pytest.param(
            view([FLAT, ORDINARY], known_days=1, lang="et"),
            "Homme on hind tõenäoliselt madal kell 02:00–06:00 ja kõrge kell 17:00–20:00 "
            "(kõrgeim umbes 180 €/MWh, tõenäoliselt 160–220).",
        ),
        pytest.param(
            view([ORDINARY, [20.0], FLAT, {range(7, 9): 190.0}], hour=18, spread=60.0, lang="et"),
            "Täna on hind kõrge kuni kella 20ni (kõrgeim 180,00 €/MWh). Homme on hind tavalisest palju madalam. "
            "Kolmapäeval võib hind olla väga kõrge kell 07:00–09:00 (umbes 190 €/MWh, tõenäoliselt 130–310).",
        ),
        pytest.param(
            view([FLAT, {range(12, 15): -5.0, range(20, 24): 290.0, range(25): 160.0}], lang="et"),
            "Homme on hind tavalisest kõrgem, eriti alates kella 20st (kõrgeim 290,00 €/MWh), "
            "kuid alla nulli kell 12:00–15:00.",
        ),
        pytest.param(
            view([FLAT, {range(12, 15): -5.0}, {range(4, 14): 190.0, range(14, 24): None}], known_days=1, lang="et"),
            "Homme on hind tõenäoliselt nulli lähedal kell 12:00–15:00. "
            "Teisipäeval võib hind olla väga kõrge alates kella 4st vähemalt kuni kella 14ni "
            "(umbes 190 €/MWh, tõenäoliselt 170–230).",
        ),
        pytest.param(
            view([FLAT, FLAT, [20.0], [20.0]], lang="et"),
            "Teisipäeval ja kolmapäeval on hind tõenäoliselt tavalisest palju madalam.",
        ),
    ],
)
def test_the_sentences_are_estonian_for_who_reads_that(shown: View, told: str) -> None:
    assert " ".join(shown.sentences) == told


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        pytest.param(
            view([ORDINARY, FLAT], hour=18, lang="ru"), "Сегодня до 20:00 цена высокая (максимум 180,00 €/⁠МВт·ч)."
        ),
        pytest.param(
            view([FLAT, FLAT, {range(7, 9): 190.0}], spread=60.0, lang="ru"),
            "Во вторник с 07:00 до 09:00 цена может быть очень высокой (около 190 €/⁠МВт·ч, вероятно 130–310).",
        ),
        pytest.param(
            view([FLAT, FLAT, {range(4): 100.0, range(4, 14): 190.0, range(14, 24): None}], spread=60.0, lang="ru"),
            "Во вторник с 04:00 как минимум до 14:00 цена может быть очень высокой "
            "(около 190 €/⁠МВт·ч, вероятно 130–310).",
        ),
        pytest.param(
            view([FLAT, ORDINARY], known_days=1, lang="ru"),
            "Завтра цена, скорее всего, низкая с 02:00 до 06:00 и высокая с 17:00 до 20:00 "
            "(максимум около 180 €/⁠МВт·ч, вероятно 160–220).",
        ),
    ],
)
def test_a_russian_sentence_with_one_time_says_the_time_first(shown: View, told: str) -> None:
    assert " ".join(shown.sentences) == told


def test_prices_are_told_in_the_readers_unit_with_his_vat() -> None:
    [told] = view([FLAT, ORDINARY], unit="kwh", vat="law").sentences
    assert told.endswith("(highest 22.32 c/kWh).")


@pytest.mark.parametrize("hour", [0, 1, 13, 23])
@pytest.mark.parametrize(("price", "usual"), [(20.0, "much cheaper than usual"), (140.0, "more expensive than usual")])
def test_today_is_compared_with_the_usual_price_all_day(hour: int, price: float, usual: str) -> None:
    shown = replace(view([[price]], hour=hour), weather=weather(7.0, 0.0))
    assert shown.sentences == (f"Today electricity is {usual}.",)


def test_without_a_few_days_before_today_nothing_is_compared_with_the_usual() -> None:
    assert view([FLAT, [300.0]], past=(100.0,) * 2).sentences == ()
    assert view([FLAT, [300.0]], past=(100.0,) * 3).sentences != ()


def test_the_quarters_of_an_hour_are_judged_together() -> None:
    by_hour, by_quarter = (view([FLAT, ORDINARY, [20.0]], step_s=step_s) for step_s in (HOUR_S, QUARTER_S))
    assert by_quarter.outlook == by_hour.outlook
    assert by_quarter.sentences == by_hour.sentences


def weather(wind: float, sun: float) -> RegionWeather:
    """Return ten days from the day before the view on, with the same wind, and the same sun from 9 to 15 UTC."""
    start = midnight(SUNDAY) // DAY_S * DAY_S
    by_day = np.tile(np.where(np.isin(np.arange(24), range(9, 15)), sun, 0.0), 10)
    return RegionWeather(start, np.full(240, wind), by_day)


@pytest.mark.parametrize(
    ("tomorrow", "wind", "sun", "told"),
    [
        ([20.0], 11.0, 0.0, "Tomorrow electricity is much cheaper than usual, with strong wind forecast."),
        ([20.0], 7.0, 0.0, "Tomorrow electricity is much cheaper than usual."),
        ([20.0], 3.0, 0.0, "Tomorrow electricity is much cheaper than usual."),
        ([250.0], 3.0, 0.0, "Tomorrow electricity is much more expensive than usual, with little wind forecast."),
        ([250.0], 11.0, 0.0, "Tomorrow electricity is much more expensive than usual."),
        (
            {range(11, 16): -5.0},
            7.0,
            600.0,
            "Tomorrow electricity is priced below zero from 11:00 to 16:00, with a sunny day forecast.",
        ),
        ({NIGHT: 40.0}, 7.0, 600.0, "Tomorrow electricity is cheap from 02:00 to 06:00."),
        ([100.0], 20.0, 800.0, ""),
    ],
)
def test_weather_is_named_where_it_goes_with_the_prices(
    tomorrow: Sequence[float] | Mapping[range, float | None], wind: float, sun: float, told: str
) -> None:
    shown = replace(view([FLAT, tomorrow]), weather=weather(wind, sun))
    assert " ".join(shown.sentences) == told


def test_weather_that_is_not_known_of_the_whole_day_is_not_named() -> None:
    known = weather(11.0, 0.0)
    partly = RegionWeather(known.start_ts, known.wind[:30], known.sun[:30])
    assert [one.weather for one in replace(view([FLAT, [20.0]]), weather=partly).outlook] == [None]


levels = st.sampled_from([-30.0, 0.0, 15.0, 40.0, 90.0, 110.0, 160.0, 240.0, 700.0])
some_days = st.lists(st.lists(levels, min_size=1, max_size=25), min_size=1, max_size=5)


@st.composite
def views(draw: st.DrawFn, lang: str) -> View:
    wind = draw(st.sampled_from([None, 3.0, 11.0]))
    without = view(
        draw(some_days),
        past=draw(st.lists(levels, max_size=5)),
        today=draw(st.sampled_from([SUNDAY, SPRING, AUTUMN, SUNDAY + timedelta(days=3)])),
        hour=draw(st.integers(0, 23)),
        known_days=draw(st.integers(0, 3)),
        spread=draw(st.sampled_from([0.0, 20.0, 150.0])),
        tz=draw(st.sampled_from(["local", "utc"])),
        unit=draw(st.sampled_from(["kwh", "mwh"])),
        lang=lang,
    )
    return without if wind is None else replace(without, weather=weather(wind, draw(st.sampled_from([0.0, 600.0]))))


@pytest.mark.parametrize("lang", LANGUAGES)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_each_day_has_one_whole_sentence_at_most(lang: str, data: st.DataObject) -> None:
    shown = data.draw(views(lang))
    told = shown.sentences
    assert len(told) <= len([day for day in shown.days if day >= shown.display.local_day(shown.now)])
    for sentence in told:
        assert re.fullmatch(r"[A-ZÕÄÖÜА-Я][^{}]*[^ ,.]\.", sentence)
        assert not re.search(r"  | [,.)]|\( |,,|\b(\w+) \1\b", sentence)
        assert sentence.count("(") == sentence.count(")") <= 1
    assert len({re.split(r" (?:on|võib|electricity|it|цена)[ ,]", sentence)[0] for sentence in told}) == len(told)


@given(shown=views("en"))
@settings(max_examples=30, deadline=None)
def test_every_number_comes_from_what_is_shown_from_the_current_hour_on(shown: View) -> None:
    display = shown.display
    ahead = [period for periods in shown.days.values() for period in periods if period.ts >= shown.now - HOUR_S]
    instants = {display.time_of_day(ts) for period in ahead for ts in (period.ts, period.ts + HOUR_S)}
    prices = {display.price_text(period) for period in ahead} | {display.interval_text(period) for period in ahead}
    for sentence in shown.sentences:
        times = re.findall(r"\d\d:\d\d(?: [A-Z]{3,4})?", sentence)
        assert set(times) <= instants
        in_brackets = "".join(re.findall(r"\((.*)\)", sentence))
        told = in_brackets.replace("highest ", "").replace("about ", "").replace(f" {display.unit}", "")
        assert {part for part in told.split(", likely ") if part} <= prices
        assert not re.search(r"\d", re.sub(r"\(.*\)", "", re.sub("|".join(times) or "$^", "", sentence)))


@given(shown=views("en"))
@settings(max_examples=30, deadline=None)
def test_a_forecast_is_never_told_as_certain(shown: View) -> None:
    for one, sentence in zip(shown.outlook, shown.sentences, strict=False):
        if len(shown.sentences) != len(shown.outlook):
            break  # equal days share one text
        has_forecast = any(
            period.settled is None
            for period in shown.days[one.day]
            if one.usual or any(span.start <= period.ts < span.end for span in one.spans)
        )
        assert ("likely to be" in sentence or "may be" in sentence) is has_forecast


@given(shown=views("en"))
@settings(max_examples=30, deadline=None)
@example(view([[100.0]]))
def test_what_is_called_cheap_or_expensive_stands_out_of_its_day(shown: View) -> None:
    def amounts(day: date, span: HourSpan) -> list[float]:
        periods = [period for period in shown.days[day] if span.start <= period.ts < span.end]
        assert len(periods) == (span.end - span.start) // HOUR_S
        assert span.start > shown.now - HOUR_S
        return [shown.display.shown_price(period) for period in periods]

    for one in shown.outlook:
        mean = fmean(shown.display.shown_price(period) for period in shown.days[one.day])
        assert all(max(amounts(one.day, span)) < 0 for span in one.negative)
        assert all(span.end - span.start >= 2 * HOUR_S for span in one.low_spans)
        assert not (one.negative and one.near_zero)
        assert all(max(amounts(one.day, span)) < mean for span in one.cheap)
        assert all(min(amounts(one.day, span)) > mean for span in one.expensive)

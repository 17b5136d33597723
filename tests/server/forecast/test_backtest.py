import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

import numpy as np
import pytest

from tests.support.markets.runs import run_with
from tunnihind.core.market import DAY_S, DELIVERY_TZ, ESTONIA, HOUR_S, day_start, delivery_day, publication_time
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.run import Forecaster, Run
from tunnihind.forecast.scoring.backtest import (
    MIN_SCORED_HOURS,
    BacktestResult,
    BacktestScore,
    Next24HoursForecast,
    backtest,
    backtest_score,
    scored_issue_instants,
)
from tunnihind.known import Archive, KnownData

type Market = Callable[[date, date, Callable[[int], float]], Archive]
type Utc = Callable[..., int]

FIRST, LAST = date(2024, 3, 1), date(2024, 12, 31)


@dataclass
class Constant:
    """Forecasts one value, plus and minus ten, for the next ten days, and keeps the data that it was given."""

    value: float = 0.0
    shown: list[KnownData] = field(default_factory=list)
    history_days: int = 0
    market = ESTONIA

    def forecast(self, known: KnownData) -> Run | None:
        self.shown.append(known)
        p50 = np.full(240, self.value)
        return run_with(np.stack([p50 - 10, p50, p50 + 10]), made_at=known.as_of, tier="constant")


def rising(ts: int) -> float:
    """Return a price that rises by 1 EUR/MWh a day: the price a week earlier is always 7 too low."""
    return (ts - day_start(FIRST)) / DAY_S


def pairs(result: BacktestResult) -> list[tuple[int, int]]:
    issued, targets = result.forecasts.issued_ts.tolist(), result.forecasts.target_ts.tolist()
    return list(zip(issued, targets, strict=True))


def test_scores_of_a_market_with_a_known_truth(market: Market) -> None:
    archive = market(FIRST, LAST, lambda ts: 50.0 if delivery_day(ts).toordinal() // 7 % 2 else 54.0)
    result = backtest(archive, Constant(52.0), date(2024, 6, 1), date(2024, 6, 14))
    for scores in (*result.scores_by_lead().values(), result.scores()):
        assert scores.mae == 2.0
        assert scores.baseline_mae == 4.0
        assert scores.skill == 0.5
        assert scores.coverage80 == 1.0
        assert scores.width == scores.winkler80 == 20.0
        assert scores.pinball == pytest.approx((2 * 0.5 + 2 * 0.1 * 10) / 3)


def test_the_baseline_is_the_price_168_hours_earlier(market: Market) -> None:
    result = backtest(market(FIRST, LAST, rising), Constant(), date(2024, 6, 1), date(2024, 6, 2))
    assert (result.actual - result.baseline) == pytest.approx(np.full(result.actual.size, 7.0))


def test_the_fallback_beats_the_last_week_and_covers_80_percent_of_a_noisy_market(market: Market) -> None:
    rng = np.random.default_rng(5)

    def noisy(ts: int) -> float:
        hour = datetime.fromtimestamp(ts, DELIVERY_TZ).hour
        return 80 + 40 * math.sin(hour / 24 * math.tau) + float(rng.gamma(2, 20))

    scores = backtest(
        market(FIRST, LAST, noisy), LastWeeksMean(ESTONIA), date(2024, 10, 1), date(2024, 11, 30)
    ).scores()
    assert scores.skill > 0.2
    assert 0.77 < scores.coverage80 < 0.84
    assert 0.06 < scores.below10 < 0.14
    assert 0.06 < scores.above90 < 0.14


def test_every_day_is_scored_once_at_each_lead(market: Market, utc: Utc) -> None:
    result = backtest(market(FIRST, LAST, rising), Constant(), date(2024, 6, 1), date(2024, 6, 3))
    assert {lead: scores.n for lead, scores in result.scores_by_lead().items()} == dict.fromkeys(range(1, 8), 72)
    issued = sorted(set(result.forecasts.issued_ts.tolist()))
    assert issued == [utc(2024, 5, 25, 9) + n * DAY_S for n in range(9)]
    assert {delivery_day(ts).day for ts in result.forecasts.target_ts} == {1, 2, 3}


@pytest.mark.parametrize(("day", "hours"), [(date(2024, 3, 31), 23), (date(2024, 10, 27), 25)])
def test_days_of_23_and_25_hours_are_scored_whole(market: Market, day: date, hours: int) -> None:
    archive = market(date(2024, 3, 10), LAST, rising)
    result = backtest(archive, LastWeeksMean(ESTONIA), day, day)
    assert [scores.n for scores in result.scores_by_lead().values()] == [hours] * 7


@pytest.mark.parametrize("issue_at", [time(9), time(15), time(23, 30)])
def test_published_hours_are_never_kept(market: Market, issue_at: time) -> None:
    archive = market(FIRST, LAST, rising)
    result = backtest(archive, LastWeeksMean(ESTONIA), date(2024, 10, 20), date(2024, 11, 3), issue_at=issue_at)
    assert pairs(result)
    for issued, target in pairs(result):
        assert publication_time(delivery_day(target)) > issued


def test_after_publication_the_day_after_tomorrow_is_one_day_ahead(market: Market, utc: Utc) -> None:
    archive = market(FIRST, LAST, rising)
    result = backtest(archive, Constant(), date(2024, 6, 10), date(2024, 6, 10), issue_at=time(15))
    assert list(result.scores_by_lead()) == [1, 2, 3, 4, 5, 6]
    one_ahead = result.forecasts.issued_ts[result.forecasts.lead_days == 1]
    assert set(one_ahead.tolist()) == {utc(2024, 6, 8, 15)}


def test_an_issue_after_midnight_of_the_delivery_day_counts_for_the_new_day(market: Market, utc: Utc) -> None:
    result = backtest(market(FIRST, LAST, rising), Constant(), date(2024, 6, 10), date(2024, 6, 10), issue_at=time(23))
    assert result.forecasts.issued_ts.min() == utc(2024, 6, 2, 23)
    assert result.forecasts.issued_ts.max() == utc(2024, 6, 8, 23)


def test_the_unpublished_rest_of_a_half_published_day_is_one_day_ahead(market: Market, utc: Utc) -> None:
    cut = utc(2024, 6, 10, 6)
    archive = market(FIRST, date(2024, 6, 10), lambda ts: rising(ts) if ts < cut else math.nan)
    result = backtest(archive, Constant(), date(2024, 6, 10), date(2024, 6, 12), issue_at=time(15))
    rest = result.forecasts.issued_ts == utc(2024, 6, 9, 15)
    first_day = rest & (result.forecasts.target_ts < day_start(date(2024, 6, 11)))
    assert result.forecasts.target_ts[first_day].min() == cut
    assert set(result.forecasts.lead_days[first_day].tolist()) == {1}


def test_the_forecaster_is_shown_the_world_as_of_the_issue(market: Market, utc: Utc) -> None:
    spy = Constant()
    backtest(market(FIRST, LAST, rising), spy, date(2024, 6, 10), date(2024, 6, 10))
    assert [known.as_of for known in spy.shown] == [utc(2024, 6, day, 9) for day in range(3, 10)]
    assert [known.prices.series_of("ee").newest_day for known in spy.shown] == [
        date(2024, 6, day) for day in range(3, 10)
    ]


def test_hours_without_actual_or_baseline_are_forecast_but_not_scored(market: Market, utc: Utc) -> None:
    hole = utc(2024, 6, 10, 12)
    archive = market(FIRST, LAST, lambda ts: math.nan if ts == hole else rising(ts))
    result = backtest(archive, Constant(), date(2024, 6, 10), date(2024, 6, 17))
    per_lead = 8 * 24
    assert result.forecasts.target_ts.size == 7 * per_lead
    assert {scores.n for scores in result.scores_by_lead().values()} == {per_lead - 2}


def test_the_forecasts_are_kept_as_issued(market: Market, utc: Utc) -> None:
    archive = market(FIRST, LAST, lambda ts: rising(ts) + ts // HOUR_S % 7)
    forecasts = backtest(archive, LastWeeksMean(ESTONIA), date(2024, 6, 10), date(2024, 6, 10)).forecasts
    run = LastWeeksMean(ESTONIA).forecast(archive.as_of(utc(2024, 6, 7, 9)))
    assert run is not None
    rows = forecasts.issued_ts == utc(2024, 6, 7, 9)
    hours = (forecasts.target_ts[rows] - run.start_ts) // HOUR_S
    assert (forecasts.p10[rows] == run.p10[hours]).all()
    assert (forecasts.p50[rows] == run.p50[hours]).all()
    assert (forecasts.p90[rows] == run.p90[hours]).all()
    assert set(forecasts.lead_days[rows].tolist()) == {3}


def test_days_before_all_history_leave_nothing_to_score(market: Market) -> None:
    result = backtest(market(FIRST, LAST, rising), LastWeeksMean(ESTONIA), date(2023, 1, 1), date(2023, 1, 5))
    assert result.scores().n == 0
    assert result.scores_by_lead() == {}


def test_prices_that_stopped_are_scored_at_their_true_lead(market: Market) -> None:
    stopped, resumed = date(2024, 6, 1), date(2024, 6, 10)
    archive = market(FIRST, LAST, lambda ts: math.nan if stopped < delivery_day(ts) < resumed else rising(ts))
    result = backtest(archive, LastWeeksMean(ESTONIA), resumed, resumed)
    assert list(result.scores_by_lead()) == [9]


def test_progress_is_told_after_every_forecast(market: Market) -> None:
    told: list[tuple[int, int]] = []
    archive = market(FIRST, LAST, rising)
    backtest(
        archive, Constant(), date(2024, 6, 10), date(2024, 6, 11), progress=lambda done, of: told.append((done, of))
    )
    assert told == [(n, 8) for n in range(1, 9)]


def score_of(archive: Archive, make: Forecaster, now: int) -> BacktestScore | None:
    """Make all forecasts that the score needs at an instant, and score them."""
    truth = archive.prices.as_of(now).series_of("ee")
    known = map(archive.as_of, scored_issue_instants(truth, now))
    made = [Next24HoursForecast.of(run, one) for one in known if (run := make.forecast(one))]
    return backtest_score(made, truth)


def test_the_recent_score_is_of_the_24_hours_after_the_newest_settled_one(market: Market, utc: Utc) -> None:
    spy = Constant()
    score = score_of(market(FIRST, LAST, rising), spy, utc(2024, 10, 10, 15))
    assert score is not None
    assert score.horizon_h == 24
    assert score.baseline_mae == pytest.approx(7)
    newest = date(2024, 10, 11)
    span = [rising(day_start(newest - timedelta(days=89))), rising(day_start(newest) + 23 * HOUR_S)]
    assert score.mae == pytest.approx(sum(span) / 2)
    assert score.skill == pytest.approx(1 - score.mae / 7)
    assert len(spy.shown) == 90
    assert max(known.as_of for known in spy.shown) <= utc(2024, 10, 10, 15)


def test_the_recent_score_knows_only_what_was_known_at_its_own_instant(market: Market, utc: Utc) -> None:
    now = utc(2024, 10, 10, 15)
    whole = score_of(market(FIRST, LAST, rising), Constant(), now)
    assert whole == score_of(market(FIRST, date(2024, 10, 11), rising), Constant(), now)


def test_the_recent_score_waits_until_four_weeks_can_be_scored(market: Market, utc: Utc) -> None:
    archive = market(FIRST, LAST, rising)
    # The first forecast is for 2 March, and the first baseline for 8 March. So 28 days are known when 4 April is known.
    assert score_of(archive, Constant(), utc(2024, 4, 2, 15)) is None
    assert score_of(archive, Constant(), utc(2024, 4, 3, 15)) is not None
    assert MIN_SCORED_HOURS == 672


def test_the_recent_score_is_none_with_nothing_known_or_a_baseline_without_error(market: Market, utc: Utc) -> None:
    assert score_of(market(FIRST, LAST, rising), Constant(), utc(2020, 1, 1)) is None
    assert score_of(market(FIRST, LAST, lambda _: 5.0), Constant(), utc(2024, 10, 10, 15)) is None

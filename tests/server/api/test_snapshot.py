import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR, NOW, make_view
from tests.support.clocks import StillClock
from tunnihind.api import snapshot as snapshot_module
from tunnihind.api.answers import forecast_response
from tunnihind.api.models.price_answers import ForecastResponse
from tunnihind.api.served_data import ServedData
from tunnihind.api.snapshot import Snapshot, cache_control
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S
from tunnihind.errors import StoreError
from tunnihind.settings import Settings


@pytest.fixture
def clock() -> StillClock:
    return StillClock(NOW)


@pytest.fixture
def snapshot(clock: StillClock) -> Snapshot:
    snapshot = Snapshot(Settings(), clock)
    snapshot.replace_data(make_view())
    return snapshot


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The instants for which a forecast answer was made."""
    instants: list[int] = []

    def spy(view: ServedData, now: int, settings: Settings) -> ForecastResponse:
        instants.append(now)
        return forecast_response(view, now, settings)

    monkeypatch.setattr(snapshot_module, "forecast_response", spy)
    return instants


def body(snapshot: Snapshot) -> ForecastResponse:
    return msgspec.json.decode(snapshot.forecast_answer("identity").body, type=ForecastResponse)


def test_a_body_is_made_once_a_second_for_all_codings_and_only_when_asked_for(
    snapshot: Snapshot, clock: StillClock, made: list[int]
) -> None:
    clock.instant = HOUR + 10.0
    assert made == []
    assert snapshot.forecast_answer("identity") is snapshot.forecast_answer("identity")
    assert snapshot.forecast_answer("gzip") is snapshot.forecast_answer("gzip")
    clock.instant = HOUR + 10.999
    snapshot.forecast_answer("zstd")
    assert made == [HOUR + 10]
    clock.instant = HOUR + 11.0
    snapshot.forecast_answer("identity")
    assert made == [HOUR + 10, HOUR + 11]


def test_a_new_view_is_shown_within_the_same_second(snapshot: Snapshot) -> None:
    before = snapshot.forecast_answer("identity")
    snapshot.replace_data(make_view({HOUR: 1.0}, version="2"))
    assert [hour.eur_mwh for hour in body(snapshot).day_ahead] == [1.0]
    assert snapshot.forecast_answer("identity").tag != before.tag


def test_no_body_spans_the_top_of_an_hour(snapshot: Snapshot, clock: StillClock) -> None:
    clock.instant = HOUR + HOUR_S - 0.001
    assert body(snapshot).day_ahead[0].ts == HOUR
    clock.instant = HOUR + HOUR_S
    assert body(snapshot).day_ahead[0].ts == HOUR + HOUR_S


def test_quarters_have_a_tag_that_stays_within_a_quarter_and_over_codings(
    snapshot: Snapshot, clock: StillClock
) -> None:
    for edge in range(HOUR, HOUR + HOUR_S, QUARTER_S):
        clock.instant = edge
        tag, other = snapshot.quarters_answer(0, "identity").tag, snapshot.quarters_answer(1, "identity").tag
        clock.instant = edge + QUARTER_S - 0.001
        assert snapshot.quarters_answer(0, "zstd").tag == tag != other
        clock.instant = edge + QUARTER_S
        assert snapshot.quarters_answer(0, "identity").tag != tag


def test_the_tag_stays_within_an_hour_and_over_codings(snapshot: Snapshot, clock: StillClock) -> None:
    clock.instant = HOUR
    tag = snapshot.forecast_answer("identity").tag
    clock.instant = HOUR + 3599.9
    assert snapshot.forecast_answer("gzip").tag == tag
    clock.instant = HOUR + 3600
    assert snapshot.forecast_answer("identity").tag != tag


@pytest.mark.parametrize(
    "settings", [Settings(vat_rate=0.24), Settings(public_url="https://other.example"), Settings(full_horizon=True)]
)
def test_the_tag_changes_with_the_settings_that_the_body_shows(settings: Settings, clock: StillClock) -> None:
    tags = set()
    for each in (Settings(), settings):
        snapshot = Snapshot(each, clock)
        snapshot.replace_data(make_view())
        tags.add(snapshot.quarters_answer(0, "identity").tag)
    assert len(tags) == 2


def test_each_window_of_a_series_has_its_own_body_and_tag(snapshot: Snapshot) -> None:
    assert len({snapshot.series_answer(days, "identity").tag for days in range(2, 15)}) == 13


def test_before_the_first_view_there_is_no_answer(clock: StillClock) -> None:
    with pytest.raises(StoreError):
        Snapshot(Settings(), clock).forecast_answer("identity")


@given(st.integers(HOUR, HOUR + 2 * HOUR_S), st.sampled_from([HOUR_S, QUARTER_S]))
def test_fresh_and_stale_time_together_end_exactly_with_the_hour_or_the_quarter(now: int, step_s: int) -> None:
    directives = dict(part.strip().partition("=")[::2] for part in cache_control(now, step_s).split(","))
    fresh, stale = int(directives["max-age"]), int(directives["stale-while-revalidate"])
    assert 0 < fresh <= 60
    assert stale >= 0
    assert (now + fresh + stale) % step_s == 0
    assert fresh + stale <= step_s
    assert directives["stale-if-error"] == "86400"


@pytest.mark.parametrize("back_s", [1, 60, HOUR_S, DAY_S])
def test_after_the_clock_was_set_back_no_forecast_is_from_the_future(
    snapshot: Snapshot, clock: StillClock, back_s: int
) -> None:
    made_at = snapshot.data.made_at
    assert made_at is not None
    tag = snapshot.forecast_answer("identity").tag
    clock.instant = made_at - back_s
    for answer in (snapshot.forecast_answer, snapshot.scenarios_answer):
        assert msgspec.json.decode(answer("identity").body)["madeAt"] == clock.instant
    assert snapshot.forecast_answer("identity").tag != tag
    assert snapshot.data is snapshot.data
    clock.instant = made_at
    assert snapshot.data.made_at == made_at

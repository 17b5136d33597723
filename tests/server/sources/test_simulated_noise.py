import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.known import Floats
from tunnihind.sources.simulated_market import Noise

HOURS: Floats = np.arange(20_000, dtype=np.float64) * 3600 + 1_700_000_000


def test_any_stretch_is_the_same_without_those_before_it() -> None:
    noise = Noise(7)
    whole = noise.smooth("wind", HOURS, 50_000.0)
    assert (noise.smooth("wind", HOURS[9_000:9_100], 50_000.0) == whole[9_000:9_100]).all()
    index = np.arange(1_000_000, 1_005_000)
    assert (noise.white("hour", index[3_000:]) == noise.white("hour", index)[3_000:]).all()


def test_order_and_repetition_of_instants_do_not_matter() -> None:
    noise = Noise(7)
    jumbled = HOURS[[5, 3, 3, 900]]
    assert (noise.smooth("wind", jumbled, 50_000.0) == noise.smooth("wind", HOURS, 50_000.0)[[5, 3, 3, 900]]).all()


def test_streams_and_seeds_are_independent() -> None:
    ones = [
        Noise(7).smooth("a", HOURS, 7200.0),
        Noise(7).smooth("b", HOURS, 7200.0),
        Noise(8).smooth("a", HOURS, 7200.0),
    ]
    assert np.abs(np.corrcoef(ones)[np.triu_indices(3, 1)]).max() < 0.1


@given(knot_s=st.floats(7_200.0, 40_000.0))
def test_mean_is_0_and_variance_1_at_knots_and_between(knot_s: float) -> None:
    process = Noise(7).smooth("x", HOURS, knot_s)
    assert abs(process.mean()) < 0.1
    assert abs(process.std() - 1) < 0.1


def test_a_smooth_process_has_no_jumps() -> None:
    seconds: Floats = np.arange(10_000, dtype=np.float64) * 10 + 1_700_000_000
    assert np.abs(np.diff(Noise(7).smooth("x", seconds, 10_000.0))).max() < 0.02

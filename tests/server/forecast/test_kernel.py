import numpy as np

from tunnihind.forecast.point.kernel import MIN_KERNEL_DAYS, KernelFit
from tunnihind.forecast.point.ridge import robust_weight

RNG = np.random.default_rng(5)


def test_a_fitted_kernel_follows_inputs_also_where_the_relation_is_not_linear() -> None:
    inputs = RNG.normal(size=(400, 3)).astype(np.float32)
    target = np.repeat(np.maximum(inputs[:, :1], 0).astype(np.float64), 24, axis=1)
    fit = KernelFit.of(inputs[:300], target[:300], np.full(300, 0.1), 1)
    assert fit is not None
    error = np.abs(fit.predict(inputs[300:]) - target[300:]).mean()
    assert error < 0.5 * np.abs(target[300:] - target[:300].mean()).mean()


def test_too_few_days_are_not_fitted() -> None:
    few = MIN_KERNEL_DAYS - 1
    assert KernelFit.of(np.ones((few, 2), np.float32), np.ones((few, 24)), np.ones(few), 1) is None


def test_columns_that_the_target_does_not_follow_hardly_count() -> None:
    inputs = RNG.normal(size=(500, 40)).astype(np.float32)
    target = np.repeat(np.maximum(inputs[:, :1], 0).astype(np.float64), 24, axis=1)
    target += 0.05 * RNG.normal(size=target.shape)
    fit = KernelFit.of(inputs[:400], target[:400], np.full(400, 0.1), 1)
    assert fit is not None
    assert fit.scale[0] > 5 * fit.scale[1:].max()


def test_a_target_that_never_moves_is_forecast_as_it_is() -> None:
    inputs = RNG.normal(size=(200, 3)).astype(np.float32)
    fit = KernelFit.of(inputs, np.full((200, 24), 0.7), np.full(200, 0.1), 1)
    assert fit is not None
    np.testing.assert_allclose(fit.predict(inputs[:5]), 0.7, atol=1e-6)


def test_the_coefficients_times_the_noise_of_a_day_are_what_its_fit_leaves() -> None:
    days = 203  # not a multiple of a block of rows
    inputs, target = RNG.normal(size=(days, 5)).astype(np.float32), RNG.normal(size=(days, 24))
    error = RNG.uniform(0, 1, days)
    fit = KernelFit.of(inputs, target, error, 1)
    assert fit is not None
    weight = 0.5 ** (np.arange(days)[::-1] / 500) * robust_weight(error)
    np.testing.assert_allclose(target - fit.predict(inputs), fit.alpha * (0.5 / weight)[:, None], atol=2e-5)

import numpy as np

from tunnihind.forecast.point.kernel import MIN_KERNEL_DAYS, KernelFit

RNG = np.random.default_rng(5)


def test_a_fitted_kernel_follows_inputs_also_where_the_relation_is_not_linear() -> None:
    inputs = RNG.normal(size=(400, 3)).astype(np.float32)
    target = np.repeat(np.abs(inputs[:, :1]).astype(np.float64), 24, axis=1)
    fit = KernelFit.of(inputs[:300], np.ones(3, np.float32), target[:300], np.full(300, 0.1), 1)
    assert fit is not None
    error = np.abs(fit.predict(inputs[300:]) - target[300:]).mean()
    assert error < 0.5 * np.abs(target[300:] - target[:300].mean()).mean()


def test_too_few_days_are_not_fitted() -> None:
    few = MIN_KERNEL_DAYS - 1
    assert (
        KernelFit.of(np.ones((few, 2), np.float32), np.ones(2, np.float32), np.ones((few, 24)), np.ones(few), 1) is None
    )

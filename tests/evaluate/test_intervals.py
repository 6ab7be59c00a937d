"""Intervals, against SciPy's laws on a grid, against simulation, and against published figures."""

import numpy as np
import pytest
from scipy import stats

from torchalu.evaluate import beta_mean_interval, gamma_mean_interval, t_upper, wilson

GENERATOR = np.random.default_rng(5)
LIMIT = stats.chi2.ppf(0.95, 1) / 2
NAC_MUL = 1e3 * np.array(  # published solved_at_step of the 31 solved seeds of NAC* on mul
    [
        2635, 3728, 3112, 2216, 2765, 3800, 2562, 2771, 2943, 4731, 4705, 2632, 2681, 2266, 2228,
        4951, 2195, 3143, 2574, 4681, 2922, 3032, 3122, 2226, 2901, 2918, 2515, 2339, 3140, 2411,
        2377,
    ]
)  # fmt: skip
NMU_SUB = np.repeat(  # and of the 56 of NMU on sub
    [1.001e6, 1.002e6, 1.003e6, 1.004e6, 1.005e6, 1.017e6], [29, 19, 5, 1, 1, 1]
)


def on_a_grid(log_likelihood, means, others):
    """Ends of the profile likelihood interval: the outermost means that some pair supports."""
    table = log_likelihood(means[:, None, None], others[:, None]).sum(axis=2)
    profile = table.max(axis=1)
    inside = np.flatnonzero(profile > profile.max() - LIMIT)
    assert inside[0] > 0
    assert inside[-1] < len(means) - 1
    return means[profile.argmax()], means[inside[0]], means[inside[-1]]


@pytest.mark.parametrize("trials", [1, 7, 56, 100])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_wilson_is_that_of_scipy(trials, confidence):
    for successes in range(trials + 1):
        test = stats.binomtest(successes, trials)
        expected = test.proportion_ci(confidence_level=confidence, method="wilson")
        assert wilson(successes, trials, confidence) == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("solved", "above", "below"),
    [
        (0, 4, 0),
        (7, 7, 4),
        (14, 8, 5),
        (31, 10, 8),
        (56, 9, 10),
        (62, 9, 10),
        (98, 1, 5),
        (100, 0, 4),
    ],
)
def test_wilson_is_that_of_table_2(solved, above, below):
    low, high = wilson(solved, 100)
    assert (round(100 * high) - solved, solved - round(100 * low)) == (above, below)


def test_wilson_of_nothing():
    assert wilson(0, 0) == (None, None)


@pytest.mark.parametrize(("shape", "count"), [(0.6, 15), (4.0, 30), (60.0, 8)])
def test_gamma_on_a_grid(shape, count):
    values = GENERATOR.gamma(shape, 1e6 / shape, count)
    found = gamma_mean_interval(values)
    assert found.mean == pytest.approx(values.mean(), rel=1e-12)
    fit = 1 / (np.log(values.mean()) - np.log(values).mean()) / 2
    expected = on_a_grid(
        lambda mean, k: stats.gamma.logpdf(values, k, scale=mean / k),
        np.geomspace(found.low * 0.98, found.high * 1.02, 200),
        np.geomspace(fit / 8, fit * 8, 200),
    )
    step = (found.high / found.low * 1.04) ** (1 / 199) - 1
    assert found == pytest.approx(expected, rel=3 * step)


@pytest.mark.parametrize(
    ("mean", "precision", "count"), [(0.03, 8.0, 20), (0.25, 50.0, 12), (0.4, 2.0, 40)]
)
def test_beta_on_a_grid(mean, precision, count):
    values = GENERATOR.beta(2 * mean * precision, (1 - 2 * mean) * precision, count) / 2
    found = beta_mean_interval(values)
    assert found.mean == pytest.approx(values.mean(), rel=0.1)
    means = np.linspace(found.low * 0.95, 0.5 - (0.5 - found.high) * 0.95, 200)
    expected = on_a_grid(
        lambda m, n: stats.beta.logpdf(values, 2 * m * n, (1 - 2 * m) * n, scale=0.5),
        means,
        np.geomspace(precision / 10, precision * 10, 200),
    )
    assert found == pytest.approx(expected, abs=3 * (means[1] - means[0]))


def test_gamma_and_beta_agree_far_below_the_upper_end():
    """A beta law near 0 is a gamma law."""
    values = GENERATOR.gamma(2.0, 1e-7, 40)
    assert beta_mean_interval(values) == pytest.approx(gamma_mean_interval(values), rel=1e-5)


@pytest.mark.parametrize("mirrored", [0.5, 2.0])
def test_beta_is_symmetric(mirrored):
    values = GENERATOR.beta(2, 6, 30)
    found = beta_mean_interval(mirrored * values, mirrored)
    other = beta_mean_interval(mirrored * (1 - values), mirrored)
    assert other == pytest.approx((mirrored - found[0], mirrored - found[2], mirrored - found[1]))


def test_nearly_equal_values_give_the_normal_law():
    """There n log(1 + t^2 / (n - 1)) is the likelihood ratio of Student's t."""
    values = 1e6 + GENERATOR.normal(size=30)
    t = np.sqrt((np.exp(2 * LIMIT / 30) - 1) * 29)
    half = t * values.std(ddof=1) / np.sqrt(30)
    for found, scale in (
        (gamma_mean_interval(values), 1.0),
        (beta_mean_interval(values / 4e6), 4e6),
    ):
        assert found.mean is not None
        assert scale * found.mean == pytest.approx(values.mean(), rel=1e-12)
        assert scale * (found.high - found.mean) == pytest.approx(half, rel=1e-4)
        assert scale * (found.mean - found.low) == pytest.approx(half, rel=1e-4)


@pytest.mark.parametrize("law", ["gamma", "beta"])
def test_coverage(law):
    """Of 500 data sets, about 475 intervals hold the mean; 4 standard errors are 20."""
    if law == "gamma":
        sets, truth, interval = GENERATOR.gamma(3.0, 5e5, (500, 60)), 1.5e6, gamma_mean_interval
    else:
        sets, truth, interval = GENERATOR.beta(2.0, 6.0, (500, 60)) / 2, 0.125, beta_mean_interval
    intervals = [interval(values) for values in sets]
    assert abs(sum(low <= truth <= high for _, low, high in intervals) - 475) < 20


def test_published_gamma_intervals():
    """Table 6: 1.0e6 +5.8e2 -5.8e2, and 3.0e6 +2.9e5 -2.4e5, ends that are 0.1e5 off."""
    mean, low, high = gamma_mean_interval(NMU_SUB)
    assert [f"{value:.1e}" for value in (mean, high - mean, mean - low)] == [
        "1.0e+06",
        "5.8e+02",
        "5.8e+02",
    ]
    mean, low, high = gamma_mean_interval(NAC_MUL)
    assert f"{mean:.1e}" == "3.0e+06"
    assert high - mean == pytest.approx(2.9e5, abs=0.15e5)
    assert mean - low == pytest.approx(2.4e5, abs=0.15e5)


@pytest.mark.parametrize("interval", [gamma_mean_interval, beta_mean_interval])
def test_few_and_equal_values(interval):
    assert interval([]) == (None, None, None)
    assert interval([0.25]) == (0.25, None, None)
    for value in (0.0, 1e-9, 0.25, 0.5):
        assert interval([value] * 3) == (value, value, value)


@pytest.mark.parametrize(
    "values",
    [[0, 0, 0.5], [0, 1e-7, 1e-7], [0.5, 0.499], [1e-300, 0.4], [0.2, 0.2 + 1e-8], [0.0, 0.5]],
)
@pytest.mark.parametrize("interval", [gamma_mean_interval, beta_mean_interval])
def test_values_at_the_ends(interval, values):
    mean, low, high = interval(values)
    assert 0 < low < mean < high < np.inf
    assert interval == gamma_mean_interval or high < 0.5


def test_sparsity_beyond_one_half_counts_as_one_half():
    assert beta_mean_interval([0.1, 0.2, 2.0]) == beta_mean_interval([0.1, 0.2, 0.5])


def test_wider_at_higher_confidence():
    for interval in (gamma_mean_interval, beta_mean_interval):
        values = np.array([0.1, 0.15, 0.3])
        assert interval(values, confidence=0.99).low < interval(values).low
        assert interval(values, confidence=0.99).high > interval(values).high


def test_t_upper_is_that_of_scipy():
    values = GENERATOR.normal(3.0, 2.0, 10)
    expected = stats.ttest_1samp(values, 0.0, alternative="less").confidence_interval(0.99).high
    assert t_upper(values) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson(3, 2), "successes is 3 of trials = 2; give 0 to 2"),
        (lambda: wilson(1, 2, confidence=95), "confidence is 95; give"),
        (lambda: gamma_mean_interval([1.0, -2.0]), "values holds -2.0"),
        (lambda: gamma_mean_interval([1.0, np.nan]), "values holds NaN"),
        (lambda: beta_mean_interval([0.1, np.inf]), "values holds NaN or infinity"),
        (lambda: beta_mean_interval([0.1, 0.2], upper=0), "upper is 0; give"),
        (lambda: beta_mean_interval(np.ones((2, 2))), r"shape \(2, 2\)"),
        (lambda: t_upper([1.0]), "give at least 2"),
    ],
)
def test_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()

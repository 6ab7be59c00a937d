"""Means and deviations against closed forms, quadrature, simulation and published figures."""

import math

import mpmath
import numpy as np
import pytest
import torch
from scipy.special import comb

from torchalu.functional import logic_ensemble, logit_xnor
from torchalu.functional.logic_moments import logic_moments

# Published figures, from about 1.2e9 simulated draws: mean of AND and the two deviations, exact
# functions first (pytorch-logit-logic 1.0.0).
PUBLISHED = {
    2: (-1.29895, 0.94834, 0.36641),
    3: (-2.27741, 1.00907, 0.14725),
    4: (-3.1575, 1.09799, 0.06062),
    5: (-3.9979, 1.19478, 0.025145),
}
PUBLISHED_AIL = {
    3: (-1.15497, 1.0701, 0.4391),
    4: (-1.5794, 1.1929, 0.3474),
    5: (-1.988, 1.3167, 0.2882),
    8: (-3.191, 1.6524, 0.1918),
    16: (-6.383, 2.335, 0.1022),
    32: (-12.766, 3.302, 0.05305),
}


def equations(z):
    """Each function of the last dimension, by its equation in probabilities or by its cases."""
    p, parity = z.sigmoid().prod(-1), (z / 2).tanh().prod(-1)
    negative = z.clamp(max=0).sum(-1)
    return {
        "logit_and": p.logit(),
        "logit_xnor": ((1 + parity) / (1 - parity)).log(),
        "and_ail": torch.where((z < 0).any(-1), negative, z.amin(-1)),
        "xnor_ail": z.sign().prod(-1) * z.abs().amin(-1),
    }


def half_normal_minimum(k, power):
    """E[min^power] of k half-normal numbers, by their density."""

    def density(t):
        tail = mpmath.erfc(t / mpmath.sqrt(2))
        return k * mpmath.sqrt(2 / mpmath.pi) * mpmath.exp(-(t**2) / 2) * tail ** (k - 1)

    return mpmath.quad(lambda t: t**power * density(t), [0, 1 / mpmath.mpf(k), 1, 4, 40])


def quadrature(k, step, reach):
    """Mean and deviation of each function by a sum over a grid of k dimensions."""
    z = torch.arange(-reach, reach + step / 2, step, dtype=torch.float64)
    weight = step * (-(z**2) / 2).exp() / math.sqrt(2 * math.pi)
    points, weights = torch.cartesian_prod(*[z] * k), torch.cartesian_prod(*[weight] * k).prod(-1)
    result = {}
    for name, value in equations(points).items():
        mean = (weights * value).sum()
        result[name] = mean.item(), (weights * (value - mean) ** 2).sum().sqrt().item()
    return result


def test_two_operands_of_the_approximations_have_closed_forms():
    mean = 1 / math.sqrt(2 * math.pi) + 1 / (2 * math.sqrt(math.pi))
    deviation = math.sqrt(5 / 4 - 1 / (math.sqrt(2) * math.pi) - 1 / (4 * math.pi))
    assert logic_moments("and_ail", 2) == pytest.approx((-mean, deviation), rel=1e-14)
    assert logic_moments("or_ail", 2) == pytest.approx((mean, deviation), rel=1e-14)
    expected = (0, math.sqrt(1 - 2 / math.pi))
    assert logic_moments("xnor_ail", 2) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("k", [2, 3, 5, 16, 64])
def test_approximations_equal_the_sum_over_the_number_of_negative_operands(k):
    """Given m negative operands, AND is minus the sum of m half-normal numbers."""
    m = np.arange(1, k + 1)
    share = comb(k, m) / 2.0**k
    least, square = (float(half_normal_minimum(k, power)) for power in (1, 2))
    mean = float(share @ (-m * math.sqrt(2 / math.pi))) + least / 2.0**k
    second = float(share @ (m * (1 - 2 / math.pi) + m**2 * 2 / math.pi)) + square / 2.0**k
    expected = mean, math.sqrt(second - mean**2)
    assert logic_moments("and_ail", k) == pytest.approx(expected, rel=1e-12)
    assert logic_moments("xnor_ail", k) == pytest.approx((0, math.sqrt(square)), rel=1e-12)


@pytest.mark.parametrize(
    ("k", "step", "reach", "relative"), [(2, 1 / 8, 12, 1e-12), (3, 1 / 5, 9, 1e-11)]
)
def test_exact_functions_equal_quadrature_in_k_dimensions(k, step, reach, relative):
    expected = quadrature(k, step, reach)
    for name in ("logit_and", "logit_xnor"):
        assert logic_moments(name, k) == pytest.approx(expected[name], rel=relative, abs=1e-12)


@pytest.mark.parametrize("k", [6, 16, 40])
def test_exact_and_of_many_equals_the_inversion_of_its_characteristic_function(k):
    """The density of the sum of k costs -log sigma(z), by a Fourier transform."""
    z = np.arange(-13, 13, 1 / 64)
    weight = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / 64
    size, width = 2**11, 8.0 * k
    costs = np.arange(1, size) * width / size
    frequencies = 2 * np.pi * np.fft.rfftfreq(size, width / size)
    transform = (np.exp(-1j * np.outer(frequencies, np.logaddexp(0, -z))) @ weight) ** k
    share = np.fft.irfft(transform, size)[1:]
    value = -costs - np.log(-np.expm1(-costs))
    mean = share @ value
    expected = mean, math.sqrt(share @ (value - mean) ** 2)
    assert logic_moments("logit_and", k) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("k", [2, 16, 100])
def test_exact_xnor_equals_mpmath(k):
    """atanh^2 u as its series, the means of even powers by adaptive quadrature."""

    def power_mean(n):
        return 2 * mpmath.quad(lambda z: mpmath.tanh(z / 2) ** n * mpmath.npdf(z), [0, 2, 4, 8, 14])

    def coefficient(n):
        return sum(mpmath.mpf(1) / (2 * j + 1) for j in range(n)) / n

    terms = 200 if k == 2 else 20
    square = 4 * sum(coefficient(n) * power_mean(2 * n) ** k for n in range(1, terms + 1))
    assert logic_moments("logit_xnor", k)[1] == pytest.approx(float(mpmath.sqrt(square)), rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_simulation_agrees(k):
    draws = 1_000_000
    generator = torch.Generator().manual_seed(k)
    z = torch.randn(draws, k, generator=generator, dtype=torch.float64)
    for name, value in equations(z).items():
        mean, deviation = logic_moments(name, k)
        standard = (value - mean) / deviation
        assert abs(standard.mean()) * math.sqrt(draws) < 4
        square = standard.square()
        assert abs(square.mean() - 1) * math.sqrt(draws) < 4 * square.std()


@pytest.mark.parametrize("k", PUBLISHED)
def test_published_figures_of_the_exact_functions(k):
    mean, deviation, parity = PUBLISHED[k]
    assert logic_moments("logit_and", k) == pytest.approx((mean, deviation), abs=1e-4)
    assert logic_moments("logit_xnor", k) == pytest.approx((0, parity), abs=1e-5)


@pytest.mark.parametrize("k", PUBLISHED_AIL)
def test_published_figures_of_the_approximations(k):
    mean, deviation, parity = PUBLISHED_AIL[k]
    assert logic_moments("and_ail", k) == pytest.approx((mean, deviation), rel=2e-4)
    assert logic_moments("xnor_ail", k) == pytest.approx((0, parity), rel=2e-4)


@pytest.mark.parametrize("k", [2, 3, 50])
@pytest.mark.parametrize("family", ["{}_ail", "logit_{}"])
def test_or_mirrors_and(family, k):
    mean, deviation = logic_moments(family.format("and"), k)
    assert logic_moments(family.format("or"), k) == (-mean, deviation)


@pytest.mark.parametrize("k", [1_000, 1_000_000])
def test_and_of_very_many_is_the_sum_of_its_costs(k):
    """log(1 - p) and the minimum vanish; what is left has k times the moments of one operand."""
    cost = [
        mpmath.quad(
            lambda z, n=n: mpmath.npdf(z) * mpmath.log1p(mpmath.exp(-z)) ** n,
            [-14, -7, 0, 7, 14],
        )
        for n in (1, 2)
    ]
    expected = float(-k * cost[0]), float(mpmath.sqrt(k * (cost[1] - cost[0] ** 2)))
    assert logic_moments("logit_and", k) == pytest.approx(expected, rel=1e-12)
    expected = -k / math.sqrt(2 * math.pi), math.sqrt(k * (1 - 1 / math.pi) / 2)
    assert logic_moments("and_ail", k) == pytest.approx(expected, rel=1e-12)


class Normalizer(torch.nn.Module):
    """Asks for moments while it is traced."""

    def __init__(self, name, k):
        super().__init__()
        self.name, self.k = name, k

    def forward(self, z):
        mean, deviation = logic_moments(self.name, self.k)
        return (z - mean) / deviation


@pytest.mark.parametrize("name", ["and_ail", "logit_and", "logit_xnor"])
@pytest.mark.parametrize("trace", ["compile", "export"])
def test_traced_code_takes_them_for_constants(name, trace):
    model = Normalizer(name, {"compile": 21, "export": 22}[trace])  # not kept from another test
    z = torch.linspace(-1, 1, 5)
    if trace == "compile":
        traced = torch.compile(model, fullgraph=True, backend="aot_eager")
    else:
        traced = torch.export.export(model, (z,)).module()
    torch.testing.assert_close(traced(z), model(z))


def test_compiled_code_may_change_k():
    """From its second value on the compiler takes an integer for a symbol."""
    compiled = torch.compile(
        lambda z, k: z * logic_moments("or_ail", k)[1], fullgraph=True, backend="aot_eager"
    )
    for k in (2, 3, 4, 5):
        assert compiled(torch.ones(1), k).item() == pytest.approx(logic_moments("or_ail", k)[1])


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="function is 'and_il'; give one of and_ail, or_ail"):
        logic_moments("and_il", 2)
    with pytest.raises(ValueError, match="k is 1; a logic function takes 2 operands or more"):
        logic_moments("and_ail", 1)
    with pytest.raises(TypeError, match=r"k is 2\.0; give a whole number"):
        logic_moments("and_ail", 2.0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="k is 500: the variance of logit_xnor is too small"):
        logic_moments("logit_xnor", 500)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_a_scale_beyond_the_dtype_is_refused(dtype):
    """One over the deviation is infinite there, and infinity times 0 no number."""
    z = torch.randn(2, 128, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    message = "k is 128: the deviation of logit_xnor is .*e-.*, too small for torch.float32"
    with pytest.raises(ValueError, match=message):
        logit_xnor(z.to(dtype), k=128, normalized=True)
    with pytest.raises(ValueError, match=message):
        logic_ensemble(z.to(dtype), ("and_ail", "logit_xnor"), k=128, normalized=True)
    assert logit_xnor(z, k=128, normalized=True).isfinite().all()
    assert logit_xnor(z.to(dtype), k=128).isfinite().all()
    assert logit_xnor(z.to(dtype)[:, :64], k=64, normalized=True).isfinite().all()


def test_a_number_of_operands_may_be_one_of_numpy():
    assert logic_moments("and_ail", np.int64(2)) == logic_moments("and_ail", 2)

"""The exact logic functions, value and gradient, against arithmetic of 330 digits."""

import itertools
import math
from functools import cache

import mpmath
import numpy as np
import pytest
import torch

from torchalu import functional, kernels

DIGITS = 330  # of log(expm1(s)) as much is lost as s is small; s is at least 1e-307 or vanishes
SIZES = (2.0**-100, 2.0**-27, 2.0**-10, 0.75, 2.5, 20.0, 88.0, 704.0, 9984.0)
PAIRS = [0.0, *SIZES, *(-size for size in SIZES)]
TRIPLES = [0.0] + [sign * size for size in (2.0**-100, 0.75, 20.0, 704.0) for sign in (1, -1)]
GROUPS = [*itertools.product(PAIRS, repeat=2), *itertools.product(TRIPLES, repeat=3)]


def logit_and(z):
    cost = sum(mpmath.log1p(mpmath.exp(-x)) for x in z)
    happens = -mpmath.expm1(-cost)  # 1 - the product of the probabilities
    return -mpmath.log(mpmath.expm1(cost)), [1 / (1 + mpmath.exp(x)) / happens for x in z]


def logit_or(z):
    value, slopes = logit_and([-x for x in z])
    return -value, slopes


def logit_xnor(z):
    tanh = [mpmath.tanh(x / 2) for x in z]
    product = mpmath.fprod(tanh)
    rest = mpmath.mpf(1)  # 1 - |product|
    if product:
        rest = -mpmath.expm1(sum(mpmath.log1p(-2 / (mpmath.exp(abs(x)) + 1)) for x in z))
    value = mpmath.sign(product) * mpmath.log1p(2 * abs(product) / rest)
    others = [mpmath.fprod(tanh[:i] + tanh[i + 1 :]) for i in range(len(z))]
    slope = [mpmath.sech(x / 2) ** 2 / (rest * (1 + abs(product))) for x in z]
    return value, [o * s for o, s in zip(others, slope, strict=True)]


def signed_geomean(z):
    product, k = mpmath.fprod(z), len(z)
    value = mpmath.sign(product) * abs(product) ** (mpmath.mpf(1) / k)
    return value, [value / (k * x) if x else mpmath.mpf(0) for x in z]


EQUATIONS = {
    "logit_and": logit_and,
    "logit_or": logit_or,
    "logit_xnor": logit_xnor,
    "signed_geomean": signed_geomean,
}


@cache
def exact(name, group):
    """Value, gradient, and the size that a rounding of the value has to be measured by.

    Where a value is near 0 though no operand is, as that of AND(0.88, 0.88), the rounding of the
    operands alone moves it by a multiple of itself.
    """
    with mpmath.workdps(DIGITS):
        value, slopes = EQUATIONS[name]([mpmath.mpf(x) for x in group])
        moved = sum(abs(x * slope) for x, slope in zip(group, slopes, strict=True))
    return value, slopes, max(abs(value), moved)


def close(got, wanted, size, dtype, units):
    """Whether a number is right to so many units in the last place, if it is a normal one."""
    finfo = torch.finfo(dtype)
    if abs(wanted) > finfo.max:
        return math.isinf(got)
    return abs(got - wanted) <= units * finfo.eps * size + finfo.tiny


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize(
    ("dtype", "units"), [(torch.float32, 4), (torch.float64, 5), (torch.bfloat16, 0.51)]
)
@pytest.mark.parametrize("name", EQUATIONS)
def test_value_and_gradient_are_right_to_the_last_digits(name, dtype, units, size):
    groups = [group for group in GROUPS if len(group) == size]
    z = torch.tensor(groups, dtype=dtype).requires_grad_()
    assert z.tolist() == [list(group) for group in groups]
    value = getattr(functional, name)(z, k=size)
    (grad,) = torch.autograd.grad(value.sum(), z)
    for group, got, slopes in zip(groups, value.flatten().tolist(), grad.tolist(), strict=True):
        wanted, wanted_slopes, scale = exact(name, group)
        assert close(got, wanted, scale, dtype, units), (group, got, wanted)
        for slope, right in zip(slopes, wanted_slopes, strict=True):
            assert close(slope, right, abs(right), dtype, units), (group, slopes)


@pytest.mark.parametrize("name", ["logit_and", "logit_or", "logit_xnor"])
def test_gradients_do_not_end_where_probabilities_round(name):
    """As they do where a probability is kept 1e-7 away from 0 and 1."""
    sign = -1 if name == "logit_or" else 1
    z = torch.full((1, 2), 1e4 * sign).requires_grad_()
    value = getattr(functional, name)(z)
    value.backward()
    assert value.item() == pytest.approx(sign * (1e4 - math.log(2)), rel=1e-7)
    assert z.grad is not None
    assert z.grad.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("k", [40, 200, 3000])
def test_so_many_operands_that_their_probability_vanishes(k, dtype):
    for at in (0.0, -0.5, 1.5):
        z = torch.full((1, k), at, dtype=dtype).requires_grad_()
        value = functional.logit_and(z, k=k)
        value.backward()
        with mpmath.workdps(1000):
            each = mpmath.log1p(mpmath.exp(-at))
            wanted = -mpmath.log(mpmath.expm1(k * each))
            slope = 1 / (1 + mpmath.exp(at)) / -mpmath.expm1(-k * each)
        assert z.grad is not None
        epsilon = torch.finfo(dtype).eps
        assert value.item() == pytest.approx(float(wanted), rel=4 * k * epsilon)
        assert z.grad.flatten().tolist() == pytest.approx([float(slope)] * k, rel=k * epsilon)


@pytest.mark.parametrize("name", EQUATIONS)
def test_infinite_operands(name):
    inf = math.inf
    operator = getattr(functional, name)
    expected = {
        "logit_and": [inf, 2.0, -inf, -inf],
        "logit_or": [inf, inf, inf, -inf],
        "logit_xnor": [inf, 2.0, -inf, inf],
        "signed_geomean": [inf, inf, -inf, inf],
    }[name]
    z = torch.tensor([[inf, inf], [inf, 2.0], [inf, -inf], [-inf, -inf]])
    torch.testing.assert_close(operator(z).flatten().tolist(), expected)

    class Layer(torch.nn.Module):
        def forward(self, z):
            return operator(z)

    exported = torch.export.export(Layer(), (z,)).module()
    finite = torch.tensor([[0.5, -1.5], [30.0, 2.0], [0.0, 4.0], [-3.0, 0.5]])
    for given in (z, z.flip(1), finite):
        torch.testing.assert_close(exported(given), operator(given))
    given = torch.tensor([[inf, 2.0]]).expand(4, 2).clone().requires_grad_()
    exported(given).sum().backward()
    assert given.grad is not None
    assert not given.grad.isnan().any()


def written_out(name, z):
    """The function of each row, in torch's own operations."""
    functions = [kernels.FUNCTIONS.index(name)]
    return kernels.logic_form(z[:, None, :, None], functions, [0.0], [1.0], False)


@pytest.mark.parametrize(
    "name", [*EQUATIONS, "and_ail", "or_ail", "xnor_ail", "max_out", "min_out"]
)
@pytest.mark.parametrize("k", [2, 3])
def test_nan_is_not_hidden(name, k):
    z = torch.where(torch.eye(k) == 1, torch.nan, torch.tensor([-1.0, 5.0, 2.0])[:k])
    for given in (z, z.where(z.isnan(), 0.0)):
        assert getattr(functional, name)(given, k=k).isnan().all()
        assert written_out(name, given).isnan().all()


def test_infinity_beside_0_has_no_geometric_mean():
    z = torch.tensor([[math.inf, 0.0], [0.0, -math.inf]])
    assert functional.signed_geomean(z).isnan().all()
    assert written_out("signed_geomean", z).isnan().all()


def pairs_of(name):
    """What pytorch-logit-logic calls a function, by group along a dimension."""
    import pytorch_logit_logic as peer

    return {
        "logit_and": peer.actfuns.logistic_and,
        "logit_or": peer.actfuns.logistic_or,
        "logit_xnor": peer.actfuns.logistic_parity,
        "and_ail": peer.actfuns.logistic_and_approx,
        "or_ail": peer.actfuns.logistic_or_approx,
        "xnor_ail": peer.actfuns.logistic_parity_approx,
    }[name]


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize(
    "name", ["logit_and", "logit_or", "logit_xnor", "and_ail", "or_ail", "xnor_ail"]
)
def test_equals_the_authors_program_where_that_is_right(name, k, normalized):
    """Its parity counts events that happen, and its constants are simulated to 4 digits."""
    z = torch.randn(50, 4 * k, generator=torch.Generator().manual_seed(k), dtype=torch.float64)
    z.requires_grad_()
    reference = pairs_of(name)(z.unflatten(1, (4, k)), 2)
    if "xnor" in name:
        reference = reference * (-1) ** k
    value = getattr(functional, name)(z, k=k)
    torch.testing.assert_close(value, reference, rtol=1e-9, atol=1e-9)
    grads = [torch.autograd.grad(output.sum(), z)[0] for output in (value, reference)]
    torch.testing.assert_close(*grads, rtol=1e-7, atol=1e-9)
    if normalized:
        mean, deviation = functional.logic_moments(name, k)
        form = getattr(functional, name)(z, k=k, normalized=True)
        torch.testing.assert_close(form, (value - mean) / deviation, rtol=1e-12, atol=1e-12)


def test_sizes_may_be_integers_of_numpy():
    z = torch.arange(6.0).view(1, 6)
    got = functional.max_out(z, k=np.int64(3), dim=np.int64(-1))
    assert got.equal(functional.max_out(z, k=3))
    with pytest.raises(TypeError, match="k is True; give an integer"):
        functional.max_out(z, k=True)

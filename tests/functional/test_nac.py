"""The accumulator and its log space, against exact sums and products."""

import mpmath
import pytest
import torch

from torchalu import functional

EPS = 1e-7
POWERS = [(1.0, 1.0), (1.0, -1.0), (0.0, 1.0), (0.5, -0.25), (-1.0, -1.0), (2.0, 0.0)]
HATS = [(0.5, -0.25), (-1.5, 2.0), (0.0, 30.0), (-40.0, 1e-30)]


def sum_equation(x, w_hat, m_hat):
    weights = [mpmath.tanh(w) / (1 + mpmath.exp(-m)) for w, m in zip(w_hat, m_hat, strict=True)]
    return mpmath.fdot(x, weights)


def product_equation(x, w):
    return mpmath.fprod((abs(a) + mpmath.mpf(EPS)) ** b for a, b in zip(x, w, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("w_hat", HATS)
@pytest.mark.parametrize("m_hat", HATS)
def test_sums_and_gradients_equal_mpmath(agrees_with_mpmath, w_hat, m_hat, dtype):
    for x in [(0.0, 1e30), (1e-30, -1e-310), (-2.5, 0.3), (1e30, 1e-30), (-1.0, -1.0)]:
        agrees_with_mpmath(functional.nac, sum_equation, x, [[w_hat], [m_hat]], dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weight", POWERS)
def test_products_and_gradients_equal_mpmath(extreme_pairs, agrees_with_mpmath, weight, dtype):
    def function(x, w):
        return functional.nac_mul(x, w, EPS)

    for x in extreme_pairs:
        agrees_with_mpmath(function, product_equation, x, [[weight]], dtype, scaled=True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("power", [1.0, -1.0])
def test_no_nan_from_the_logarithm_of_zero(dtype, power):
    x = torch.zeros(2, dtype=dtype, requires_grad=True)
    w = torch.full((1, 2), power / 4, dtype=dtype, requires_grad=True)
    product = functional.nac_mul(x, w)
    product.sum().backward()
    torch.testing.assert_close(product.item(), EPS ** (power / 2), rtol=0.02, atol=0)
    assert x.grad is not None
    assert w.grad is not None
    assert x.grad.eq(0).all()
    assert w.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_exploding_exponential_saturates_without_nan(dtype):
    x = torch.zeros(60, dtype=dtype, requires_grad=True)
    w = torch.full((1, 60), -1.0, dtype=dtype, requires_grad=True)
    product = functional.nac_mul(x, w)
    product.sum().backward()
    assert product.isfinite().all()
    assert product.item() >= 0.99 * torch.finfo(dtype).max
    assert x.grad is not None
    assert w.grad is not None
    assert x.grad.eq(0).all()
    assert w.grad.eq(0).all()


def test_log_space_loses_the_sign_as_its_equation_says():
    x = torch.tensor([-3.0, 2.0], dtype=torch.float64)
    ones = torch.ones(1, 2, dtype=torch.float64)
    assert round(functional.nac_mul(x, ones).item(), 4) == 6.0
    assert functional.nmu(x, ones).item() == -6.0
    assert round(functional.real_npu(x, ones, torch.ones(2).double()).item(), 4) == -6.0


@pytest.mark.parametrize("eps", [0.0, -1e-7, float("nan"), float("inf"), 1e-60])
def test_eps_that_would_not_help_is_refused(eps):
    with pytest.raises(ValueError, match="eps is"):
        functional.nac_mul(torch.ones(2), torch.ones(1, 2), eps)


def test_small_eps_serves_float64():
    x = torch.tensor([1e-100], dtype=torch.float64)
    product = functional.nac_mul(x, torch.ones(1, 1, dtype=torch.float64), 1e-200)
    torch.testing.assert_close(product.item(), 1e-100, rtol=1e-12, atol=0)

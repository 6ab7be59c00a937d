"""The multiplication unit against exact products."""

import itertools

import pytest
import torch

from torchalu import functional

WEIGHTS = [(1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (0.5, 0.5), (0.9, 0.125), (1.0, 0.3)]


def equation(x, w):
    return (w[0] * x[0] + 1 - w[0]) * (w[1] * x[1] + 1 - w[1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_products_and_gradients_equal_mpmath(extreme_pairs, agrees_with_mpmath, weight, dtype):
    for x in extreme_pairs:
        agrees_with_mpmath(functional.nmu, equation, x, [[weight]], dtype)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_definition_equals_mpmath(extreme_pairs, agrees_with_mpmath, weight):
    for x in extreme_pairs:
        parameters = [[weight]]
        agrees_with_mpmath(
            functional.nmu_definition, equation, x, parameters, torch.float64, scaled=True
        )


@pytest.mark.parametrize("zeros", [1, 2, 3])
def test_gradients_are_exact_where_factors_are_zero(zeros):
    x = torch.tensor([2.0, 3.0, 5.0, 7.0], dtype=torch.float64)
    x[:zeros] = 0
    x.requires_grad_()
    functional.nmu(x, torch.ones(1, 4, dtype=torch.float64)).sum().backward()
    expected = [105.0, 0, 0, 0] if zeros == 1 else [0.0, 0, 0, 0]
    assert x.grad is not None
    assert x.grad.tolist() == expected


def test_sign_is_kept_for_every_combination():
    signs = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=5)))
    assert functional.nmu(3 * signs, torch.ones(1, 5)).flatten().equal(243 * signs.prod(1))


def test_small_inputs_are_not_lost_beside_one():
    x = torch.tensor([1e-30, 1e-5])
    product = functional.nmu(x, torch.ones(1, 2))
    torch.testing.assert_close(product.item(), 1e-35, rtol=1e-5, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(dtype):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(6, 8, generator=generator).to(dtype).requires_grad_()
    w = torch.rand(3, 8, generator=generator).to(dtype).requires_grad_()
    product = functional.nmu(x, w)
    exact = functional.nmu_definition(x.double(), w.double())
    torch.testing.assert_close(product, exact.to(dtype), rtol=torch.finfo(dtype).eps, atol=0)
    grads = torch.autograd.grad(product.float().sum(), (x, w))
    expected = torch.autograd.grad(exact.sum(), (x, w))
    for got, want in zip(grads, expected, strict=True):
        assert got.dtype == dtype
        torch.testing.assert_close(got, want, rtol=4 * torch.finfo(dtype).eps, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision_infinity_stays_and_a_product_saturates(dtype):
    weight, large = torch.ones(1, 2, dtype=dtype), torch.finfo(dtype).max
    infinite = torch.tensor([[-torch.inf, 2.0], [torch.nan, 2.0]], dtype=dtype)
    for multiply in (functional.nmu, functional.nmu_definition):
        product = multiply(infinite, weight)
        assert product[0].item() == -torch.inf
        assert product[1].isnan()
    if dtype == torch.float16:  # bfloat16 has float32's range
        x = torch.tensor([300.0, -300.0], dtype=dtype, requires_grad=True)
        product = functional.nmu(x, weight)
        assert product.item() == -large
        (gradient,) = torch.autograd.grad(product.sum(), x)
        assert gradient.tolist() == [0.0, 0.0]


def test_integers_multiply_exactly():
    x = torch.tensor([12345678901, 7, 9])
    assert functional.nmu(x, torch.tensor([[1, 1, 0]])).item() == 12345678901 * 7

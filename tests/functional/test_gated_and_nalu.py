"""The gated units against exact arithmetic, at both ends of the gate."""

import mpmath
import pytest
import torch

from torchalu import functional

EPS = 1e-7
GATES = [(0.5, -0.25), (3.0, 2.0), (-30.0, -40.0)]
INPUTS = [
    (0.0, 1.0),
    (1e-30, 2.5),
    (-1e-310, 0.3),
    (-0.7, 1.5),
    (2.0, 3.0),
    (1e30, 0.3),
    (0.5, -1e30),
]


def mixed(x, gate, added, multiplied):
    logit = mpmath.fdot(x, gate)
    return added / (1 + mpmath.exp(-logit)) + multiplied / (1 + mpmath.exp(logit))


def shared_equation(x, w, gate):
    return separate_equation(x, w, gate, w)


def separate_equation(x, w, gate, mul_w):
    powers = ((abs(a) + mpmath.mpf(EPS)) ** b for a, b in zip(x, mul_w, strict=True))
    return mixed(x, gate, mpmath.fdot(x, w), mpmath.fprod(powers))


def gated_equation(x, w, mul_w, gate):
    factors = (b * a + 1 - b for a, b in zip(x, mul_w, strict=True))
    return mixed(x, gate, mpmath.fdot(x, w), mpmath.fprod(factors))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("x", INPUTS)
def test_values_and_gradients_equal_mpmath(agrees_with_mpmath, x, gate, dtype):
    weight, mul_weight = [(1.0, -0.75)], [(0.5, 1.0)]
    cases = (
        (functional.nalu, shared_equation, [mul_weight, [gate]]),
        (functional.nalu, separate_equation, [weight, [gate], mul_weight]),
        (functional.gated_nau_nmu, gated_equation, [weight, mul_weight, [gate]]),
    )
    for function, equation, parameters in cases:
        agrees_with_mpmath(function, equation, x, parameters, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_shut_gate_times_an_overflowing_product_is_zero_and_not_nan(dtype):
    huge = torch.full((6,), 1e30, dtype=dtype, requires_grad=True)
    x = huge * 1e30 if dtype == torch.float64 else huge
    ones = torch.ones(1, 6, dtype=dtype)
    for output in (functional.nalu(x, ones, ones), functional.gated_nau_nmu(x, ones, ones, ones)):
        torch.testing.assert_close(output, x.sum().reshape(1))
    functional.nalu(x, ones, ones).sum().backward()
    assert huge.grad is not None
    assert huge.grad.isfinite().all()


def test_numbers_that_are_not_real_are_refused():
    x = torch.tensor([1, 2])
    ones = torch.ones(1, 2, dtype=torch.int64)
    with pytest.raises(TypeError, match=r"input is torch\.int64; convert it"):
        functional.nalu(x, ones, ones)
    with pytest.raises(TypeError, match=r"input is torch\.int64; convert it"):
        functional.gated_nau_nmu(x, ones, ones, ones)
    with pytest.raises(TypeError, match=r"input is torch\.int64; convert it"):
        functional.real_npu(x, ones, ones[0])


def test_matrix_and_gate_of_wrong_shape_are_named():
    x, matrix = torch.ones(3, 2), torch.ones(1, 2)
    with pytest.raises(ValueError, match=r"gate_weight has shape \(2,\); give a matrix"):
        functional.nalu(x, matrix, torch.ones(2))
    with pytest.raises(ValueError, match=r"gate_weight \(1, 3\): the last dimension"):
        functional.gated_nau_nmu(x, matrix, matrix, torch.ones(1, 3))
    with pytest.raises(ValueError, match=r"gate has shape \(1, 2\); give one number"):
        functional.real_npu(x, matrix, matrix)
    with pytest.raises(ValueError, match=r"imag_weight \(1, 1\): the last dimension"):
        functional.npu(x, matrix, torch.ones(1, 1), torch.ones(2))
    with pytest.raises(ValueError, match=r"m_hat \(1, 1\): the last dimension"):
        functional.nac(x, matrix, torch.ones(1, 1))


def test_small_share_of_a_large_product_is_kept():
    x = torch.tensor([40.0, 1e30], dtype=torch.float64)
    gate, mul_weight = torch.tensor([[2.0, 0.0]]).double(), torch.tensor([[0.0, 1.0]]).double()
    output = functional.gated_nau_nmu(x, torch.zeros(1, 2).double(), mul_weight, gate)
    exact = mpmath.mpf(1e30) / (1 + mpmath.exp(80))
    torch.testing.assert_close(output.item(), float(exact), rtol=1e-12, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_product_beyond_the_largest_number_has_no_gradient_and_not_nan(dtype):
    """Many inputs of ordinary size."""
    generator = torch.Generator().manual_seed(0)
    x = 1 + 5 * torch.rand(8, 1200, generator=generator, dtype=dtype)
    x[0] = 1.0
    weights = [torch.rand(2, 1200, generator=generator, dtype=dtype) for _ in range(3)]
    tensors = [tensor.requires_grad_() for tensor in (x, *weights)]
    limit = torch.finfo(dtype).max
    output = functional.gated_nau_nmu(*tensors[:3], -1e-3 * tensors[3])
    assert output.isfinite().all()
    (output / limit).sum().backward()
    for tensor in tensors:
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()
    assert functional.gated_nau_nmu(*tensors[:3], -tensors[3])[1:].eq(limit).all()


def test_a_row_within_range_keeps_its_gradient_beside_one_that_is_not():
    rows = torch.stack([torch.full((3,), 1e30), torch.tensor([2.0, 3.0, 5.0])])
    ones = torch.ones(1, 3)
    weight = ones.clone().requires_grad_()
    functional.gated_nau_nmu(rows, ones, weight, -99 * ones).sum().backward()
    assert weight.grad is not None
    torch.testing.assert_close(weight.grad, torch.tensor([[15.0, 20.0, 24.0]]))

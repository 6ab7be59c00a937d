"""Quotients against exact arithmetic, at 0, with every sign, and beyond the largest number."""

import itertools

import mpmath
import pytest
import torch

from torchalu import functional

INPUTS = [
    *((0.0, 0.3), (1e-310, -2.5), (-1e-310, 1.0), (1e-30, 1e30), (-1e-30, 0.3), (-1e30, -0.7)),
    *((2.5, 0.3), (-2.5, 0.3), (-0.7, -2.5), (1.0, -1.0), (0.0, 0.0), (1e30, 1e-30)),
]
WEIGHTS = [
    ((1.0, 0.0), (0.0, 1.0)),
    ((1.0, 1.0), (0.0, 0.0)),
    ((0.0, 0.0), (0.0, 0.0)),
    ((1.0, 0.0), (0.75, 0.0)),
    ((0.5, 0.25), (0.75, 0.5)),
    ((0.3, 1.0), (0.0, 0.6)),
]


def equation(x, w, r):
    product, half_turns = mpmath.mpf(1), mpmath.mpf(0)
    for a, b, c in zip(x, w, r, strict=True):
        product *= (b * abs(a) + 1 - b) * (c / (abs(a) + mpmath.mpf(1e-7)) + 1 - c)
        half_turns += (b + c) * (a < 0)
    return product * mpmath.cospi(half_turns)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("weight", "reciprocal_weight"), WEIGHTS)
def test_values_and_gradients_equal_mpmath(agrees_with_mpmath, weight, reciprocal_weight, dtype):
    for x in INPUTS:
        agrees_with_mpmath(functional.nmru, equation, x, [[weight], [reciprocal_weight]], dtype)


def test_whole_weights_multiply_and_divide_with_every_sign():
    rows = torch.tensor(list(itertools.product([-6.0, 6.0], [-4.0, 4.0], [-3.0, 3.0])))
    a, b, c = rows = rows.double().unbind(1)
    weight = torch.tensor([[1, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=torch.float64)
    reciprocal_weight = torch.tensor([[0, 0, 1], [0, 1, 1], [1, 0, 0]], dtype=torch.float64)
    output = functional.nmru(torch.stack(rows, 1), weight, reciprocal_weight, eps=1e-200)
    expected = torch.stack((a * b / c, a / (b * c), 1 / a), 1)
    torch.testing.assert_close(output, expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_an_irrelevant_zero_changes_nothing_and_a_relevant_one_is_finite(dtype):
    x = torch.tensor([0.0, 3.0], dtype=dtype, requires_grad=True)
    weight = torch.tensor([[0.0, 1.0], [0.0, 1.0]], dtype=dtype, requires_grad=True)
    reciprocal_weight = torch.tensor([[0.0, 0.0], [1.0, 0.0]], dtype=dtype, requires_grad=True)
    output = functional.nmru(x, weight, reciprocal_weight)
    output.sum().backward()
    assert output[0].item() == 3.0
    largest = torch.finfo(dtype).max
    assert output[1].item() == pytest.approx(min(3e7, largest), rel=0.01)
    for tensor in (x, weight, reciprocal_weight):
        assert tensor.grad is not None
        assert not tensor.grad.isnan().any()


def test_there_is_no_pole_beside_zero():
    x = torch.tensor([[-1e-7], [0.0], [1e-7]], dtype=torch.float64)
    zero, one = torch.zeros(1, 1).double(), torch.ones(1, 1).double()
    quotient = functional.nmru(x, zero, one).flatten()
    torch.testing.assert_close(quotient, torch.tensor([-5e6, 1e7, 5e6], dtype=torch.float64))


def test_a_product_beyond_the_largest_number_stops_and_leaves_other_rows_their_gradient():
    zeros, ones = torch.zeros(12), torch.ones(12)
    x = torch.stack((zeros, ones, -zeros)).requires_grad_()
    half = torch.full((2, 12), 0.5)
    weight = half.clone().requires_grad_()
    reciprocal_weight = torch.stack((half[0], zeros)).requires_grad_()
    output = functional.nmru(x, weight, reciprocal_weight)
    assert output[0, 0] == output[2, 0] == torch.finfo(torch.float32).max
    torch.testing.assert_close(output[:, 1], torch.tensor([0.5**12, 1.0, 0.5**12]))
    output.sum().backward()
    assert x.grad is not None
    assert weight.grad is not None
    assert reciprocal_weight.grad is not None
    assert x.grad[[0, 2]].eq(0).all()
    expected = torch.func.grad(lambda row: functional.nmru(row, half, reciprocal_weight).sum())
    torch.testing.assert_close(x.grad[1], expected(ones))
    assert weight.grad.eq(0).all(), "an input of 1 leaves every factor at 1"
    torch.testing.assert_close(reciprocal_weight.grad, torch.zeros(2, 12), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("dtype", "size"), [(torch.float32, 1e6), (torch.float64, 1e200)])
def test_a_product_that_stops_has_no_gradient_whatever_its_sign(dtype, size):
    generator = torch.Generator().manual_seed(0)
    x = size * (1 + torch.rand(4, 10, generator=generator, dtype=dtype))
    x[:, 0] *= -1
    x[3] = torch.linspace(-1.5, 1.5, 10)
    matrices = [
        (0.25 + 0.5 * torch.rand(1, 10, generator=generator, dtype=dtype)).requires_grad_()
        for _ in range(2)
    ]
    output = functional.nmru(x, *matrices)
    assert output.isfinite().all()
    assert (output[:3].abs() > 1e30).all()
    gradients = torch.autograd.grad(output.sum(), matrices)
    alone = torch.autograd.grad(functional.nmru(x[3:], *matrices).sum(), matrices)
    torch.testing.assert_close(gradients, alone, rtol=1e-5, atol=0)
    assert all((gradient != 0).all() for gradient in alone)


def test_a_wide_layer_does_not_overflow_before_its_last_factor():
    x = torch.full((1, 128), 3.0, requires_grad=True)
    half = torch.full((1, 128), 0.5)
    output = functional.nmru(x, half, half)  # 2 for each input, and as often about 2 / 3
    exact = functional.nmru(*(t.double() for t in (x, half, half)))
    torch.testing.assert_close(output.double(), exact, rtol=1e-4, atol=0)
    assert exact.item() == pytest.approx((4 / 3) ** 128, rel=1e-4)
    (gradient,) = torch.autograd.grad(output.log().sum(), x)
    torch.testing.assert_close(gradient, torch.full((1, 128), 1 / 6), rtol=1e-4, atol=0)


def test_an_infinite_input_is_not_hidden():
    """0 * inf is no number, as with the NMU; as a factor the input itself is infinite."""
    left_out, zeros = torch.tensor([[0.0, 1.0]]), torch.zeros(1, 2)
    x = torch.tensor([[float("inf"), 2.0]])
    assert functional.nmru(x, left_out, zeros).isnan()
    assert functional.nmru(x, torch.ones(1, 2), zeros).item() == float("inf")


def test_zero_times_an_overflow_is_zero_and_nan_stays_nan():
    x = torch.tensor([[0.0] * 12 + [1e30, 0.0], [float("nan")] * 14])
    weight = torch.tensor([[0.0] * 13 + [1.0]])
    reciprocal_weight = torch.tensor([[1.0] * 12 + [0.0, 0.0]])
    output = functional.nmru(x, weight, reciprocal_weight).flatten()
    assert output[0] == 0
    assert output[1].isnan()


def test_a_weight_that_is_no_number_is_not_hidden():
    x = torch.tensor([[2.0, 3.0], [2.0**100, 2.0**100]])
    weight = torch.tensor([[float("nan"), 1.0], [1.0, 0.0], [1.0, 1.0]], requires_grad=True)
    output = functional.gated_nau_nmu(x, torch.zeros(3, 2), weight, torch.zeros(3, 2))
    assert output[:, 0].isnan().all()
    assert output[:, 1].tolist() == [1.0, 2.0**99]
    assert output[1, 2] == torch.finfo(torch.float32).max / 2
    (slope,) = torch.autograd.grad(output[0, 1], weight)
    assert slope[1].tolist() == [0.5, 2.0]


def test_an_input_that_is_no_tensor_is_named():
    with pytest.raises(TypeError, match=r"input is a list; give a tensor \(\*, in\)"):
        functional.nau([1.0, 2.0], torch.ones(1, 2))  # pyright: ignore[reportArgumentType]


def test_wrong_arguments_are_named():
    x, matrix = torch.ones(3, 2), torch.ones(1, 2)
    with pytest.raises(ValueError, match=r"reciprocal_weight \(1, 3\): the last dimension"):
        functional.nmru(x, matrix, torch.ones(1, 3))
    with pytest.raises(ValueError, match="eps is 0"):
        functional.nmru(x, matrix, matrix, eps=0.0)
    with pytest.raises(TypeError, match=r"input is torch\.int64; convert it"):
        functional.nmru(*(t.long() for t in (x, matrix, matrix)))

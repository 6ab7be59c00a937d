"""The improved NALU against exact arithmetic, at its clips, and where others lose the sign."""

import math

import mpmath
import pytest
import torch

from torchalu import functional

INPUTS = [
    *((1e-30, 2.5), (-1e-310, 0.3), (-0.7, 1.5), (2.0, -3.0), (-0.7, -2.5)),
    *((1e30, 0.3), (0.5, -1e30), (-1.0, 1.0)),
]


def equation(x, w, mul_w, gate):
    exponent = mpmath.fsum(
        b * mpmath.log(max(abs(a), mpmath.mpf(1e-7))) for a, b in zip(x, mul_w, strict=True)
    )
    signs = (abs(b) * mpmath.sign(a) + 1 - abs(b) for a, b in zip(x, mul_w, strict=True))
    multiplied = mpmath.fprod(signs) * mpmath.exp(min(exponent, 20))
    share = 1 / (1 + mpmath.exp(-gate[0]))
    return share * mpmath.fdot(x, w) + (1 - share) * multiplied


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("gate", [0.3, -5.0, 40.0])
@pytest.mark.parametrize("mul_weight", [(0.5, 1.0), (-0.25, 0.75), (1.0, -1.0), (-1.0, -1.0)])
def test_values_and_gradients_equal_mpmath(agrees_with_mpmath, mul_weight, gate, dtype):
    for x in INPUTS:
        parameters = [[(1.0, -0.75)], [mul_weight], [gate]]
        agrees_with_mpmath(functional.inalu, equation, x, parameters, dtype)


def multiply(x, weight, **options):
    """The product alone, in float64."""
    weight = torch.tensor([weight], dtype=torch.float64)
    shut = torch.tensor([-1e3], dtype=torch.float64)
    return functional.inalu(
        torch.as_tensor(x, dtype=torch.float64), torch.zeros_like(weight), weight, shut, **options
    )


@pytest.mark.parametrize(
    ("x", "weight", "expected"),
    [
        ([-3.0, 4.0], [1.0, 1.0], -12.0),
        ([-3.0, -4.0], [1.0, 1.0], 12.0),
        ([-12.0, 4.0], [1.0, -1.0], -3.0),
        ([12.0, -4.0], [1.0, -1.0], -3.0),
        ([-12.0, -4.0], [-1.0, 0.0], -1 / 12),
        ([-3.0, 4.0], [0.0, 1.0], 4.0),
        ([0.0, 4.0], [1.0, 1.0], 0.0),
        ([0.0, 4.0], [0.0, -1.0], 0.25),
    ],
)
def test_signs_and_zeros_of_whole_weights(x, weight, expected):
    assert multiply(x, weight).item() == pytest.approx(expected, rel=1e-15)


def test_a_quotient_by_zero_is_zero_and_has_finite_gradients():
    x = torch.tensor([3.0, 0.0], dtype=torch.float64, requires_grad=True)
    output = multiply(x, [1.0, -1.0])
    output.sum().backward()
    assert output.item() == 0
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_clips_are_arguments():
    assert multiply([1e6, -1e6], [1.0, 1.0]).item() == pytest.approx(-math.exp(20))
    assert multiply([1e6, 1e6], [1.0, 1.0], max_exponent=5.0).item() == pytest.approx(math.exp(5))
    whole = multiply([1e6, -1e6], [1.0, 1.0], max_exponent=math.inf)
    assert whole.item() == pytest.approx(-1e12)
    small = multiply([1e-9, 1.0], [-1.0, 1.0], max_exponent=math.inf)
    assert small.item() == pytest.approx(1e7)
    assert multiply([1e-9, 1.0], [-1.0, 1.0], eps=1e-12).item() == pytest.approx(math.exp(20))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_without_the_clip_a_product_saturates_and_a_shut_gate_hides_it(dtype):
    huge = torch.full((40,), 6e4 if dtype == torch.float16 else 1e30, dtype=dtype)
    huge = (huge if dtype != torch.float64 else huge**3).requires_grad_()
    ones = torch.ones(2, 40, dtype=dtype, requires_grad=True)
    gate = torch.tensor([1e3, -1e3], dtype=dtype)
    output = functional.inalu(huge, 0.01 * ones, ones, gate, max_exponent=math.inf)
    output.sum().backward()
    limit = torch.finfo(torch.promote_types(dtype, torch.float32)).max
    assert output.isfinite().all()
    assert output[0].item() == pytest.approx(0.4 * huge[0].item(), rel=0.01)
    assert output[1].item() >= 0.99 * min(limit, torch.finfo(dtype).max)
    assert huge.grad is not None
    assert ones.grad is not None
    assert huge.grad.isfinite().all()
    assert not ones.grad.isnan().any()


def test_wrong_arguments_are_named():
    x, matrix = torch.ones(3, 2), torch.ones(1, 2)
    with pytest.raises(ValueError, match=r"gate_logit has shape \(2,\); give one number for each"):
        functional.inalu(x, matrix, matrix, torch.ones(2))
    with pytest.raises(ValueError, match=r"mul_weight \(1, 3\): the last dimension"):
        functional.inalu(x, matrix, torch.ones(1, 3), torch.ones(1))
    for bad in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match=f"max_exponent is {bad}; give a positive number"):
            functional.inalu(x, matrix, matrix, torch.ones(1), max_exponent=bad)
    with pytest.raises(ValueError, match="eps is 0"):
        functional.inalu(x, matrix, matrix, torch.ones(1), eps=0.0)
    with pytest.raises(TypeError, match=r"input is torch\.int64; convert it"):
        functional.inalu(*(t.long() for t in (x, matrix, matrix, torch.ones(1))))

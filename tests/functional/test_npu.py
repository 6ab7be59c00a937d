"""The power units against exact complex powers."""

import mpmath
import pytest
import torch

from torchalu import functional

EPS = 1e-7
POWERS = [(1.0, 1.0), (1.0, -1.0), (2.0, 0.0), (0.5, 0.25), (-0.3, 0.7), (3.0, 1.5)]
GATES = [(1.0, 1.0), (0.0, 1.0), (0.25, 0.875)]
INPUTS = [
    *((0.0, 0.3), (1e-310, -2.5), (-1e-310, 1.0), (1e-30, 1e30), (-1e-30, 0.3), (-1e30, -0.7)),
    *((2.5, 0.3), (-2.5, 0.3), (-0.7, -2.5), (1.0, -1.0), (-1.0, -1.0), (1e30, 1e-30)),
]


def equation(x, w, imaginary, gate):
    """Real part of the product of complex powers, in polar form with relevance gates."""
    exponent = mpmath.mpc(0)
    for a, b, c, g in zip(x, w, imaginary, gate, strict=True):
        radius = g * (abs(a) + mpmath.mpf(EPS)) + 1 - g
        log = mpmath.mpc(mpmath.log(radius), mpmath.pi * g if a < 0 else 0)
        exponent += mpmath.mpc(b, c) * log
    return mpmath.exp(exponent).real


def real_equation(x, w, gate):
    return equation(x, w, [mpmath.mpf(0)] * len(w), gate)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("weight", POWERS)
def test_real_powers_and_gradients_equal_mpmath(agrees_with_mpmath, weight, gate, dtype):
    for x in INPUTS:
        agrees_with_mpmath(
            functional.real_npu, real_equation, x, [[weight], gate], dtype, scaled=True
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("imaginary", [(0.0, 0.0), (0.3, -0.2)])
@pytest.mark.parametrize("weight", POWERS)
def test_complex_powers_and_gradients_equal_mpmath(agrees_with_mpmath, weight, imaginary, dtype):
    for x in INPUTS:
        parameters = [[weight], [imaginary], (1.0, 0.75)]
        agrees_with_mpmath(functional.npu, equation, x, parameters, dtype, scaled=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_infinite_inputs(dtype):
    """One over infinity is 0, a shut gate leaves it out, and infinity itself saturates."""
    infinity, largest = float("inf"), torch.finfo(dtype).max
    powers, zeros = torch.tensor([[-1.0], [0.0], [1.0]], dtype=dtype), torch.zeros(3, 1).to(dtype)
    for sign in (1, -1):
        x = torch.tensor([sign * infinity], dtype=dtype, requires_grad=True)
        for share, wanted in ((1.0, (0.0, 1.0, sign * largest)), (0.0, (1.0, 1.0, 1.0))):
            gate = torch.tensor([share], dtype=dtype, requires_grad=True)
            for found in (
                functional.real_npu(x, powers, gate),
                functional.npu(x, powers, zeros, gate),
            ):
                expected = torch.tensor(wanted, dtype=dtype)
                torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-7)
                for gradient in torch.autograd.grad(found[:2].sum(), (x, gate)):
                    assert not gradient.isnan().any()

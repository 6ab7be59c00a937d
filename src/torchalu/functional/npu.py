"""Neural power units."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from torchalu.functional._arguments import check_eps, check_gate, check_weight
from torchalu.functional._log_space import cos_pi, full_precision, magnitude, saturating_exp


@full_precision
def real_npu(
    input: Float[Tensor, "*batch in"],
    weight: Float[Tensor, "out in"],
    gate: Float[Tensor, " in"],
    eps: float = 1e-7,
) -> Float[Tensor, "*batch out"]:
    r"""Multiply powers of inputs, the sign included.

    .. math:: y = \exp(W \log r) \cos(\pi W k), \quad
              r = g (|x| + \epsilon) + 1 - g, \quad k = g \, [x < 0]

    It is the real part of the product of complex powers; a gate of 0 takes an input out.

    Args:
        input: the numbers to multiply.
        weight: the power of each input; any real number.
        gate: g, the relevance of each input; clipped to [0, 1] here.
        eps: keeps the logarithm of 0 finite.

    Shape:
        `(*, in)`, `(out, in)` and `(in,)` to `(*, out)`.

    Raises:
        TypeError: `input` and `weight` differ in dtype outside autocast.
        ValueError: the shapes do not fit, or `eps` is not positive.

    Source:
        Heim et al. 2020, the RealNPU. Departures: pi is multiplied after reducing W k to
        [-1, 1], so that whole and half powers of a negative number have an exact cosine; the
        product saturates as in :func:`nac_mul`; half precision is computed in float32.

    Example:
        >>> weight, gate = torch.tensor([[1.0, -1.0]]), torch.ones(2)
        >>> real_npu(torch.tensor([6.0, -3.0]), weight, gate).round(decimals=3)
        tensor([-2.])
    """
    check_weight(input, weight)
    log_radius, half_turns = _polar(input, gate, eps)
    return saturating_exp(linear(log_radius, weight), cos_pi(linear(half_turns, weight)))


@full_precision
def npu(
    input: Float[Tensor, "*batch in"],
    weight: Float[Tensor, "out in"],
    imag_weight: Float[Tensor, "out in"],
    gate: Float[Tensor, " in"],
    eps: float = 1e-7,
) -> Float[Tensor, "*batch out"]:
    r"""Multiply complex powers of inputs, and take the real part.

    .. math:: y = \exp(W_r \log r - \pi W_i k) \cos(\pi W_r k + W_i \log r), \quad
              r = g (|x| + \epsilon) + 1 - g, \quad k = g \, [x < 0]

    Args:
        input: the numbers to multiply.
        weight: W_r, the real part of the power of each input.
        imag_weight: W_i, the imaginary part; with 0 it is :func:`real_npu`.
        gate: g, the relevance of each input; clipped to [0, 1] here.
        eps: keeps the logarithm of 0 finite.

    Shape:
        `(*, in)`, `(out, in)`, `(out, in)` and `(in,)` to `(*, out)`.

    Raises:
        TypeError: `input` and a matrix differ in dtype outside autocast.
        ValueError: the shapes do not fit, or `eps` is not positive.

    Source:
        Heim et al. 2020, the NPU. Departures as in :func:`real_npu`; the cosine of the sum is
        written as products, so that its first angle stays exact.

    Example:
        >>> imaginary = torch.tensor([[1.0]])
        >>> npu(torch.tensor([2.0]), torch.zeros(1, 1), imaginary, torch.ones(1)).round(decimals=3)
        tensor([0.7690])
    """
    check_weight(input, weight)
    check_weight(input, imag_weight, "imag_weight")
    log_radius, half_turns = _polar(input, gate, eps)
    turned, angle = linear(half_turns, weight), linear(log_radius, imag_weight)
    cosine = cos_pi(turned) * torch.cos(angle) - cos_pi(turned - 0.5) * torch.sin(angle)
    exponent = linear(log_radius, weight) - torch.pi * linear(half_turns, imag_weight)
    return saturating_exp(exponent, cosine)


def _polar(input: Tensor, gate: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Logarithm of the gated magnitude, and the gated angle in half turns."""
    check_gate(input, gate)
    check_eps(eps, input.dtype)
    gate = gate.clamp(0, 1)
    size = (magnitude(input) + eps).clamp(max=torch.finfo(input.dtype).max)  # lerp of inf is NaN
    radius = torch.lerp(torch.ones_like(size), size, gate)
    return torch.log(radius), gate * (input < 0).to(input.dtype)

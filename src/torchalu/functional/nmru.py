"""Neural multiplicative reciprocal unit."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from torchalu.functional._arguments import check_eps, check_weight
from torchalu.functional._log_space import cos_pi, full_precision, magnitude
from torchalu.functional.nmu import nmu


@full_precision
def nmru(
    input: Float[Tensor, "*batch in"],
    weight: Float[Tensor, "out in"],
    reciprocal_weight: Float[Tensor, "out in"],
    eps: float = 1e-7,
) -> Float[Tensor, "*batch out"]:
    r"""Multiply a subset of the inputs and of their reciprocals.

    .. math:: z_o = \cos\Bigl(\pi \sum_i (W_{oi} + R_{oi}) [x_i < 0]\Bigr) \prod_i
              \bigl(W_{oi} |x_i| + 1 - W_{oi}\bigr)
              \Bigl(\frac{R_{oi}}{|x_i| + \epsilon} + 1 - R_{oi}\Bigr)

    Args:
        input: the numbers to multiply and to divide by.
        weight: W; 1 multiplies by an input, 0 leaves it out; not clamped here.
        reciprocal_weight: R; 1 divides by an input, 0 leaves it out; not clamped here.
        eps: keeps the reciprocal of 0 finite.

    Shape:
        `(*, in)`, `(out, in)` and `(out, in)` to `(*, out)`.

    Raises:
        TypeError: `input` and a matrix differ in dtype outside autocast.
        ValueError: the shapes do not fit, or `eps` is not positive.

    Source:
        Mistry et al. 2022, the NMRU. Departures: :math:`1 / (|x| + \epsilon)` instead of
        :math:`1 / |x + \epsilon|`, which has its pole at :math:`x = -\epsilon`; the two halves
        of their weight are two matrices; a product of finite inputs that goes beyond the
        largest finite number, be it before its last factor, stops there, and its row has a
        gradient of 0; half precision is computed in float32.

    Example:
        >>> multiply, divide = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
        >>> nmru(torch.tensor([6.0, -3.0]), multiply, divide).round(decimals=3)
        tensor([-2.])
    """
    check_weight(input, weight)
    check_weight(input, reciprocal_weight, "reciprocal_weight")
    check_eps(eps, input.dtype)
    negative = input < 0
    factors = torch.where(negative, -input, input), 1 / (magnitude(input) + eps)
    weights = weight, reciprocal_weight
    sign = cos_pi(linear(negative.to(input.dtype), weight + reciprocal_weight))
    # By turns: all magnitudes first would overflow where they and the reciprocals do not.
    product = saturating_nmu(*(torch.stack(each, -1).flatten(-2) for each in (factors, weights)))
    inside = product.abs() < torch.finfo(product.dtype).max
    return torch.where(inside, sign, sign.detach()) * product


def saturating_nmu(input: Tensor, weight: Tensor) -> Tensor:
    """An NMU that stops at the largest finite number where its inputs are finite.

    A row whose product overflows is left out of the differentiated product: clamping it alone
    would let a gradient of 0 meet an infinite partial product, and become NaN.

    Args:
        input: the numbers to multiply, in float32 or float64.
        weight: 1 multiplies by an input, 0 leaves it out.
    """
    limit = torch.finfo(input.dtype).max
    rough = nmu(input.detach(), weight.detach())
    broken = ~weight.detach().isfinite().all(-1)  # of these outputs nothing hides the NaN
    whole = (rough.isfinite() | broken).all(-1, keepdim=True)
    known = ~input.isfinite().all(-1, keepdim=True) | whole
    product = nmu(torch.where(known, input, 1), weight)
    return torch.where(known | broken, product, rough.nan_to_num(0.0, limit, -limit))

"""Neural arithmetic logic unit."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from torchalu.functional._arguments import check_weight
from torchalu.functional._log_space import full_precision
from torchalu.functional.nac import nac_mul
from torchalu.functional.nau import nau


@full_precision
def nalu(
    input: Float[Tensor, "*batch in"],
    weight: Float[Tensor, "out in"],
    gate_weight: Float[Tensor, "out in"],
    mul_weight: Float[Tensor, "out in"] | None = None,
    eps: float = 1e-7,
) -> Float[Tensor, "*batch out"]:
    r"""Add or multiply, as a gate decides from the input.

    .. math:: y = g \odot W x + (1 - g) \odot \exp(W' \log(|x| + \epsilon)),
              \qquad g = \sigma(G x)

    Args:
        input: the numbers to add or to multiply.
        weight: W, the effective weight of the sum.
        gate_weight: G; no bias.
        mul_weight: W', the powers in the product; `weight` if it is left out.
        eps: keeps the logarithm of 0 finite.

    Shape:
        `(*, in)` and matrices `(out, in)` to `(*, out)`.

    Raises:
        TypeError: `input` and a matrix differ in dtype outside autocast.
        ValueError: the shapes do not fit, or `eps` is not positive.

    Source:
        Trask et al. 2018, section 2. Departures: 1 - g is computed as sigma(-G x), which keeps
        a small gate that 1 - g would round to 0; the product saturates as in :func:`nac_mul`;
        half precision is computed in float32.

    Example:
        >>> input, ones = torch.tensor([3.0, 4.0]), torch.ones(1, 2)
        >>> nalu(input, ones, 99 * ones)
        tensor([7.])
        >>> nalu(input, ones, -99 * ones).round(decimals=3)
        tensor([12.])
    """
    check_weight(input, gate_weight, "gate_weight")
    added = nau(input, weight)
    multiplied = nac_mul(input, weight if mul_weight is None else mul_weight, eps)
    logit = linear(input, gate_weight)
    return torch.sigmoid(logit) * added + torch.sigmoid(-logit) * multiplied

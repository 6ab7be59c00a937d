"""A gate between an addition unit and a multiplication unit."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from torchalu.functional._arguments import check_floating, check_weight
from torchalu.functional._log_space import full_precision
from torchalu.functional.nau import nau
from torchalu.functional.nmru import saturating_nmu


@full_precision
def gated_nau_nmu(
    input: Float[Tensor, "*batch in"],
    nau_weight: Float[Tensor, "out in"],
    nmu_weight: Float[Tensor, "out in"],
    gate_weight: Float[Tensor, "out in"],
) -> Float[Tensor, "*batch out"]:
    r"""Add with a NAU or multiply with an NMU, as a gate decides from the input.

    .. math:: y = g \odot \mathrm{NAU}(x) + (1 - g) \odot \mathrm{NMU}(x),
              \qquad g = \sigma(G x)

    Args:
        input: the numbers to add or to multiply.
        nau_weight: the weight of the sum.
        nmu_weight: the weight of the product.
        gate_weight: G; no bias.

    Shape:
        `(*, in)` and matrices `(out, in)` to `(*, out)`.

    Raises:
        TypeError: `input` and a matrix differ in dtype outside autocast.
        ValueError: the shapes do not fit.

    Source:
        Madsen & Johansen 2020, section 2.8 and appendix C.5. Departures: 1 - g is computed as
        sigma(-G x); a product beyond the largest finite number stops there, so that a shut
        gate gives 0 and not 0 * inf, and the products of its row have a gradient of 0; half
        precision is computed in float32.

    Example:
        >>> ones, shut = torch.ones(1, 2), torch.full((1, 2), -99.0)
        >>> gated_nau_nmu(torch.tensor([3.0, 4.0]), ones, ones, shut)
        tensor([12.])
    """
    check_weight(input, gate_weight, "gate_weight")
    check_floating(input.dtype)
    check_weight(input, nmu_weight, "nmu_weight")
    multiplied = saturating_nmu(input, nmu_weight)
    logit = linear(input, gate_weight)
    return torch.sigmoid(logit) * nau(input, nau_weight) + torch.sigmoid(-logit) * multiplied

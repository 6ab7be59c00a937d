"""Improved neural arithmetic logic unit."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from torchalu.functional._arguments import check_eps, check_weight
from torchalu.functional._log_space import full_precision, saturating_exp
from torchalu.functional.nau import nau
from torchalu.functional.nmu import nmu


@full_precision
def inalu(
    input: Float[Tensor, "*batch in"],
    weight: Float[Tensor, "out in"],
    mul_weight: Float[Tensor, "out in"],
    gate_logit: Float[Tensor, " out"],
    eps: float = 1e-7,
    max_exponent: float = 20.0,
) -> Float[Tensor, "*batch out"]:
    r"""Add, or multiply with the sign kept, as a gate decides that does not see the input.

    .. math:: y = \sigma(G) \odot W x + (1 - \sigma(G)) \odot s \odot
              \exp(\min(W' \log \max(|x|, \epsilon), \omega)), \quad
              s_o = \prod_i (|W'_{oi}| \operatorname{sgn} x_i + 1 - |W'_{oi}|)

    Args:
        input: the numbers to add or to multiply.
        weight: W, the effective weight of the sum.
        mul_weight: W', the powers in the product, from -1 to 1.
        gate_logit: G, one number for each output.
        eps: a magnitude below it counts as this one.
        max_exponent: omega; a product stops at the exponential of it.

    Shape:
        `(*, in)`, `(out, in)`, `(out, in)` and `(out,)` to `(*, out)`.

    Raises:
        TypeError: `input` and a matrix differ in dtype outside autocast.
        ValueError: the shapes do not fit, `eps` is not positive, or `max_exponent` is not.

    Source:
        Schloer et al. 2020, section 3. Departures: 1 - sigma(G) is computed as sigma(-G); a
        product that `max_exponent` does not stop saturates as in :func:`nac_mul`; half
        precision is computed in float32.

    Example:
        >>> input, ones, gate_logit = torch.tensor([3.0, -4.0]), torch.ones(2, 2), [99.0, -99.0]
        >>> inalu(input, ones, ones, torch.tensor(gate_logit)).round(decimals=3)
        tensor([ -1., -12.])
    """
    check_weight(input, mul_weight, "mul_weight")
    check_eps(eps, input.dtype)
    _check_gate_logit(gate_logit, mul_weight)
    if not max_exponent > 0:
        raise ValueError(f"max_exponent is {max_exponent}; give a positive number; 20 is usual")
    exponent = linear(torch.log(input.abs().clamp(min=eps)), mul_weight).clamp(max=max_exponent)
    multiplied = saturating_exp(exponent, nmu(torch.sign(input), mul_weight.abs()))
    return torch.sigmoid(gate_logit) * nau(input, weight) + torch.sigmoid(-gate_logit) * multiplied


def _check_gate_logit(gate_logit: Tensor, weight: Tensor) -> None:
    """Refuse a gate that does not hold one number for each output."""
    if gate_logit.shape != weight.shape[:1]:
        raise ValueError(
            f"gate_logit has shape {tuple(gate_logit.shape)}; give one number for each of the "
            f"{weight.shape[0]} outputs: ({weight.shape[0]},)"
        )

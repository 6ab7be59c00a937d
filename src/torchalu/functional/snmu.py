"""Stochastic neural multiplication unit."""

from jaxtyping import Float
from torch import Tensor

from torchalu.functional._arguments import check_weight
from torchalu.functional._log_space import full_precision


@full_precision
def snmu(
    input: Float[Tensor, "*batch in"],
    weight: Float[Tensor, "out in"],
    noise: Float[Tensor, "*batch in"],
) -> Float[Tensor, "*batch out"]:
    r"""Multiply a subset of the inputs under a noise that whole weights cancel.

    .. math:: z_o = \frac{\prod_i (W_{oi} n_i x_i + 1 - W_{oi})}{\prod_i (W_{oi} n_i + 1 - W_{oi})}
              = \prod_i (V_{oi} x_i + 1 - V_{oi}), \qquad
              V_{oi} = \frac{W_{oi} n_i}{W_{oi} n_i + 1 - W_{oi}}

    It is an NMU whose weights differ from row to row, unless they are 0 or 1; :func:`nmu` gives
    the same for a noise of 1.

    Args:
        input: the numbers to multiply.
        weight: 1 multiplies by an input, 0 leaves it out; from 0 to 1.
        noise: n, positive, one number for each of the input.

    Shape:
        `(*, in)`, `(out, in)` and `(*, in)` to `(*, out)`.

    Raises:
        TypeError: `input` and `weight` differ in dtype outside autocast.
        ValueError: the shapes do not fit.

    Source:
        Mistry et al. 2022, the sNMU. Departures: the quotient is taken factor by factor, since
        either product may overflow where the quotient does not; half precision is computed in
        float32.

    Example:
        >>> import torch
        >>> noise = torch.tensor([4.0, 2.0])
        >>> snmu(torch.tensor([3.0, -4.0]), torch.tensor([[1.0, 1.0], [0.5, 0.0]]), noise)
        tensor([-12.0000,   2.6000])
    """
    check_weight(input, weight)
    if noise.shape != input.shape:
        raise ValueError(
            f"noise has shape {tuple(noise.shape)}; give that of input, {tuple(input.shape)}"
        )
    scaled = weight * noise.unsqueeze(-2)
    share = scaled / (scaled + (1 - weight))
    return (share * input.unsqueeze(-2) + (1 - share)).prod(-1)

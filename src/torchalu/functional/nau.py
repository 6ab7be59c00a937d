"""Neural addition unit."""

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import linear

from torchalu.functional._arguments import check_weight


def nau(
    input: Float[Tensor, "*batch in"], weight: Float[Tensor, "out in"]
) -> Float[Tensor, "*batch out"]:
    r"""Add and subtract inputs.

    .. math:: z_o = \sum_i W_{oi} x_i

    Args:
        input: the numbers to add.
        weight: 1 adds an input, -1 subtracts it, 0 leaves it out; not clamped here.

    Shape:
        `(*, in)` and `(out, in)` to `(*, out)`.

    Raises:
        TypeError: `input` and `weight` differ in dtype outside autocast.
        ValueError: the shapes do not fit.

    Source:
        Madsen & Johansen 2020, section 2.2, equation 7.

    Example:
        >>> import torch
        >>> nau(torch.tensor([5.0, 3.0]), torch.tensor([[1.0, 1.0], [1.0, -1.0]]))
        tensor([8., 2.])
    """
    check_weight(input, weight)
    return linear(input, weight)

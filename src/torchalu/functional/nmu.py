"""Neural multiplication unit."""

import torch
from jaxtyping import Float
from torch import Tensor

from torchalu import kernels
from torchalu.functional._arguments import check_weight
from torchalu.functional._log_space import full_precision


def nmu_definition(
    input: Float[Tensor, "*batch in"], weight: Float[Tensor, "out in"]
) -> Float[Tensor, "*batch out"]:
    r"""Multiply a subset of the inputs, by the equation written out.

    .. math:: z_o = \prod_i (W_{oi} x_i + 1 - W_{oi})

    :func:`nmu` gives the same without the tensor (\*, out, in) that this one makes.

    Args:
        input: the numbers to multiply.
        weight: 1 multiplies by an input, 0 leaves it out.

    Shape:
        `(*, in)` and `(out, in)` to `(*, out)`.

    Source:
        Madsen & Johansen 2020, section 2.5, equation 12.

    Example:
        >>> nmu_definition(torch.tensor([3.0, -4.0]), torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        tensor([-12.,  -4.])
    """
    return (weight * input.unsqueeze(-2) + (1 - weight)).prod(-1)


@full_precision
def nmu(
    input: Float[Tensor, "*batch in"], weight: Float[Tensor, "out in"]
) -> Float[Tensor, "*batch out"]:
    r"""Multiply a subset of the inputs.

    .. math:: z_o = \prod_i (W_{oi} x_i + 1 - W_{oi})

    Signs, zeros and their gradients are exact. An export holds :func:`nmu_definition`, which
    any runtime knows.

    Args:
        input: the numbers to multiply.
        weight: 1 multiplies by an input, 0 leaves it out; not clamped here.

    Shape:
        `(*, in)` and `(out, in)` to `(*, out)`.

    Raises:
        TypeError: `input` and `weight` differ in dtype outside autocast.
        ValueError: the shapes do not fit.

    Source:
        Madsen & Johansen 2020, section 2.5, equation 12. Departure: half precision is computed
        in float32.

    Example:
        >>> nmu(torch.tensor([3.0, -4.0]), torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        tensor([-12.,  -4.])
    """
    check_weight(input, weight)
    if not input.is_floating_point() or _wants_definition():
        return nmu_definition(input, weight)
    return kernels.nmu(input, weight)


def _wants_definition() -> bool:
    """Whether the operator would not survive what is done to the function.

    A runtime for exported models does not know the operator, and the compiler cannot
    differentiate one that `torch.func` transforms.
    """
    if torch.compiler.is_exporting():
        return True
    return torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active()

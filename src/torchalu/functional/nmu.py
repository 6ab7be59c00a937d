"""Neural multiplication unit."""

from jaxtyping import Float
from torch import Tensor

from torchalu import kernels
from torchalu.functional._arguments import check_weight
from torchalu.functional._log_space import full_precision
from torchalu.kernels.tracing import wants_torch_operations


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
        >>> import torch
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
        >>> import torch
        >>> nmu(torch.tensor([3.0, -4.0]), torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
        tensor([-12.,  -4.])
    """
    check_weight(input, weight)
    if not input.is_floating_point() or wants_torch_operations(forward=0):
        return nmu_definition(input, weight)
    return kernels.nmu(input, weight)

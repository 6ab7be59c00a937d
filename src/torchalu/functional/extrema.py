"""The largest and the smallest of each group."""

from jaxtyping import Float
from torch import Tensor

from torchalu.functional._groups import Layout, reduce_groups


def max_out(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
) -> Float[Tensor, "..."]:
    r"""Largest feature of each group.

    .. math:: f(z) = \max_i z_i

    Features that tie share the slope evenly.

    Args:
        input: features along `dim`. Half precision is computed in float32.
        k: operands of each maximum.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.

    Shape:
        C features along `dim` to C / k.

    Raises:
        TypeError: `input` is no tensor, or holds integers; `k` or `dim` is no integer.
        ValueError: `k` is less than 2; `input` has no such dimension; the number of features is
            not a multiple of k; there is no such layout.

    Source:
        Goodfellow et al. 2013, as Lowe et al. 2022, section 4, take it for a baseline.

    Example:
        >>> import torch
        >>> max_out(torch.tensor([[-1.0, -2.0, 3.0, -4.0]]))
        tensor([[-1.,  3.]])
    """
    return reduce_groups(input, ("max_out",), k=k, dim=dim, layout=layout)


def min_out(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
) -> Float[Tensor, "..."]:
    r"""Smallest feature of each group.

    .. math:: f(z) = \min_i z_i

    Features that tie share the slope evenly.

    Args:
        input: features along `dim`. Half precision is computed in float32.
        k: operands of each minimum.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.

    Shape:
        C features along `dim` to C / k.

    Raises:
        TypeError: `input` is no tensor, or holds integers; `k` or `dim` is no integer.
        ValueError: `k` is less than 2; `input` has no such dimension; the number of features is
            not a multiple of k; there is no such layout.

    Source:
        Lowe et al. 2022, section 4, beside :func:`max_out` in the ensemble {Max, Min (d)}.

    Example:
        >>> import torch
        >>> min_out(torch.tensor([[-1.0, -2.0, 3.0, -4.0]]))
        tensor([[-2., -4.]])
    """
    return reduce_groups(input, ("min_out",), k=k, dim=dim, layout=layout)

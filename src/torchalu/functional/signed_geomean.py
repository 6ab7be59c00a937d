"""Geometric mean with the sign of the product."""

from jaxtyping import Float
from torch import Tensor

from torchalu.functional._groups import Layout, reduce_groups


def signed_geomean(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
) -> Float[Tensor, "..."]:
    r"""Geometric mean of each group's magnitudes, with the sign of their product.

    .. math:: f(z) = \operatorname{sgn}\Bigl(\prod_i z_i\Bigr) \Bigl|\prod_i z_i\Bigr|^{1/k}

    The product is never formed, so that it neither overflows nor vanishes. The derivative
    :math:`f(z) / (k z_i)` grows without bound towards :math:`z_i = 0`; at 0 itself it is given
    as 0.

    Args:
        input: features along `dim`. Half precision is computed in float32.
        k: operands of each mean.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.

    Shape:
        C features along `dim` to C / k.

    Raises:
        TypeError: `input` is no tensor, or holds integers; `k` or `dim` is no integer.
        ValueError: `k` is less than 2; `input` has no such dimension; the number of features is
            not a multiple of k; there is no such layout.

    Source:
        Lowe et al. 2022, section 3.3, equation 7. Departures: any number of features, with the
        k-th root, where the authors' program takes the square root.

    Example:
        >>> import torch
        >>> signed_geomean(torch.tensor([[-1.0, -4.0, 3.0, -12.0]]))
        tensor([[ 2., -6.]])
    """
    return reduce_groups(input, ("signed_geomean",), k=k, dim=dim, layout=layout)

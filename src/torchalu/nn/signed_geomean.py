"""Geometric mean with the sign of the product."""

from jaxtyping import Float
from torch import Tensor

from torchalu import functional
from torchalu.nn.group_activation import GroupActivation


class SignedGeomean(GroupActivation):
    r"""Geometric mean of each group's magnitudes, with the sign of their product.

    .. math:: f(z) = \operatorname{sgn}\Bigl(\prod_i z_i\Bigr) \Bigl|\prod_i z_i\Bigr|^{1/k}

    A rougher XNOR than :class:`XNORAIL`. Its gradient grows without bound towards 0.

    Args:
        k: features in a group.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.

    Shape:
        C features along `dim` to C / k.

    Units:
        That of the input.

    Raises:
        TypeError: `k` or `dim` is no integer; in `forward`, the input is no tensor, or holds
            integers.
        ValueError: `k` is less than 2; there is no such layout; in `forward`, the number of
            features is not a multiple of k.

    Source:
        Lowe et al. 2022, section 3.3, equation 7. Departures:
        see :func:`torchalu.functional.signed_geomean`.

    Example:
        >>> import torch
        >>> SignedGeomean()(torch.tensor([[-1.0, -4.0, 3.0, -12.0]]))
        tensor([[ 2., -6.]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Signed geometric mean of each group."""
        return functional.signed_geomean(input, k=self.k, dim=self.dim, layout=self.layout)

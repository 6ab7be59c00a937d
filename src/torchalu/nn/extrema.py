"""The largest or the smallest of each group."""

from jaxtyping import Float
from torch import Tensor

from torchalu import functional
from torchalu.nn.group_activation import GroupActivation


class MaxOut(GroupActivation):
    r"""The largest feature of each group.

    .. math:: f(z) = \max_i z_i

    An OR that takes the most likely event for all of them.

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
        Goodfellow et al. 2013, as Lowe et al. 2022, section 4, take it for a baseline.

    Example:
        >>> import torch
        >>> MaxOut()(torch.tensor([[-1.0, -2.0, 3.0, -4.0]]))
        tensor([[-1.,  3.]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Maximum of each group."""
        return functional.max_out(input, k=self.k, dim=self.dim, layout=self.layout)


class MinOut(GroupActivation):
    r"""The smallest feature of each group.

    .. math:: f(z) = \min_i z_i

    An AND that takes the least likely event for all of them.

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
        Lowe et al. 2022, section 4, beside :class:`MaxOut` in the ensemble {Max, Min (d)}.

    Example:
        >>> import torch
        >>> MinOut()(torch.tensor([[-1.0, -2.0, 3.0, -4.0]]))
        tensor([[-2., -4.]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Minimum of each group."""
        return functional.min_out(input, k=self.k, dim=self.dim, layout=self.layout)

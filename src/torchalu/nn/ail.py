"""The logic operators approximated by comparisons and sums."""

from jaxtyping import Float
from torch import Tensor

from torchalu import functional
from torchalu.nn.group_activation import LogicOperator


class ANDAIL(LogicOperator):
    r"""AND of logits, approximately.

    .. math:: f(z) = \sum_i \min(z_i, 0) + \max(\min_i z_i, 0)

    True where all operands are true: the sum of the negative operands, or, where there are none,
    the smallest operand.

    Args:
        k: operands of each AND.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: subtract the mean and divide by the standard deviation of the output on
            standard normal input; the paper's NAIL.

    Shape:
        C features along `dim` to C / k.

    Units:
        Logits to a logit.

    Raises:
        TypeError: `k` or `dim` is no integer; `normalized` is no bool; in `forward`, the input is
            no tensor, or holds integers.
        ValueError: `k` is less than 2; there is no such layout; in `forward`, the number of
            features is not a multiple of k.

    Source:
        Lowe et al. 2022, section 3.1, equation 2; section 3.6 for the normalized form.
        Departures, for k > 2: see :func:`torchalu.functional.and_ail`.

    Example:
        >>> import torch
        >>> ANDAIL()(torch.tensor([[-1.0, -2.0, 3.0, -4.0, 5.0, 6.0]]))
        tensor([[-3., -4.,  5.]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """AND of each group."""
        return functional.and_ail(
            input, k=self.k, dim=self.dim, layout=self.layout, normalized=self.normalized
        )


class ORAIL(LogicOperator):
    r"""OR of logits, approximately.

    .. math:: f(z) = \sum_i \max(z_i, 0) + \min(\max_i z_i, 0)

    True where any operand is true: the sum of the positive operands, or, where there are none,
    the largest operand. With k = 2 and one operand 0 it is the ReLU of the other.

    Args:
        k: operands of each OR.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: subtract the mean and divide by the standard deviation of the output on
            standard normal input; the paper's NAIL.

    Shape:
        C features along `dim` to C / k.

    Units:
        Logits to a logit.

    Raises:
        TypeError: `k` or `dim` is no integer; `normalized` is no bool; in `forward`, the input is
            no tensor, or holds integers.
        ValueError: `k` is less than 2; there is no such layout; in `forward`, the number of
            features is not a multiple of k.

    Source:
        Lowe et al. 2022, section 3.2, equation 4; section 3.6 for the normalized form.
        Departures, for k > 2: see :func:`torchalu.functional.or_ail`.

    Example:
        >>> import torch
        >>> ORAIL()(torch.tensor([[-1.0, -2.0, 3.0, -4.0, 5.0, 6.0]]))
        tensor([[-1.,  3., 11.]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """OR of each group."""
        return functional.or_ail(
            input, k=self.k, dim=self.dim, layout=self.layout, normalized=self.normalized
        )


class XNORAIL(LogicOperator):
    r"""XNOR of logits, approximately.

    .. math:: f(z) = \prod_i \operatorname{sgn}(z_i) \cdot \min_i |z_i|

    True where an even number of operands is false: with k = 2, where both are alike. The operand
    that is most likely to flip decides how sure the answer is.

    Args:
        k: operands of each XNOR.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: divide by the standard deviation of the output on standard normal input; the
            paper's NAIL.

    Shape:
        C features along `dim` to C / k.

    Units:
        Logits to a logit.

    Raises:
        TypeError: `k` or `dim` is no integer; `normalized` is no bool; in `forward`, the input is
            no tensor, or holds integers.
        ValueError: `k` is less than 2; there is no such layout; in `forward`, the number of
            features is not a multiple of k.

    Source:
        Lowe et al. 2022, section 3.3, equation 6; section 3.6 for the normalized form.
        Departures, for k > 2 and for operands of 0: see :func:`torchalu.functional.xnor_ail`.

    Example:
        >>> import torch
        >>> XNORAIL()(torch.tensor([[-1.0, -2.0, 3.0, -4.0, 5.0, 6.0]]))
        tensor([[ 1., -3.,  5.]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """XNOR of each group."""
        return functional.xnor_ail(
            input, k=self.k, dim=self.dim, layout=self.layout, normalized=self.normalized
        )

"""The logic operators on logits, approximated by comparisons and sums."""

from jaxtyping import Float
from torch import Tensor

from torchalu.functional._groups import Layout, reduce_groups


def and_ail(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
    normalized: bool = False,
) -> Float[Tensor, "..."]:
    r"""AND of logits, approximately, by comparisons and sums.

    .. math:: f(z) = \sum_i \min(z_i, 0) + \max(\min_i z_i, 0)

    The sum of the negative operands or, where there are none, the smallest operand: with k = 2,
    :math:`\min(a, b, a + b)`. A negative operand has the slope 1 and, beside one, an operand of 0
    has the slope 0. Without negative operands, those that tie for the smallest share its slope
    evenly: two zeros have 1/2 each.

    Args:
        input: logits along `dim`. Half precision is computed in float32.
        k: operands of each AND.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: subtract the mean and divide by the standard deviation that the output has
            on standard normal input; see :func:`logic_moments`.

    Shape:
        C features along `dim` to C / k.

    Raises:
        TypeError: `input` is no tensor, or holds integers; `k` or `dim` is no integer;
            `normalized` is no bool.
        ValueError: `k` is less than 2; `input` has no such dimension; the number of features is
            not a multiple of k; there is no such layout.

    Source:
        Lowe et al. 2022, section 3.1, equation 2. Departures: for k > 2 the paper has no
        equation; this one is that of the authors' program, nearer to :func:`logit_and` than
        adding up only where all operands are negative. Slopes at ties are shared; the program
        gives all to the first.

    Example:
        >>> import torch
        >>> z = torch.tensor([[-1.0, -2.0, 3.0, -4.0, 5.0, 6.0]])
        >>> and_ail(z)
        tensor([[-3., -4.,  5.]])
        >>> and_ail(z, k=3)
        tensor([[-3., -4.]])
    """
    return reduce_groups(input, ("and_ail",), k=k, dim=dim, layout=layout, normalized=normalized)


def or_ail(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
    normalized: bool = False,
) -> Float[Tensor, "..."]:
    r"""OR of logits, approximately, by comparisons and sums.

    .. math:: f(z) = \sum_i \max(z_i, 0) + \min(\max_i z_i, 0)

    The sum of the positive operands or, where there are none, the largest operand: with k = 2,
    :math:`\max(a, b, a + b)`, and the ReLU of one where the other is 0. By De Morgan's law it is
    :math:`-\operatorname{AND}(-z)`, with the slopes of :func:`and_ail`.

    Args:
        input: logits along `dim`. Half precision is computed in float32.
        k: operands of each OR.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: subtract the mean and divide by the standard deviation that the output has
            on standard normal input; see :func:`logic_moments`.

    Shape:
        C features along `dim` to C / k.

    Raises:
        TypeError: `input` is no tensor, or holds integers; `k` or `dim` is no integer;
            `normalized` is no bool.
        ValueError: `k` is less than 2; `input` has no such dimension; the number of features is
            not a multiple of k; there is no such layout.

    Source:
        Lowe et al. 2022, section 3.2, equation 4. Departures: as for :func:`and_ail`.

    Example:
        >>> import torch
        >>> z = torch.tensor([[-1.0, -2.0, 3.0, -4.0, 5.0, 6.0]])
        >>> or_ail(z)
        tensor([[-1.,  3., 11.]])
        >>> or_ail(z, layout="halves")
        tensor([[-1.,  5.,  9.]])
    """
    return reduce_groups(input, ("or_ail",), k=k, dim=dim, layout=layout, normalized=normalized)


def xnor_ail(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
    normalized: bool = False,
) -> Float[Tensor, "..."]:
    r"""XNOR of logits, approximately, by comparisons.

    .. math:: f(z) = \prod_i \operatorname{sgn}(z_i) \cdot \min_i |z_i|

    The smallest magnitude, negative where an odd number of operands is: the chain
    XNOR(XNOR(a, b), c), in any order. The slope belongs to the operand of that magnitude, and
    those that tie share it evenly. An operand of 0 counts as positive: beside others that are not
    0, its derivative is the product of their signs, as it is on either side of 0, and no unit
    that starts at 0 stays there.

    Args:
        input: logits along `dim`. Half precision is computed in float32.
        k: operands of each XNOR.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: subtract the mean and divide by the standard deviation that the output has
            on standard normal input; see :func:`logic_moments`.

    Shape:
        C features along `dim` to C / k.

    Raises:
        TypeError: `input` is no tensor, or holds integers; `k` or `dim` is no integer;
            `normalized` is no bool.
        ValueError: `k` is less than 2; `input` has no such dimension; the number of features is
            not a multiple of k; there is no such layout.

    Source:
        Lowe et al. 2022, section 3.3, equation 6. Departures: any number of operands. The
        authors' program counts the events that do happen, which for odd k is -f; it has no
        gradient where an operand is 0, and gives that of a tie to the first.

    Example:
        >>> import torch
        >>> z = torch.tensor([[-1.0, -2.0, 3.0, -4.0, 5.0, 6.0]])
        >>> xnor_ail(z)
        tensor([[ 1., -3.,  5.]])
        >>> xnor_ail(z, k=3)
        tensor([[ 1., -4.]])
    """
    return reduce_groups(input, ("xnor_ail",), k=k, dim=dim, layout=layout, normalized=normalized)

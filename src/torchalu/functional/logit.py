"""The logic operators on logits of independent events, exactly."""

from jaxtyping import Float
from torch import Tensor

from torchalu.functional._groups import Layout, reduce_groups


def logit_and(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
    normalized: bool = False,
) -> Float[Tensor, "..."]:
    r"""AND of logits, exact for independent events.

    .. math:: f(z) = \operatorname{logit} \prod_i \sigma(z_i)

    The logit of the probability that all events happen. With two operands it is
    :math:`-\log(e^{-a} + e^{-b} + e^{-a-b})`, a sum in which nothing cancels.

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
        Lowe et al. 2022, section 3.1, equation 1. Departures: any number of operands. The
        authors' program takes the logarithm of a probability that it keeps 1e-7 away from 0 and
        1, so that it saturates at 16.118 and has no gradient there; here value and gradient are
        right to the last digits however large the logits are.

    Example:
        >>> import torch
        >>> logit_and(torch.tensor([[0.0, 0.0, 20.0, 20.0, -1e4, 3.0]]))
        tensor([[-1.0986e+00,  1.9307e+01, -1.0000e+04]])
    """
    return reduce_groups(input, ("logit_and",), k=k, dim=dim, layout=layout, normalized=normalized)


def logit_or(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
    normalized: bool = False,
) -> Float[Tensor, "..."]:
    r"""OR of logits, exact for independent events.

    .. math:: f(z) = \operatorname{logit} \Bigl( 1 - \prod_i \sigma(-z_i) \Bigr)

    The logit of the probability that at least one event happens: by De Morgan's law
    :math:`-\operatorname{AND}(-z)`.

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
        Lowe et al. 2022, section 3.2, equation 3. Departures: as for :func:`logit_and`.

    Example:
        >>> import torch
        >>> logit_or(torch.tensor([[0.0, 0.0, -20.0, -20.0, 1e4, -3.0]]))
        tensor([[ 1.0986e+00, -1.9307e+01,  1.0000e+04]])
    """
    return reduce_groups(input, ("logit_or",), k=k, dim=dim, layout=layout, normalized=normalized)


def logit_xnor(
    input: Float[Tensor, "..."],
    *,
    k: int = 2,
    dim: int = 1,
    layout: Layout = "pairs",
    normalized: bool = False,
) -> Float[Tensor, "..."]:
    r"""XNOR of logits, exact for independent events.

    .. math:: f(z) = 2 \operatorname{artanh} \prod_i \tanh(z_i / 2)

    The logit of the probability that an even number of events does not happen: with k = 2,
    that both happen or neither does. It is the chain XNOR(XNOR(a, b), c), in any order. At an
    operand of 0 it is 0, and its derivative by that operand is the product of the other tanh.

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
        Lowe et al. 2022, section 3.3, equation 5. Departures: any number of operands. The
        authors' program counts the events that do happen, which for odd k is -f; and it
        saturates as their AND does.

    Example:
        >>> import torch
        >>> logit_xnor(torch.tensor([[1.0, 1.0, 100.0, -100.0, 1e-10, 1e-10]]))
        tensor([[ 4.3378e-01, -9.9307e+01,  5.0000e-21]])
    """
    return reduce_groups(input, ("logit_xnor",), k=k, dim=dim, layout=layout, normalized=normalized)

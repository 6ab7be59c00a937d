"""The logic operators as probability theory has them, for independent events."""

from jaxtyping import Float
from torch import Tensor

from torchalu import functional
from torchalu.nn.group_activation import LogicOperator


class ANDIL(LogicOperator):
    r"""AND of logits, exact for independent events.

    .. math:: f(z) = \operatorname{logit} \prod_i \sigma(z_i)

    The logit of the probability that all events happen.

    Args:
        k: operands of each AND.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: subtract the mean and divide by the standard deviation of the output on
            standard normal input; the paper's NIL.

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
        Lowe et al. 2022, section 3.1, equation 1; section 3.6 for the normalized form.
        Departures: see :func:`torchalu.functional.logit_and`.

    Example:
        >>> import torch
        >>> ANDIL()(torch.tensor([[0.0, 0.0, 20.0, 20.0]]))
        tensor([[-1.0986, 19.3069]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """AND of each group."""
        return functional.logit_and(
            input, k=self.k, dim=self.dim, layout=self.layout, normalized=self.normalized
        )


class ORIL(LogicOperator):
    r"""OR of logits, exact for independent events.

    .. math:: f(z) = \operatorname{logit} \left( 1 - \prod_i \sigma(-z_i) \right)

    The logit of the probability that at least one event happens.

    Args:
        k: operands of each OR.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: subtract the mean and divide by the standard deviation of the output on
            standard normal input; the paper's NIL.

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
        Lowe et al. 2022, section 3.2, equation 3; section 3.6 for the normalized form.
        Departures: see :func:`torchalu.functional.logit_or`.

    Example:
        >>> import torch
        >>> ORIL()(torch.tensor([[0.0, 0.0, -20.0, -20.0]]))
        tensor([[  1.0986, -19.3069]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """OR of each group."""
        return functional.logit_or(
            input, k=self.k, dim=self.dim, layout=self.layout, normalized=self.normalized
        )


class XNORIL(LogicOperator):
    r"""XNOR of logits, exact for independent events.

    .. math:: f(z) = 2 \operatorname{artanh} \prod_i \tanh(z_i / 2)

    The logit of the probability that an even number of events does not happen: with k = 2, that
    both happen or neither does.

    Args:
        k: operands of each XNOR.
        dim: the dimension that holds the features.
        layout: `"pairs"` takes k adjacent features, `"halves"` one from each of k blocks.
        normalized: divide by the standard deviation of the output on standard normal input; the
            paper's NIL.

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
        Lowe et al. 2022, section 3.3, equation 5; section 3.6 for the normalized form.
        Departures: see :func:`torchalu.functional.logit_xnor`.

    Example:
        >>> import torch
        >>> XNORIL()(torch.tensor([[1.0, -1.0, 20.0, 20.0]]))
        tensor([[-0.4338, 19.3069]])
    """

    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """XNOR of each group."""
        return functional.logit_xnor(
            input, k=self.k, dim=self.dim, layout=self.layout, normalized=self.normalized
        )

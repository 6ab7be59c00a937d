"""Neural accumulator."""

import math

import scipy
import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.nn.unit import Factory, Unit, round_

SATURATED = 1000.0
"""Where tanh and the sigmoid are exactly -1, 0 or 1 in every dtype."""


class NAC(Unit):
    r"""Neural accumulator: adds and subtracts inputs.

    .. math:: a = W x, \qquad W = \tanh(\hat W) \, \sigma(\hat M)

    The weights lie between -1 and 1, and lean towards -1, 0 and 1 without a penalty.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        generator: where the initial parameters come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        All inputs that an output adds carry one unit of measure, and the output carries it.

    Initialization:
        Both parameters from U(-r, r), where r gives W the variance 2 / fan,
        fan = max(in_features + out_features, 5).

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive; in `forward`, the last dimension of the input is
            not `in_features`.

    Source:
        Trask et al. 2018, section 2; initialization: Madsen & Johansen 2020, appendix B.2,
        where a fan below 5, for which no r exists, counts as 5, as in the authors' program.

    Example:
        >>> unit = NAC(2, 1)
        >>> _ = unit.load_state_dict(
        ...     {"w_hat": torch.tensor([[2.0, -2.0]]), "m_hat": torch.tensor([[3.0, 3.0]])}
        ... )
        >>> unit.snap_()
        >>> unit(torch.tensor([5.0, 3.0])).tolist()
        [2.0]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features)
        factory = Factory(device, dtype)
        self.w_hat = factory.parameter(out_features, in_features)
        self.m_hat = factory.parameter(out_features, in_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the parameters anew; see *Initialization*."""
        start_nac_(self.w_hat, generator)
        start_nac_(self.m_hat, generator)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """tanh(w_hat) * sigmoid(m_hat)."""
        return functional.nac_weight(self.w_hat, self.m_hat)

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Add and subtract."""
        return functional.nac(input, self.w_hat, self.m_hat)

    def snap_(self) -> None:
        """Saturate the parameters so that each weight is the nearest of -1, 0 and 1."""
        snap_nac_(self.w_hat, self.m_hat)


def start_nac_(parameter: nn.Parameter, generator: torch.Generator | None) -> None:
    """Fill with U(-r, r), r such that tanh(w_hat) * sigmoid(m_hat) has the variance 2 / fan."""
    fan = max(sum(parameter.shape), 5)

    def excess(bound: float) -> float:
        tanh_square = 1 - math.tanh(bound) / bound
        sigmoid_square = (bound - math.tanh(bound / 2)) / (2 * bound)
        return tanh_square * sigmoid_square - 2 / fan

    bound = scipy.optimize.root_scalar(excess, bracket=(1e-3, 1e3)).root
    nn.init.uniform_(parameter, -bound, bound, generator=generator)


@torch.no_grad()
def snap_nac_(w_hat: nn.Parameter, m_hat: nn.Parameter) -> None:
    """Saturate a pair of parameters, so that their weight is the nearest of -1, 0 and 1."""
    w_hat.copy_(functional.nac_weight(w_hat, m_hat))
    round_(w_hat, -1, 1)
    w_hat.mul_(SATURATED)
    m_hat.fill_(SATURATED)

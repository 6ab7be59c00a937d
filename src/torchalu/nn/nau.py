"""Neural addition unit."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.nn.unit import Clamp, Factory, Unit, check_clamp, round_, sparsity


class NAU(Unit):
    r"""Neural addition unit: adds and subtracts inputs.

    .. math:: z_o = \sum_i W_{oi} x_i, \qquad W \in [-1, 1]

    It is a linear layer without bias whose weights are kept in [-1, 1] and drawn to -1, 0, 1.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        clamp: keep the weights in [-1, 1]. "forward": clamp them where they are used alone, as the
            authors' program does in the paper's ablation; False: nowhere.
        generator: where the initial weights come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        All inputs that an output adds carry one unit of measure, and the output carries it.

    Initialization:
        W from U(-r, r), r = min(1/2, sqrt(6 / (in_features + out_features))).

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive, or `clamp` is something else; in `forward`, the last
            dimension of the input is not `in_features`.

    Source:
        Madsen & Johansen 2020, section 2.2, equations 5 to 7. Departure: in the forward pass
        the weights are clamped as well, as in the authors' program.

    Example:
        >>> unit = NAU(2, 1)
        >>> _ = unit.load_state_dict({"weight": torch.tensor([[0.9, -0.8]])})
        >>> unit.snap_()
        >>> unit(torch.tensor([5.0, 3.0])).tolist()
        [2.0]
    """

    bounds = (-1.0, 1.0)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        clamp: Clamp = True,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features)
        self.clamp: Clamp = check_clamp(clamp)
        self.weight = Factory(device, dtype).parameter(out_features, in_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew; see *Initialization*."""
        start_nau_(self.weight, generator)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The weights, clamped to [-1, 1]."""
        return self.weight.clamp(*self.bounds) if self.clamp else self.weight

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Add and subtract."""
        return functional.nau(input, self.effective_weight())

    @torch.no_grad()
    def constrain_(self) -> None:
        """Clamp the weights to [-1, 1]."""
        if self.clamp is True:
            self.weight.clamp_(*self.bounds)

    def penalty(self) -> Float[Tensor, ""]:
        """Mean distance of the weights from -1, 0 or 1."""
        return sparsity(self.weight if self.clamp == "forward" else self.effective_weight())

    def snap_(self) -> None:
        """Move each weight to the nearest of -1, 0 and 1."""
        round_(self.weight, *self.bounds)


def start_nau_(weight: nn.Parameter, generator: torch.Generator | None) -> None:
    """Fill with U(-r, r), r = min(1/2, Glorot's bound)."""
    bound = min(0.5, math.sqrt(6 / sum(weight.shape)))
    nn.init.uniform_(weight, -bound, bound, generator=generator)

"""Neural multiplication unit."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.nn.unit import Clamp, Factory, Unit, check_clamp, round_, sparsity


class NMU(Unit):
    r"""Neural multiplication unit: multiplies a subset of the inputs.

    .. math:: z_o = \prod_i (W_{oi} x_i + 1 - W_{oi}), \qquad W \in [0, 1]

    A weight of 1 multiplies by its input, a weight of 0 by 1; signs and zeros are exact.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        clamp: keep the weights in [0, 1]. "forward": clamp them where they are used alone, as the
            authors' program does in the paper's ablation; False: nowhere.
        generator: where the initial weights come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The product runs in float32 at least.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        An output carries the product of the units of measure of the inputs it multiplies.

    Initialization:
        W from U(1/4, 3/4).

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive, or `clamp` is something else; in `forward`, the last
            dimension of the input is not `in_features`.

    Source:
        Madsen & Johansen 2020, section 2.5, equations 10 to 12. Departures: section 2.6 asks
        for a variance of 1/4 at the start, which no uniform distribution on [0, 1] has, and
        the authors' program takes 1/48, as here; in the forward pass the weights are clamped
        as well, as in the program.

    Example:
        >>> unit = NMU(3, 1)
        >>> _ = unit.load_state_dict({"weight": torch.tensor([[0.9, 0.2, 0.8]])})
        >>> unit.snap_()
        >>> unit(torch.tensor([5.0, 7.0, -3.0])).tolist()
        [-15.0]
    """

    identity = 1.0
    bounds = (0.0, 1.0)

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
        start_nmu_(self.weight, generator)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The weights, clamped to [0, 1]."""
        return self.weight.clamp(*self.bounds) if self.clamp else self.weight

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply."""
        return functional.nmu(input, self.effective_weight())

    @torch.no_grad()
    def constrain_(self) -> None:
        """Clamp the weights to [0, 1]."""
        if self.clamp is True:
            self.weight.clamp_(*self.bounds)

    def penalty(self) -> Float[Tensor, ""]:
        """Mean distance of the weights from 0 or 1."""
        return sparsity(self.weight if self.clamp == "forward" else self.effective_weight())

    def snap_(self) -> None:
        """Move each weight to the nearer of 0 and 1."""
        round_(self.weight, *self.bounds)


def start_nmu_(weight: nn.Parameter, generator: torch.Generator | None) -> None:
    """Fill with U(1/4, 3/4)."""
    nn.init.uniform_(weight, 0.25, 0.75, generator=generator)

"""Neural multiplicative reciprocal unit."""

import torch
from jaxtyping import Float
from torch import Tensor

from torchalu import functional
from torchalu.arguments import check_positive
from torchalu.nn.nmu import start_nmu_
from torchalu.nn.unit import Factory, Unit, round_, sparsity


class NMRU(Unit):
    r"""Neural multiplicative reciprocal unit: multiplies by some inputs and divides by others.

    .. math:: z_o = \cos\Bigl(\pi \sum_i (W_{oi} + R_{oi}) [x_i < 0]\Bigr) \prod_i
              \bigl(W_{oi} |x_i| + 1 - W_{oi}\bigr)
              \Bigl(\frac{R_{oi}}{|x_i| + \epsilon} + 1 - R_{oi}\Bigr), \qquad
              W, R \in [0, 1]

    It is an NMU over the inputs' magnitudes and their reciprocals; the cosine has the sign.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        eps: keeps the reciprocal of 0 finite.
        generator: where the initial weights come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The unit runs in float32 at least.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        An output carries the product of the units of measure of the inputs it multiplies by,
        over those of the inputs it divides by.

    Initialization:
        W and R from U(1/4, 3/4).

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive; in `forward`, the last dimension of the input is
            not `in_features`, or `eps` is not positive.

    Source:
        Mistry et al. 2022, the NMRU. Departures: eps is there in evaluation mode too, where the
        authors' program drops it; in the forward pass the weights are clamped as well; those of
        :func:`torchalu.functional.nmru`.

    Example:
        >>> unit = NMRU(2, 1, dtype=torch.float64)
        >>> state = {"weight": [[0.9, 0.2]], "reciprocal_weight": [[0.1, 0.8]]}
        >>> _ = unit.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
        >>> unit.snap_()
        >>> round(unit(torch.tensor([6.0, -3.0], dtype=torch.float64)).item(), 6)
        -2.0
    """

    identity = 1.0

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        eps: float = 1e-7,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features)
        check_positive(eps=eps)
        self.eps = eps
        factory = Factory(device, dtype)
        self.weight = factory.parameter(out_features, in_features)
        self.reciprocal_weight = factory.parameter(out_features, in_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew; see *Initialization*."""
        start_nmu_(self.weight, generator)
        start_nmu_(self.reciprocal_weight, generator)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The weights of the inputs, clamped to [0, 1]."""
        return self.weight.clamp(0, 1)

    def effective_reciprocal_weight(self) -> Float[Tensor, "out in"]:
        """The weights of the reciprocals, clamped to [0, 1]."""
        return self.reciprocal_weight.clamp(0, 1)

    def input_use(self) -> Float[Tensor, "out in"]:
        """The larger of an input's two weights: a divisor is used as much as a factor."""
        return torch.maximum(self.effective_weight(), self.effective_reciprocal_weight())

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply and divide."""
        weights = self.effective_weight(), self.effective_reciprocal_weight()
        return functional.nmru(input, *weights, self.eps)

    @torch.no_grad()
    def constrain_(self) -> None:
        """Clamp the weights to [0, 1]."""
        self.weight.clamp_(0, 1)
        self.reciprocal_weight.clamp_(0, 1)

    def penalty(self) -> Float[Tensor, ""]:
        """Mean distance of the weights from 0 or 1, over both matrices."""
        weights = self.effective_weight(), self.effective_reciprocal_weight()
        return sparsity(torch.cat(weights, -1))

    def snap_(self) -> None:
        """Move each weight to the nearer of 0 and 1."""
        round_(self.weight, 0, 1)
        round_(self.reciprocal_weight, 0, 1)

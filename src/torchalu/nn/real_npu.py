"""Real neural power unit."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.arguments import check_positive
from torchalu.nn.nau import start_nau_
from torchalu.nn.unit import Factory, Unit, round_, sparsity


class RealNPU(Unit):
    r"""Real neural power unit: multiplies powers of the inputs, the sign included.

    .. math:: y = \exp(W \log r) \cos(\pi W k), \quad
              r = g (|x| + \epsilon) + 1 - g, \quad k = g \, [x < 0]

    A weight is the power of its input: 2 squares, -1 divides, 1/2 takes the root.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        modified: the form of Mistry et al.: weights clamped to [-1, 1] that start as a NAU's, and a
            penalty that draws them to -1 and 1 and the gate to 0 and 1.
        eps: keeps the logarithm of 0 finite.
        generator: where the initial weights come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The logarithms run in float32 at least.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        An output carries the product of the inputs' units of measure, each to the power of
        its weight.

    Initialization:
        W Xavier uniform, modified as in a NAU; the gate g 1/2.

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive; in `forward`, the last dimension of the input is
            not `in_features`, or `eps` is not positive.

    Source:
        Heim et al. 2020, the RealNPU; the modified form: Mistry et al. 2022. Departures: those of
        :func:`torchalu.functional.real_npu`; modified weights are clamped in the forward pass as
        well.

    Example:
        >>> unit = RealNPU(2, 1, dtype=torch.float64)
        >>> _ = unit.load_state_dict(
        ...     {"weight": torch.tensor([[1.1, -0.9]]), "gate": torch.tensor([0.9, 0.8])}
        ... )
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
        modified: bool = False,
        eps: float = 1e-7,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features)
        self.modified = modified
        check_positive(eps=eps)
        self.eps = eps
        factory = Factory(device, dtype)
        self.weight = factory.parameter(out_features, in_features)
        self.gate = factory.parameter(in_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew; see *Initialization*."""
        if self.modified:
            start_nau_(self.weight, generator)
        else:
            nn.init.xavier_uniform_(self.weight, generator=generator)
        nn.init.constant_(self.gate, 0.5)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The powers of the inputs, modified clamped to [-1, 1]."""
        return self.weight.clamp(-1, 1) if self.modified else self.weight

    def input_use(self) -> Float[Tensor, "out in"]:
        """The magnitude of the powers, times the gate, which shuts an input out of all outputs."""
        return self.gate.clamp(0, 1) * self.effective_weight().abs()

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply powers."""
        return functional.real_npu(input, self.effective_weight(), self.gate, self.eps)

    @torch.no_grad()
    def constrain_(self) -> None:
        """Clamp the gate to [0, 1], and modified weights to [-1, 1]."""
        self.gate.clamp_(0, 1)
        if self.modified:
            self.weight.clamp_(-1, 1)

    def penalty(self) -> Float[Tensor, ""]:
        """Mean magnitude of the powers.

        Modified: mean distance of the powers from -1 or 1, plus that of the gate from 0 or 1.
        """
        if not self.modified:
            return self.weight.abs().mean()
        return (1 - self.effective_weight().abs()).mean() + sparsity(self.gate.clamp(0, 1))

    def snap_(self) -> None:
        """Move the gate to 0 or 1, each power to the nearest multiple of 1/2.

        Modified powers move to the nearest of -1, 0 and 1.
        """
        if self.modified:
            round_(self.weight, -1, 1)
        else:
            snap_half_(self.weight)
        round_(self.gate, 0, 1)

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"{super().extra_repr()}, modified={self.modified!r}"


@torch.no_grad()
def snap_half_(weight: nn.Parameter) -> None:
    """Move each weight to the nearest multiple of 1/2."""
    weight.mul_(2)
    round_(weight, -math.inf, math.inf)
    weight.div_(2)

"""Neural power unit."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.arguments import check_positive
from torchalu.nn.real_npu import snap_half_
from torchalu.nn.unit import Factory, Unit, round_


class NPU(Unit):
    r"""Neural power unit: multiplies complex powers of the inputs, and takes the real part.

    .. math:: y = \exp(W_r \log r - \pi W_i k) \cos(\pi W_r k + W_i \log r), \quad
              r = g (|x| + \epsilon) + 1 - g, \quad k = g \, [x < 0]

    With imaginary weights of 0 it is a RealNPU; the others help it to learn.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        eps: keeps the logarithm of 0 finite.
        generator: where the initial weights come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The logarithms run in float32 at least.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        An output carries the product of the inputs' units of measure, each to the power of
        its weight, where the imaginary weights are 0; else inputs are bare numbers.

    Initialization:
        The real part Xavier uniform, the imaginary part 0, the gate g 1/2.

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive; in `forward`, the last dimension of the input is
            not `in_features`, or `eps` is not positive.

    Source:
        Heim et al. 2020, the NPU. Departures: those of :func:`torchalu.functional.npu`.

    Example:
        >>> unit = NPU(2, 1)
        >>> [name for name, _ in unit.named_parameters()]
        ['weight', 'imag_weight', 'gate']
        >>> unit(torch.tensor([[6.0, -3.0]])).shape
        torch.Size([1, 1])
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
        self.imag_weight = factory.parameter(out_features, in_features)
        self.gate = factory.parameter(in_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew; see *Initialization*."""
        nn.init.xavier_uniform_(self.weight, generator=generator)
        nn.init.zeros_(self.imag_weight)
        nn.init.constant_(self.gate, 0.5)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The real part of the powers of the inputs."""
        return self.weight

    def input_use(self) -> Float[Tensor, "out in"]:
        """The larger magnitude of both parts of the powers, times the gate."""
        return self.gate.clamp(0, 1) * torch.maximum(self.weight.abs(), self.imag_weight.abs())

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply powers."""
        return functional.npu(input, self.weight, self.imag_weight, self.gate, self.eps)

    @torch.no_grad()
    def constrain_(self) -> None:
        """Clamp the gate to [0, 1]."""
        self.gate.clamp_(0, 1)

    def penalty(self) -> Float[Tensor, ""]:
        """Mean magnitude of the real parts, plus that of the imaginary parts."""
        return self.weight.abs().mean() + self.imag_weight.abs().mean()

    def snap_(self) -> None:
        """Move both parts of a power to multiples of 1/2, and the gate to 0 or 1."""
        snap_half_(self.weight)
        snap_half_(self.imag_weight)
        round_(self.gate, 0, 1)

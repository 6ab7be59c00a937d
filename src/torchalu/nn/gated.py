"""A gate between a NAU and an NMU."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.nn.nau import start_nau_
from torchalu.nn.nmu import start_nmu_
from torchalu.nn.unit import Factory, Unit, check_clamp_flag, round_, sparsity


class GatedNAUNMU(Unit):
    r"""Gated NAU and NMU: adds or multiplies, as a gate decides from the input.

    .. math:: y = g \odot \mathrm{NAU}(x) + (1 - g) \odot \mathrm{NMU}(x), \qquad
              g = \sigma(G x)

    It is a NALU whose two halves are the NAU and the NMU, and so keeps the signs.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        clamp: keep the weights of both halves in their ranges.
        generator: where the initial weights come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The unit runs in float32 at least.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        The gate mixes a sum and a product, so that only numbers without a unit of measure
        have a meaning, unless the gate is shut.

    Initialization:
        As a NAU and as an NMU; G Xavier uniform.

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive, or `clamp` is neither True nor False; in `forward`,
            the last dimension of the input is not `in_features`.

    Source:
        Madsen & Johansen 2020, section 2.8 and appendix C.5, who find that the gate settles
        nearly at random. Departures: those of :func:`torchalu.functional.gated_nau_nmu`.

    Example:
        >>> unit = GatedNAUNMU(2, 1)
        >>> unit.snap_()
        >>> unit.penalty().item()
        0.0
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        clamp: bool = True,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features)
        self.clamp = check_clamp_flag(clamp)
        factory = Factory(device, dtype)
        self.nau_weight = factory.parameter(out_features, in_features)
        self.nmu_weight = factory.parameter(out_features, in_features)
        self.gate_weight = factory.parameter(out_features, in_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew; see *Initialization*."""
        start_nau_(self.nau_weight, generator)
        start_nmu_(self.nmu_weight, generator)
        nn.init.xavier_uniform_(self.gate_weight, generator=generator)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The weight of the sum, clamped to [-1, 1]."""
        return self.nau_weight.clamp(-1, 1) if self.clamp else self.nau_weight

    def effective_mul_weight(self) -> Float[Tensor, "out in"]:
        """The weight of the product, clamped to [0, 1]."""
        return self.nmu_weight.clamp(0, 1) if self.clamp else self.nmu_weight

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Add or multiply."""
        weight, mul_weight = self.effective_weight(), self.effective_mul_weight()
        return functional.gated_nau_nmu(input, weight, mul_weight, self.gate_weight)

    @torch.no_grad()
    def constrain_(self) -> None:
        """Clamp the weights of the sum to [-1, 1] and those of the product to [0, 1]."""
        if self.clamp:
            self.nau_weight.clamp_(-1, 1)
            self.nmu_weight.clamp_(0, 1)

    def penalty(self) -> Float[Tensor, ""]:
        """Sum of the NAU's and the NMU's penalty."""
        return sparsity(self.effective_weight()) + sparsity(self.effective_mul_weight())

    def snap_(self) -> None:
        """Move the weights of both halves to whole numbers; the gate stays."""
        round_(self.nau_weight, -1, 1)
        round_(self.nmu_weight, 0, 1)

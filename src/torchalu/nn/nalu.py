"""Neural arithmetic logic unit."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.arguments import check_positive
from torchalu.nn.nac import snap_nac_, start_nac_
from torchalu.nn.unit import Factory, Unit


class NALU(Unit):
    r"""Neural arithmetic logic unit: adds or multiplies, as a gate decides from the input.

    .. math:: y = g \odot W x + (1 - g) \odot \exp(W' \log(|x| + \epsilon)), \qquad
              W = \tanh(\hat W) \, \sigma(\hat M), \quad g = \sigma(G x)

    One output is a sum where its gate is 1, a product or quotient of magnitudes where it is 0.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        separate: give the product a weight W' of its own; without it W' = W.
        eps: keeps the logarithm of 0 finite.
        generator: where the initial parameters come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The unit runs in float32 at least.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        The gate mixes a sum and a product, so that only numbers without a unit of measure
        have a meaning, unless the gate is shut.

    Initialization:
        The parameters of W and W' as in a NAC; G Xavier uniform.

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive; in `forward`, the last dimension of the input is
            not `in_features`, or `eps` is not positive.

    Source:
        Trask et al. 2018, section 2; separate weights: Madsen & Johansen 2020, appendix C.5.
        Departures: the initialization of Madsen & Johansen, since Trask et al. give none; those
        of :func:`torchalu.functional.nalu`.

    Example:
        >>> unit = NALU(2, 1, separate=True)
        >>> unit.effective_weight().shape, unit.effective_mul_weight().shape
        (torch.Size([1, 2]), torch.Size([1, 2]))
        >>> unit(torch.tensor([[5.0, 3.0]])).shape
        torch.Size([1, 1])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        separate: bool = False,
        eps: float = 1e-7,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features)
        self.separate = separate
        check_positive(eps=eps)
        self.eps = eps
        factory = Factory(device, dtype)
        self.w_hat = factory.parameter(out_features, in_features)
        self.m_hat = factory.parameter(out_features, in_features)
        if separate:
            self.mul_w_hat = factory.parameter(out_features, in_features)
            self.mul_m_hat = factory.parameter(out_features, in_features)
        self.gate_weight = factory.parameter(out_features, in_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the parameters anew; see *Initialization*."""
        start_nac_(self.w_hat, generator)
        start_nac_(self.m_hat, generator)
        if self.separate:
            start_nac_(self.mul_w_hat, generator)
            start_nac_(self.mul_m_hat, generator)
        nn.init.xavier_uniform_(self.gate_weight, generator=generator)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The weight of the sum."""
        return functional.nac_weight(self.w_hat, self.m_hat)

    def effective_mul_weight(self) -> Float[Tensor, "out in"]:
        """The powers in the product."""
        if self.separate:
            return functional.nac_weight(self.mul_w_hat, self.mul_m_hat)
        return self.effective_weight()

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Add or multiply."""
        weight, mul_weight = self.effective_weight(), self.effective_mul_weight()
        return functional.nalu(input, weight, self.gate_weight, mul_weight, self.eps)

    def snap_(self) -> None:
        """Saturate the parameters so that each weight is -1, 0 or 1; the gate stays."""
        snap_nac_(self.w_hat, self.m_hat)
        if self.separate:
            snap_nac_(self.mul_w_hat, self.mul_m_hat)

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"{super().extra_repr()}, separate={self.separate}"

"""Improved neural arithmetic logic unit."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.arguments import check_positive
from torchalu.nn.nac import SATURATED, snap_nac_
from torchalu.nn.unit import Factory, Unit

_STARTS = {"w_hat": 0.88, "m_hat": 0.5, "mul_w_hat": 0.88, "mul_m_hat": 0.5, "gate_hat": 0.0}
_START_STD = 0.2


class INALU(Unit):
    r"""Improved neural arithmetic logic unit: adds, or multiplies with the sign kept.

    .. math:: y = g \odot W x + (1 - g) \odot s \odot
              \exp(\min(W' \log \max(|x|, \epsilon), \omega)), \quad
              s_o = \prod_i (|W'_{oi}| \operatorname{sgn} x_i + 1 - |W'_{oi}|), \quad
              W = \tanh(\hat W) \, \sigma(\hat M), \quad g = \sigma(G)

    The gate g is one number for each output, whatever the input: an output ends as a sum or as
    a product.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        eps: a magnitude below it counts as this one.
        max_exponent: omega; a product stops at the exponential of it, 4.9e8 for 20.
        generator: where the initial parameters come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The unit runs in float32 at least.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        The gate mixes a sum and a product, so that only numbers without a unit of measure
        have a meaning, until it is 0 or 1. Then an output carries the unit of its sum, or the
        product of the inputs' units, each to the power of its weight.

    Initialization:
        Normal with a standard deviation of 0.2: the parameters of W and W' called w around
        0.88, those called m around 1/2, G around 0.

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive; in `forward`, the last dimension of the input is
            not `in_features`, or `eps` or `max_exponent` is not positive.

    Source:
        Schloer et al. 2020, section 3, with independent weights; the initialization is that of
        the authors' program. Departures: those of :func:`torchalu.functional.inalu`; the new
        start of a model whose loss has stalled belongs to training, not to the unit: call
        `reset_parameters`.

    Example:
        >>> unit = INALU(2, 1, dtype=torch.float64)
        >>> state = {"w_hat": [[0.9, 0.9]], "m_hat": [[0.5, 0.5]], "gate_hat": [-0.7]}
        >>> state |= {"mul_w_hat": [[2.0, -2.0]], "mul_m_hat": [[3.0, 3.0]]}
        >>> _ = unit.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
        >>> unit.snap_()
        >>> round(unit(torch.tensor([6.0, -3.0], dtype=torch.float64)).item(), 6)
        -2.0
    """

    penalty_until = 20.0

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        eps: float = 1e-7,
        max_exponent: float = 20.0,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features)
        check_positive(eps=eps)
        self.eps = eps
        if not max_exponent > 0:
            raise ValueError(f"max_exponent is {max_exponent}; give a number above 0, or math.inf")
        self.max_exponent = max_exponent
        factory = Factory(device, dtype)
        self.w_hat = factory.parameter(out_features, in_features)
        self.m_hat = factory.parameter(out_features, in_features)
        self.mul_w_hat = factory.parameter(out_features, in_features)
        self.mul_m_hat = factory.parameter(out_features, in_features)
        self.gate_hat = factory.parameter(out_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the parameters anew; see *Initialization*."""
        for name, mean in _STARTS.items():
            nn.init.normal_(self.get_parameter(name), mean, _START_STD, generator=generator)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The weight of the sum."""
        return functional.nac_weight(self.w_hat, self.m_hat)

    def effective_mul_weight(self) -> Float[Tensor, "out in"]:
        """The powers in the product."""
        return functional.nac_weight(self.mul_w_hat, self.mul_m_hat)

    def effective_gate(self) -> Float[Tensor, " out"]:
        """The share of the sum in each output."""
        return torch.sigmoid(self.gate_hat)

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Add or multiply."""
        weights = self.effective_weight(), self.effective_mul_weight()
        return functional.inalu(input, *weights, self.gate_hat, self.eps, self.max_exponent)

    def penalty(self) -> Float[Tensor, ""]:
        r"""What is missing in the parameters' magnitudes to saturate.

        .. math:: \sum_p \mathrm{mean} \max(1 - |p| / 20, 0)

        The sum is over the unit's five parameters, the mean over the elements of one, as in the
        authors' program.
        """
        parameters: list[Tensor] = [getattr(self, name) for name in _STARTS]
        missing = [(1 - p.abs() / self.penalty_until).clamp(min=0).mean() for p in parameters]
        return torch.stack(missing).sum()

    @torch.no_grad()
    def snap_(self) -> None:
        """Saturate the parameters: each weight the nearest of -1, 0 and 1, each gate 0 or 1."""
        snap_nac_(self.w_hat, self.m_hat)
        snap_nac_(self.mul_w_hat, self.mul_m_hat)
        self.gate_hat.copy_(torch.where(self.gate_hat > 0, SATURATED, -SATURATED))

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"{super().extra_repr()}, max_exponent={self.max_exponent!r}"

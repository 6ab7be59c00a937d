"""Neural accumulator in log space."""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.arguments import check_positive
from torchalu.nn.nac import SATURATED, snap_nac_, start_nac_
from torchalu.nn.nmu import start_nmu_
from torchalu.nn.unit import Factory, Unit, check_clamp_flag, round_, sparsity

Parametrization = Literal["tanh_sigmoid", "sigmoid", "clamped"]


class NACMul(Unit):
    r"""Neural accumulator in log space: multiplies powers of the inputs' magnitudes.

    .. math:: m_o = \exp\Bigl(\sum_i W_{oi} \log(|x_i| + \epsilon)\Bigr)

    A weight of 1 multiplies by an input, -1 divides by it, 0 leaves it out; signs are lost.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        parametrization: "tanh_sigmoid", weights between -1 and 1, as a NAC; "sigmoid", between
            0 and 1, which cannot divide; "clamped", in [0, 1] with a penalty, as an NMU.
        clamp: keep the clamped weights in [0, 1]; the other two have nothing to clamp.
        eps: keeps the logarithm of 0 finite.
        generator: where the initial parameters come from; torch's own if left out.
        device: where the parameters lie.
        dtype: dtype of the parameters. The logarithms run in float32 at least.

    Shape:
        `(*, in_features)` to `(*, out_features)`.

    Units:
        An output carries the product of the inputs' units of measure, each to the power of
        its weight.

    Initialization:
        "tanh_sigmoid" as a NAC, "clamped" as an NMU, "sigmoid" by Glorot's normal law,
        N(0, 2 / (in_features + out_features)), before the sigmoid.

    Raises:
        TypeError: a size is no integer, or `dtype` is not a floating one.
        ValueError: a size is not positive, `parametrization` is unknown, or `clamp` is neither
            True nor False; in `forward`, the last dimension of the input is not `in_features`, or
            `eps` is not positive.

    Source:
        Trask et al. 2018, section 2; Madsen & Johansen 2020, equation 3 and, for the sigmoid
        and the clamped weights, section 4.1.3; initialization of "sigmoid": the authors'
        program. Departures: those of :func:`torchalu.functional.nac_mul`.

    Example:
        >>> unit = NACMul(2, 1, dtype=torch.float64)
        >>> _ = unit.load_state_dict(
        ...     {"w_hat": torch.tensor([[2.0, -2.0]]), "m_hat": torch.tensor([[3.0, 3.0]])}
        ... )
        >>> unit.snap_()
        >>> round(unit(torch.tensor([6.0, -3.0], dtype=torch.float64)).item(), 6)
        2.0
    """

    identity = 1.0

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        parametrization: Parametrization = "tanh_sigmoid",
        clamp: bool = True,
        eps: float = 1e-7,
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features)
        if parametrization not in get_args(Parametrization):
            raise ValueError(
                f"parametrization is {parametrization!r}; give one of "
                f"{', '.join(get_args(Parametrization))}"
            )
        self.parametrization = parametrization
        self.clamp = check_clamp_flag(clamp)
        check_positive(eps=eps)
        self.eps = eps
        factory = Factory(device, dtype)
        if parametrization == "clamped":
            self.weight = factory.parameter(out_features, in_features)
        else:
            self.w_hat = factory.parameter(out_features, in_features)
        if parametrization == "tanh_sigmoid":
            self.m_hat = factory.parameter(out_features, in_features)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the parameters anew; see *Initialization*."""
        start = {
            "tanh_sigmoid": start_nac_,
            "sigmoid": nn.init.xavier_normal_,
            "clamped": start_nmu_,
        }[self.parametrization]
        for parameter in self.parameters():
            start(parameter, generator=generator)

    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The powers of the inputs."""
        if self.parametrization == "tanh_sigmoid":
            return functional.nac_weight(self.w_hat, self.m_hat)
        if self.parametrization == "sigmoid":
            return torch.sigmoid(self.w_hat)
        return self.weight.clamp(0, 1) if self.clamp else self.weight

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply powers."""
        return functional.nac_mul(input, self.effective_weight(), self.eps)

    @torch.no_grad()
    def constrain_(self) -> None:
        """Clamp clamped weights to [0, 1]."""
        if self.parametrization == "clamped" and self.clamp:
            self.weight.clamp_(0, 1)

    def penalty(self) -> Float[Tensor, ""]:
        """Mean distance of clamped weights from 0 or 1; 0 for the other parametrizations."""
        if self.parametrization == "clamped":
            return sparsity(self.effective_weight())
        return super().penalty()

    @torch.no_grad()
    def snap_(self) -> None:
        """Move each power to the nearest whole number that the parametrization can reach."""
        if self.parametrization == "tanh_sigmoid":
            snap_nac_(self.w_hat, self.m_hat)
        elif self.parametrization == "sigmoid":
            self.w_hat.copy_(torch.where(self.w_hat > 0, SATURATED, -SATURATED))
        else:
            round_(self.weight, 0, 1)

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"{super().extra_repr()}, parametrization={self.parametrization!r}"

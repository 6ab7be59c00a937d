"""Stochastic neural multiplication unit."""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from torchalu import functional
from torchalu.functional._arguments import check_alike
from torchalu.nn.nmu import NMU


class SNMU(NMU):
    r"""Stochastic neural multiplication unit: an NMU that learns under noise.

    .. math:: z_o = \frac{\prod_i (W_{oi} n_i x_i + 1 - W_{oi})}{\prod_i (W_{oi} n_i + 1 - W_{oi})},
              \qquad W \in [0, 1]

    In training mode each number of the input has its own n from U(1, 5), drawn anew in each
    call; in evaluation mode n = 1, and the unit is an NMU. Weights of 0 and 1 cancel the noise,
    so that only they leave the loss without it.

    The noise comes from torch's own random numbers, as that of `torch.nn.Dropout`:
    `torch.manual_seed` decides it, and `torch.func.vmap` needs `randomness="different"`. With
    :func:`torchalu.functional.snmu` it comes from wherever you like.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        noise: lower and upper bound of n.
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
        TypeError: a size is no integer, or `dtype` is not a floating one; in `forward`, the input
            has another dtype outside autocast.
        ValueError: a size is not positive, or `noise` is no pair of positive numbers in
            ascending order; in `forward`, the last dimension of the input is not `in_features`.

    Source:
        Mistry et al. 2022, the sNMU. Departures: those of :func:`torchalu.functional.snmu`, and
        those of :class:`NMU`.

    Example:
        >>> unit, x = SNMU(2, 1), torch.tensor([3.0, -4.0])
        >>> bool(unit(x) == unit(x))
        False
        >>> _ = torch.nn.init.ones_(unit.weight)
        >>> unit(x).tolist()
        [-12.0]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        noise: tuple[float, float] = (1.0, 5.0),
        generator: torch.Generator | None = None,
        device: torch.device | str | int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)
        if np.shape(noise) != (2,) or not 0 < noise[0] <= noise[1] < math.inf:
            raise ValueError(
                f"noise is {noise!r}; give two positive numbers in ascending order, as (1.0, 5.0)"
            )
        self.noise = noise

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply, in training mode under noise."""
        if not self.training:
            return super().forward(input)
        check_alike(input, self.weight, "weight")
        low, high = self.noise
        noise = low + (high - low) * torch.rand_like(input)
        return functional.snmu(input, self.effective_weight(), noise)

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"{super().extra_repr()}, noise={self.noise!r}"

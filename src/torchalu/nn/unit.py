"""What all units have in common."""

import math
from abc import ABC, abstractmethod
from inspect import signature
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu.arguments import check_positive_integers

Clamp: TypeAlias = bool | Literal["forward"]
"""Whether weights are kept in their bounds, or clamped in the forward pass alone."""


class Factory(NamedTuple):
    """Where and in which dtype a unit's parameters are made."""

    device: torch.device | str | int | None
    dtype: torch.dtype | None

    def parameter(self, *shape: int) -> nn.Parameter:
        """A parameter of this shape, to be filled by `reset_parameters`.

        Raises:
            TypeError: the dtype is no real floating one.
        """
        if self.dtype is not None and not self.dtype.is_floating_point:
            raise TypeError(
                f"dtype is {self.dtype}; a unit learns real numbers: give a float dtype"
            )
        return nn.Parameter(torch.empty(shape, device=self.device, dtype=self.dtype))


class Unit(nn.Module, ABC):
    """A layer whose weights mean something exact once they reach a discrete set.

    A subclass holds its parameters, their start, and one call to `torchalu.functional`.

    Args:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.

    Attributes:
        identity: the number that leaves a result as it is: 0 where the unit adds, 1 where it
            multiplies.
        penalty_until: the magnitude from which on `penalty` leaves a parameter alone.

    Raises:
        TypeError: a size is no integer.
        ValueError: a size is not positive.
    """

    identity: ClassVar[float] = 0.0
    penalty_until: ClassVar[float] = math.inf

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        check_positive_integers(in_features=in_features, out_features=out_features)
        self.in_features, self.out_features = int(in_features), int(out_features)

    @abstractmethod
    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Apply the unit."""

    @abstractmethod
    def effective_weight(self) -> Float[Tensor, "out in"]:
        """The weight that stands in the equation, as a function of the parameters."""

    @abstractmethod
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the parameters anew from their initial distribution.

        Args:
            generator: where the random numbers come from; torch's own if left out.
        """

    @abstractmethod
    def snap_(self) -> None:
        """Move each parameter to the nearest value that makes the unit exact."""

    def constrain_(self) -> None:
        """Move the parameters back into their allowed range, after an optimizer step."""

    def input_use(self) -> Float[Tensor, "out in"]:
        """How much each output uses each input: 0 leaves it out, 1 or more uses it all.

        It is the magnitude of `effective_weight` unless a unit says otherwise. Where a gate
        mixes a sum and a product, that is the weight of the sum.
        """
        return self.effective_weight().abs()

    def penalty(self) -> Float[Tensor, ""]:
        """What is added to the loss to make the weights sparse; 0 where a paper adds nothing."""
        return self.effective_weight().new_zeros(())

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`; `clamp` and `eps` where not the default."""
        shown = [f"in_features={self.in_features}", f"out_features={self.out_features}"]
        arguments = signature(type(self)).parameters
        for name in ("clamp", "eps"):
            if name in arguments and getattr(self, name) != arguments[name].default:
                shown.append(f"{name}={getattr(self, name)!r}")
        return ", ".join(shown)


def check_clamp(clamp: Clamp) -> Clamp:
    """The way of clamping.

    Raises:
        ValueError: there is no such way.
    """
    if clamp is not True and clamp is not False and clamp != "forward":
        raise ValueError(f"clamp is {clamp!r}; give True, False or 'forward'")
    return clamp


def check_clamp_flag(clamp: bool) -> bool:
    """Whether weights are clamped, where there is no clamping in the forward pass alone.

    Raises:
        ValueError: it is neither True nor False.
    """
    if clamp is not True and clamp is not False:
        raise ValueError(f"clamp is {clamp!r}; give True or False")
    return clamp


def sparsity(weight: Float[Tensor, "out in"]) -> Float[Tensor, ""]:
    r"""Mean distance of the weights' magnitudes from 0 or 1.

    .. math:: \mathrm{mean} \min(|W|, |1 - |W||)

    Args:
        weight: an effective weight.

    Shape:
        `(out, in)` to `()`.

    Source:
        Madsen & Johansen 2020, equations 6 and 11. Departure: equation 11 has 1 - W where this has
        1 - \|W\|, which differs below -1/2 alone, where no clamped weight of an NMU is.
    """
    magnitude = weight.abs()
    return torch.minimum(magnitude, (1 - magnitude).abs()).mean()


@torch.no_grad()
def round_(weight: Tensor, low: float, high: float) -> None:
    """Move each weight to the nearest whole number from `low` to `high`, in place."""
    weight.clamp_(low, high).round_().add_(0.0)  # the sum turns -0.0 into 0.0

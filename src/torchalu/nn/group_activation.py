"""What the activations that reduce groups of features have in common."""

from abc import ABC, abstractmethod
from fractions import Fraction
from numbers import Integral
from typing import get_args

from jaxtyping import Float
from torch import Tensor, nn

from torchalu.functional._groups import Layout, check_normalized


class GroupActivation(nn.Module, ABC):
    """An activation that makes one feature of each group of k.

    It has no parameters. A subclass holds one call to `torchalu.functional`.

    Args:
        k: features in a group, 2 or more.
        dim: the dimension that holds the features.
        layout: which features are a group. `"pairs"`: the k adjacent ones from k i on.
            `"halves"`: the features i, i + C/k, i + 2 C/k, ..., each from one of k blocks.

    Shape:
        C features along `dim` become C / k; all other dimensions are kept.

    Raises:
        TypeError: `k` or `dim` is no integer.
        ValueError: `k` is less than 2; there is no such layout.
    """

    def __init__(self, *, k: int = 2, dim: int = 1, layout: Layout = "pairs") -> None:
        super().__init__()
        self.k = _whole("k", k)
        if k < 2:
            raise ValueError(f"k is {k}; a group has 2 features or more")
        self.dim = _whole("dim", dim)
        if layout not in get_args(Layout):
            raise ValueError(f"layout is {layout!r}; give 'pairs' or 'halves'")
        self.layout: Layout = layout

    @property
    def features_ratio(self) -> Fraction:
        """Features that come out for each one that goes in."""
        return Fraction(1, self.k)

    @property
    def features_multiple(self) -> int:
        """The number of features that go in must be a multiple of this."""
        return self.k

    @abstractmethod
    def forward(self, input: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Reduce each group."""

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"k={self.k}, dim={self.dim}, layout={self.layout!r}"


class LogicOperator(GroupActivation):
    """A group activation that has a normalized form.

    Args:
        k: features in a group, 2 or more.
        dim: the dimension that holds the features.
        layout: which features are a group; see :class:`GroupActivation`.
        normalized: shift and scale the output to mean 0 and variance 1 on standard normal input.

    Raises:
        TypeError: `k` or `dim` is no integer; `normalized` is no bool.
        ValueError: `k` is less than 2; there is no such layout.
    """

    def __init__(
        self, *, k: int = 2, dim: int = 1, layout: Layout = "pairs", normalized: bool = False
    ) -> None:
        super().__init__(k=k, dim=dim, layout=layout)
        check_normalized(normalized)
        self.normalized = normalized

    def extra_repr(self) -> str:
        """The constructor's arguments, for `repr`."""
        return f"{super().extra_repr()}, normalized={self.normalized}"


def _whole(name: str, value: int) -> int:
    """The argument, checked."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {value!r}; give an integer")
    return int(value)

"""Widths of layers, so that networks with other activations have as many parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import nn

from torchalu.arguments import check_positive, check_positive_integers
from torchalu.experiments.lowe2022.activations import BASELINE
from torchalu.nn import activation, features_multiple

_GRAIN = 64  # a width of 64 can be scaled in steps of 1


def scaled(widths: Sequence[int], factor: float, multiple: int = 1) -> tuple[int, ...]:
    """Widths times a factor, each the nearest multiple, and one multiple at least.

    Args:
        widths: of the layers before their activations.
        factor: positive.
        multiple: what an activation needs its features to be a multiple of.

    Raises:
        ValueError: no widths, a width, factor or multiple that is not positive.

    Example:
        >>> scaled((8, 16), 1.4, multiple=2)
        (12, 22)
    """
    if not widths or min(widths) < 1:
        raise ValueError(f"widths is {tuple(widths)}; give one or more positive integers")
    check_positive(factor=factor, multiple=multiple)
    return tuple(multiple * max(1, round(width * factor / multiple)) for width in widths)


def nearest_widths(
    widths: Sequence[int],
    parameters: int,
    count: Callable[[Sequence[int]], int],
    multiple: int = 1,
) -> tuple[int, ...]:
    """Widths in given proportions whose network comes nearest to a number of parameters.

    They are the proportions times a number of 64ths: a width of 512 grows in steps of 8.

    Args:
        widths: the proportions, as widths of about the right size.
        parameters: how many the network is to have.
        count: how many it has with some widths; it must not fall where they grow.
        multiple: what each width must be a multiple of.

    Raises:
        ValueError: `parameters` is not positive, or as `scaled`.

    Source:
        Lowe et al. 2022, section 4.5: widths of 512 for activations that keep the number of
        features, 650 for those that halve it, 438 for those that multiply it by 3/2.

    Example:
        >>> nearest_widths((8, 8), 1000, lambda widths: widths[0] * widths[1], multiple=2)
        (32, 32)
    """
    check_positive_integers(parameters=parameters)

    def at(grains: int) -> tuple[int, ...]:
        return scaled(widths, grains / _GRAIN, multiple)

    high = 1
    while count(at(high)) < parameters:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(at(middle)) < parameters else (low, middle)
    return min(
        (at(grains) for grains in (max(low, 1), high)),
        key=lambda found: abs(count(found) - parameters),
    )


@dataclass(frozen=True)
class Family:
    """Networks of one kind and all sizes.

    Args:
        proportions: of the widths of its layers; the first has the width that names the network.
        build: makes a network from widths and an activation's name.
        parameters: how many that has.
        work: of a training sample, for each parameter; for the progress bar alone.

    Example:
        >>> from torchalu.experiments.lowe2022.networks import mlp, mlp_parameters
        >>> family = Family(
        ...     (1, 1),
        ...     lambda widths, name: mlp(512, widths, 100, name),
        ...     lambda widths, name: mlp_parameters(512, widths, 100, name),
        ... )
        >>> family.widths(512, "relu"), family.widths(512, "or_ail")
        ((512, 512), (648, 648))
    """

    proportions: tuple[int, ...]
    build: Callable[[Sequence[int], str], nn.Module]
    parameters: Callable[[Sequence[int], str], int]
    work: float = 1.0

    def widths(self, width: int, name: str) -> tuple[int, ...]:
        """Widths with which an activation has about as many parameters as ReLU has with `width`.

        Args:
            width: of ReLU's first layer.
            name: of the activation.
        """
        of_relu = scaled(self.proportions, width)
        if name == BASELINE:
            return of_relu
        return nearest_widths(
            of_relu,
            self.parameters(of_relu, BASELINE),
            lambda widths: self.parameters(widths, name),
            features_multiple(activation(name)),
        )

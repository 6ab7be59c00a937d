"""Which operator of a logic activation takes which features."""

from collections.abc import Sequence
from typing import TypeVar

from torch import nn

from torchalu.functional import logic_moments
from torchalu.nn import (
    ANDAIL,
    ANDIL,
    ORAIL,
    ORIL,
    XNORAIL,
    XNORIL,
    GroupActivation,
    LogicActivation,
    MaxOut,
    MinOut,
    SignedGeomean,
)

Feature = TypeVar("Feature")

_NAMES: dict[type[nn.Module], str] = {
    ANDAIL: "and_ail",
    ANDIL: "logit_and",
    MinOut: "min_out",
    ORAIL: "or_ail",
    ORIL: "logit_or",
    MaxOut: "max_out",
    XNORAIL: "xnor_ail",
    XNORIL: "logit_xnor",
    SignedGeomean: "signed_geomean",
}


def operations(
    layer: GroupActivation, features: Sequence[Feature]
) -> list[tuple[str, list[Feature]]]:
    """For each output of an activation the function's name and its operands.

    Args:
        layer: the activation, along the last dimension of (rows, features).
        features: what it is given.

    Raises:
        TypeError: the activation is of a class that is not known.
        ValueError: it works along another dimension, or the features cannot be grouped.

    Example:
        >>> operations(LogicActivation(["or_ail", "and_ail"]), "abcd")
        [('or_ail', ['a', 'b']), ('or_ail', ['c', 'd']), ('and_ail', ['a', 'b']),
         ('and_ail', ['c', 'd'])]
    """
    kind = type(layer).__name__
    if layer.dim not in (1, -1):
        raise ValueError(
            f"{kind} has dim={layer.dim}; allowed: 1, the features of (rows, features)"
        )
    if len(features) % layer.features_multiple:
        raise ValueError(
            f"{kind} is given {len(features)} features; allowed: a multiple of "
            f"{layer.features_multiple}"
        )
    count = len(features) // layer.k
    if layer.layout == "halves":
        groups = [list(features[start::count]) for start in range(count)]
    else:
        groups = [list(features[i * layer.k : (i + 1) * layer.k]) for i in range(count)]
    if not isinstance(layer, LogicActivation):
        if type(layer) not in _NAMES:
            known = ", ".join(known.__name__ for known in _NAMES)
            raise TypeError(f"{kind} is not known; allowed: {known}, LogicActivation")
        return [(_NAMES[type(layer)], group) for group in groups]
    names = layer.operators
    if layer.strategy == "duplicate":
        return [(name, group) for name in names for group in groups]
    return [(names[i * len(names) // count], group) for i, group in enumerate(groups)]


def moments(layer: GroupActivation, name: str) -> tuple[float, float]:
    """What is subtracted from an operator's result, and what it is divided by then."""
    normalized = getattr(layer, "normalized", False)
    return logic_moments(name, layer.k) if normalized else (0.0, 1.0)

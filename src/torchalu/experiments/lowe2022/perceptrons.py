"""MLPs of one task that have equally many parameters whatever their activation."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from torchalu.experiments.lowe2022.networks import mlp, mlp_parameters
from torchalu.experiments.lowe2022.sizing import Family


def perceptrons(in_features: int, out_features: int) -> Family:
    """MLPs of two hidden layers, equally wide before their activations.

    Args:
        in_features: of the first layer.
        out_features: of the last layer.

    Source:
        Lowe et al. 2022, sections 4.2, 4.3 and 4.5, "two-layer MLP". That this counts hidden
        layers follows from the widths of 4.5: with two of them, and with 512 features to 100
        classes, widths of 512, 650 and 438 give equally many parameters.

    Example:
        >>> family = perceptrons(512, 100)
        >>> family.widths(512, "relu"), family.widths(512, "or_ail")
        ((512, 512), (648, 648))
    """

    def build(widths: Sequence[int], name: str) -> nn.Module:
        return mlp(in_features, widths, out_features, name)

    def parameters(widths: Sequence[int], name: str) -> int:
        return mlp_parameters(in_features, widths, out_features, name)

    return Family((1, 1), build, parameters)

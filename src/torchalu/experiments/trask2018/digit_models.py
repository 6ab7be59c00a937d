"""What accumulates the digits of a series: the paper's six models, and later units."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn

from torchalu.experiments.trask2018.digit_networks import (
    NUM_FEATURES,
    CellAccumulator,
    DigitFeatures,
    SeriesNetwork,
    UnitAccumulator,
)
from torchalu.export import snap
from torchalu.nn import (
    INALU,
    NAC,
    NALU,
    NAU,
    NMRU,
    NMU,
    GatedNAUNMU,
    NACMul,
    RealNPU,
    Unit,
)
from torchalu.nn.nac import SATURATED
from torchalu.tasks import SequenceOperation

_ONE = 20.0  # tanh(20) and sigmoid(20) are 1 in float32
_MEANS: dict[SequenceOperation, float] = {"count": 1.0, "sum": 45.0, "product": 25.0}
"""The targets' means on training series, were all digits of equal number."""


@torch.no_grad()
def keep_state_(unit: Unit) -> None:
    """Start the weights of a unit's state at those that keep each number of it.

    Weights that are a tanh times a sigmoid are 1 in float32 there, and so have no gradient: what
    is to be off by less than 1e-3 after 1000 steps has to be closer to 1 than a training leaves
    it. Reciprocals start at 0, those of the features too, of which the first are near 0. A gate
    starts without a part of the state, which is large beside the features: NAC, NAU, NMU, NMRU and
    NACMul then keep the state, NALU nearly, and GatedNAUNMU, iNALU and RealNPU, whose gates start
    half open, halve it in each step until they have learned more.

    Args:
        unit: sees ten features and the state; changed in place.

    Source:
        Ours, for units; the idea is that of recurrent networks that start at the identity.

    Example:
        >>> unit = NAU(11, 1)
        >>> keep_state_(unit)
        >>> unit.weight[0, 10].item()
        1.0
    """
    for name, parameter in unit.named_parameters(recurse=False):
        if parameter.dim() != 2:
            continue
        state = parameter[:, NUM_FEATURES:]
        factor = _ONE if name.endswith("hat") else 1.0
        if name.startswith("reciprocal"):
            parameter.zero_()
        elif "gate" in name:
            state.zero_()
        elif name.endswith("m_hat"):
            state.fill_(factor)
        else:
            state.copy_(factor * torch.eye(unit.out_features))


@torch.no_grad()
def snap_network_(network: SeriesNetwork) -> None:
    r"""Snap the arithmetic part of a network, whose features take on the scale of its weights.

    A unit that adds weighs features whose scale is free:

    .. math:: \sum_i W_i f_i = \sum_i \frac{W_i}{|W_i|} \, |W_i| f_i

    so that the scale goes into the last linear layer of the images' part, without an effect on
    any answer, before weights are rounded. Likewise W f + 1 - W, the factor of an NMU, is a
    feature itself. Other units are snapped as they are.

    Args:
        network: changed in place.

    Source:
        Ours. Of several outputs the largest weight of a feature is its scale.

    Example:
        >>> from torchalu.experiments.trask2018.digit_networks import DigitFeatures
        >>> adding = MODELS["NAU"].accumulator("sum", 32, keep_state=True)
        >>> network = SeriesNetwork(DigitFeatures(), adding)
        >>> snap_network_(network)
        >>> network.accumulator.unit.weight.abs().sum().item()
        11.0
    """
    features, accumulator = network.features, network.accumulator
    if isinstance(features, DigitFeatures) and isinstance(accumulator, UnitAccumulator):
        last, unit = features.layers[-1], accumulator.unit
        if isinstance(last, nn.Linear):
            _move_scale(last, unit)
    snap(network)


def _move_scale(last: nn.Linear, unit: Unit) -> None:
    """Move the scale of a unit's weights into the layer before it."""
    weight = unit.effective_weight().clone()
    if not bool(weight.isfinite().all()):
        return
    shown = weight[:, :NUM_FEATURES]
    scale = shown.abs().amax(0)
    scale[scale == 0] = 1.0
    if isinstance(unit, NAC | NAU):
        shift = torch.zeros_like(scale)
    elif isinstance(unit, NMU) and unit.out_features == 1:
        shift = (1 - scale) * shown[0].ne(0)
    else:
        return
    shown /= scale
    last.weight.mul_(scale.unsqueeze(1))
    last.bias.mul_(scale).add_(shift)
    if isinstance(unit, NAC):
        unit.w_hat.copy_(SATURATED * weight.round())
        unit.m_hat.fill_(SATURATED)
    else:
        unit.weight.copy_(weight)


@dataclass(frozen=True)
class SeriesModel:
    """A recurrent network or unit under its name, and what its authors train it with.

    Args:
        name: as in the paper's tables, or the unit's.
        make: the unit, or PyTorch's recurrent network.
        options: of either.
        penalty: the factor of the unit's own penalty.
        input_penalty: the factor of R_z, where there is one answer: of several, each ignores most
            features, and what R_z asks of these biases the counts.
        clip_norm: the gradient's norm is kept below it.
        features_mean: what the features start around. Near 0, where they start by themselves, a
            NALU in log space multiplies its state by a great power of them at each step: over a
            series its gradient overflows.

    Source:
        NAU and NMU: Madsen & Johansen 2020, appendix D. iNALU: Schloer et al. 2020. Modified
        RealNPU and NMRU: Mistry et al. 2022; their learning rates are not taken over, since the
        convolutional network is trained with them.

    Example:
        >>> MODELS["NAC"].accumulator("count", hidden_size=32).unit
        NAC(in_features=20, out_features=10)
    """

    name: str
    make: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    penalty: float = 0.0
    input_penalty: float = 0.0
    clip_norm: float = math.inf
    features_mean: float = 0.0

    @property
    def is_unit(self) -> bool:
        """Whether it is an arithmetic unit, which can be snapped."""
        return isinstance(self.make, type) and issubclass(self.make, Unit)

    def accumulator(
        self, operation: SequenceOperation, hidden_size: int, *, keep_state: bool = False
    ) -> nn.Module:
        """What runs over the features, with parameters drawn from torch's global generator.

        Args:
            operation: "count" has ten answers, "sum" and "product" one; a product starts at 1.
            hidden_size: of the state of a network that is no unit.
            keep_state: start a unit by `keep_state_`.
        """
        out_features = NUM_FEATURES if operation == "count" else 1
        if not self.is_unit:
            cell = partial(self.make, **self.options)
            return CellAccumulator(cell, hidden_size, out_features, _MEANS[operation])
        initial = 1.0 if operation == "product" else 0.0
        accumulator = UnitAccumulator(self.make, out_features, initial, **self.options)
        if keep_state:
            keep_state_(accumulator.unit)
        return accumulator


MODELS = {
    model.name: model
    for model in (
        SeriesModel("LSTM", nn.LSTM),
        SeriesModel("GRU", nn.GRU),
        SeriesModel("RNN-tanh", nn.RNN),
        SeriesModel("RNN-ReLU", nn.RNN, {"nonlinearity": "relu"}),
        SeriesModel("NAC", NAC),
        SeriesModel("NALU", NALU, clip_norm=1.0, features_mean=1.0),
        SeriesModel("NAU", NAU, penalty=10.0, input_penalty=1.0),
        SeriesModel("NMU", NMU, penalty=10.0, input_penalty=1.0, clip_norm=1.0),
        SeriesModel("NACMul", NACMul, clip_norm=1.0),
        SeriesModel("GatedNAUNMU", GatedNAUNMU, penalty=10.0),
        SeriesModel("iNALU", INALU, penalty=0.05, clip_norm=0.1),
        SeriesModel("RealNPU", RealNPU, {"modified": True}, penalty=1.0),
        SeriesModel("NMRU", NMRU, penalty=10.0, clip_norm=1.0),
    )
}
"""The paper's six, and later units."""

PUBLISHED_MODELS = ("LSTM", "GRU", "RNN-tanh", "RNN-ReLU", "NAC", "NALU")
ADDING_MODELS = (*PUBLISHED_MODELS, "NAU", "GatedNAUNMU", "iNALU")
MULTIPLYING_UNITS = ("NACMul", "NALU", "NMU", "GatedNAUNMU", "iNALU", "RealNPU", "NMRU")
ADDING_UNITS = ("NAC", "NALU", "NAU", "GatedNAUNMU", "iNALU")

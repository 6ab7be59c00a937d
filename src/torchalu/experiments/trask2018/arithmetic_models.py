"""The networks of the static and of the recurrent arithmetic tasks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

from torchalu.experiments.setting import choose
from torchalu.nn import (
    INALU,
    NAC,
    NALU,
    NAU,
    NMRU,
    NMU,
    GatedNAUNMU,
    RealNPU,
    Unit,
    UnitCell,
    activation,
)

HIDDEN = 2
"""Size of each hidden layer and state: the least that can solve the tasks, as the paper says."""

CellKind = Literal["LSTM", "GRU", "RNN-tanh", "RNN-ReLU"]


@dataclass(frozen=True)
class ArithmeticModel:
    """A network under a name, and what its training needs.

    Args:
        name: as in the paper's tables.
        build: makes the network from the number of inputs; of a static one, a sequence of layers.
        penalty: factor of the units' own penalty, whole from 40% of the steps on, 0 up to 20%.
        clip_norm: bound of the gradient's norm.
    """

    name: str
    build: Callable[[int], nn.Module]
    penalty: float = 0.0
    clip_norm: float = math.inf


class CReLU(nn.Module):
    """The positive and the negative part of each input, side by side.

    Shape:
        `(*, in)` to `(*, 2 in)`.

    Source:
        Shang et al. 2016.

    Example:
        >>> CReLU()(torch.tensor([3.0, -4.0])).tolist()
        [3.0, 0.0, 0.0, 4.0]
    """

    def forward(self, input: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Both parts."""
        return torch.cat((input.relu(), (-input).relu()), -1)


class LastState(nn.Module):
    """A recurrent layer of torch written out, so that many can be trained at once.

    Parameters and their start are those of torch's cells.

    Args:
        kind: "LSTM", "GRU", "RNN-tanh" or "RNN-ReLU".
        input_size: numbers in a step.
        hidden_size: size of the state.

    Shape:
        `(rows, length, input_size)` to the last state, `(rows, hidden_size)`.

    Example:
        >>> LastState("GRU", 10, 2)(torch.zeros(5, 7, 10)).shape
        torch.Size([5, 2])
    """

    def __init__(self, kind: CellKind, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.kind: CellKind = kind
        self.hidden_size = hidden_size
        self.cell = {
            "LSTM": nn.LSTMCell,
            "GRU": nn.GRUCell,
            "RNN-tanh": nn.RNNCell,
            "RNN-ReLU": partial(nn.RNNCell, nonlinearity="relu"),
        }[kind](input_size, hidden_size)

    def forward(self, input: Float[Tensor, "rows length in"]) -> Float[Tensor, "rows hidden"]:
        """Run over the series."""
        cell = self.cell
        state = input.new_zeros(*input.shape[:-2], self.hidden_size)
        memory = state
        for given in linear(input, cell.weight_ih, cell.bias_ih).unbind(-2):
            own = linear(state, cell.weight_hh, cell.bias_hh)
            match self.kind:
                case "LSTM":
                    into, forget, new, out = (given + own).chunk(4, -1)
                    memory = forget.sigmoid() * memory + into.sigmoid() * new.tanh()
                    state = out.sigmoid() * memory.tanh()
                case "GRU":
                    (r, z, n), (own_r, own_z, own_n) = given.chunk(3, -1), own.chunk(3, -1)
                    new = (n + (r + own_r).sigmoid() * own_n).tanh()
                    state = new + (z + own_z).sigmoid() * (state - new)
                case "RNN-tanh":
                    state = (given + own).tanh()
                case "RNN-ReLU":
                    state = (given + own).relu()
        return state


class Accumulated(nn.Module):
    """The last state of a unit that is run over a series.

    Args:
        unit: what adds up.
        input_size: numbers in a step.
        hidden_size: size of the state.

    Shape:
        `(rows, length, input_size)` to `(rows, hidden_size)`.

    Example:
        >>> Accumulated(NAU, 10, 2)(torch.zeros(5, 7, 10)).shape
        torch.Size([5, 2])
    """

    def __init__(self, unit: type[Unit], input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.cell = UnitCell(unit, input_size, hidden_size)

    def forward(self, input: Float[Tensor, "rows length in"]) -> Float[Tensor, "rows hidden"]:
        """Run over the series."""
        state = None
        for step in input.unbind(-2):
            state = self.cell(step, state)
        assert state is not None, "no series is empty"
        return state


def _perceptron(name: str | None, inputs: int) -> nn.Module:
    if name is None:
        return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.Linear(HIDDEN, 1))
    nonlinear, width = (CReLU(), 2) if name == "crelu" else (activation(name), 1)
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nonlinear, nn.Linear(width * HIDDEN, 1))


def _units(first: type[Unit], second: Callable[..., Unit], inputs: int) -> nn.Module:
    return nn.Sequential(first(inputs, HIDDEN), second(HIDDEN, 1))


def _read_out(kind: CellKind, inputs: int) -> nn.Module:
    return nn.Sequential(LastState(kind, inputs, HIDDEN), nn.Linear(HIDDEN, 1))


def _over_time(first: type[Unit], second: Callable[..., Unit], inputs: int) -> nn.Module:
    return nn.Sequential(Accumulated(first, inputs, HIDDEN), second(HIDDEN, 1))


class UnitLayers(NamedTuple):
    """Units that make a network, and what their training needs.

    Attributes:
        first: the first layer of the static form, and all but the last of an autoencoder.
        adds_up: what accumulates in the recurrent form.
        last: the last layer of each.
        penalty: as of `ArithmeticModel`.
        clip_norm: as of `ArithmeticModel`.
    """

    first: type[Unit]
    adds_up: type[Unit]
    last: Callable[..., Unit]
    penalty: float = 0.0
    clip_norm: float = math.inf


UNITS = {
    "NAC": UnitLayers(NAC, NAC, NAC),
    "NALU": UnitLayers(NALU, NALU, NALU),
    "NAU": UnitLayers(NAU, NAU, NAU, 0.01),
    "NMU": UnitLayers(NAU, NAU, NMU, 10.0),
    "Gated NAU/NMU": UnitLayers(GatedNAUNMU, NAU, GatedNAUNMU, 10.0),
    "iNALU": UnitLayers(INALU, NAC, INALU, clip_norm=0.1),
    "RealNPU": UnitLayers(NAU, NAU, partial(RealNPU, modified=True)),
    "NMRU": UnitLayers(NAU, NAU, NMRU, 10.0, clip_norm=1.0),
}
"""The paper's units and later ones."""

_CLIP_OVER_TIME = {"NALU": 1.0}
"""Where the gradient needs a bound in the recurrent form alone, in which it grows step by step."""

_PERCEPTRONS = {
    "Tanh": "tanh", "Sigmoid": "sigmoid", "Relu6": "relu6", "Softsign": "softsign",
    "SELU": "selu", "ELU": "elu", "ReLU": "relu", "Crelu": "crelu", "None": None,
}  # fmt: skip

_MODELS = {
    "static": {
        **{name: ArithmeticModel(name, partial(_perceptron, key))
           for name, key in _PERCEPTRONS.items()},
        **{name: ArithmeticModel(
               name, partial(_units, unit.first, unit.last), unit.penalty, unit.clip_norm)
           for name, unit in UNITS.items()},
    },
    "recurrent": {
        **{name: ArithmeticModel(name, partial(_read_out, name)) for name in get_args(CellKind)},
        **{name: ArithmeticModel(
               name, partial(_over_time, unit.adds_up, unit.last), unit.penalty,
               _CLIP_OVER_TIME.get(name, unit.clip_norm))
           for name, unit in UNITS.items()},
    },
}  # fmt: skip

STATIC_MODELS = tuple(_MODELS["static"])
"""Those of table 6 in its order, and later units."""

RECURRENT_MODELS = tuple(_MODELS["recurrent"])
"""Those of table 8 in its order, and later units."""


def arithmetic_model(form: str, name: str) -> ArithmeticModel:
    """A network of the static or the recurrent tasks.

    Args:
        form: "static" or "recurrent".
        name: one of `STATIC_MODELS` or `RECURRENT_MODELS`.

    Raises:
        ValueError: there is no such form or no network of this name.

    Source:
        Trask et al. 2018, appendix B: one hidden layer of 2, and two NALUs end to end. Penalties:
        Madsen & Johansen 2020 for NAU, NMU and their gated form; the norm that gradients are
        clipped to: Schloer et al. 2020, who clip each element, and Mistry et al. 2022; of a NALU
        over time ours, without which one spike of the gradient stops Adam for thousands of steps.

    Example:
        >>> arithmetic_model("static", "NMU").build(100)[1]
        NMU(in_features=2, out_features=1)
    """
    choose("form", [form], _MODELS)
    choose("models", [name], _MODELS[form])
    return _MODELS[form][name]

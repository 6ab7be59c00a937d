"""Units whose parameters a network sets at each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor, nn

from torchalu import functional
from torchalu.arguments import check_positive_integers
from torchalu.functional._log_space import magnitude, saturating_exp
from torchalu.functional.nmu import nmu_definition

Rows: TypeAlias = Float[Tensor, "batch _"]
Matrices: TypeAlias = Float[Tensor, "batch out in"]

_EPS = 1e-7
"""Keeps the logarithm of 0 finite, as in `functional.nac_mul`."""

_MOST = math.exp(20.0)
"""Where registers stop, as an iNALU's product does; no program comes to so much."""

_FIRST_SIZE = 0.1
"""Of the part of a parameter that depends on the LSTM, at the start."""

_NONE = (0.0, 0.0)
_NAC = ((4.0, 0.0), (4.0, 0.0))
"""Both parameters of a NAC's weight, which is 0.98 and 0; further up it has no gradient left."""


@dataclass(frozen=True)
class ConfiguredUnit:
    """A unit that takes each of its parameters anew with each row of its input.

    Attributes:
        weights: gives the weights that it computes with from its parameters, of any number of rows
            and steps at once.
        apply: gives the outputs from the rows and the weights for each.
        kept: with what an output has the value of one of the inputs: a pair for each parameter of
            shape (out, in), what it is for that input and what for all others.
        vectors: how many more parameters it has, of shape (out,).
    """

    weights: Callable[..., tuple[Tensor, ...]]
    apply: Callable[..., Float[Tensor, "batch out"]]
    kept: tuple[tuple[float, float], ...]
    vectors: int = 0

    def split(
        self, numbers: Float[Tensor, "*batch numbers"], outputs: int, inputs: int
    ) -> list[Tensor]:
        """The parameters that so many numbers are.

        Args:
            numbers: `self.size(outputs, inputs)` for each row.
            outputs: of the unit.
            inputs: of the unit.
        """
        matrices = len(self.kept)
        parts = numbers.split([outputs * inputs] * matrices + [outputs] * self.vectors, -1)
        shaped = [part.unflatten(-1, (outputs, inputs)) for part in parts[:matrices]]
        return [*shaped, *parts[matrices:]]

    def size(self, outputs: int, inputs: int) -> int:
        """How many numbers its parameters are.

        Args:
            outputs: of the unit.
            inputs: of the unit.
        """
        return (len(self.kept) * inputs + self.vectors) * outputs

    def keeping(self, registers: int) -> Float[Tensor, " numbers"]:
        """The parameters that let each register keep its value, whatever the number is.

        Args:
            registers: outputs of the unit; its inputs are the number, then the registers.

        Example:
            >>> CONFIGURED["NAU"].keeping(2)
            tensor([0., 1., 0., 0., 0., 1.])
        """
        own = torch.cat((torch.zeros(registers, 1), torch.eye(registers)), -1).flatten().bool()
        matrices = [torch.where(own, value, other) for value, other in self.kept]
        return torch.cat((*matrices, torch.zeros(registers * self.vectors)))


def _sums(x: Rows, weight: Matrices) -> Rows:
    """As `functional.nau`, with a matrix for each row."""
    return torch.bmm(x.unsqueeze(1), weight.transpose(1, 2)).squeeze(1)


def _products(x: Rows, weight: Matrices) -> Rows:
    """As `functional.nac_mul`, with a matrix for each row."""
    return saturating_exp(_sums(torch.log(magnitude(x) + _EPS), weight))


def _either(logit: Rows, added: Rows, multiplied: Rows) -> Rows:
    """What a gate lets through."""
    return torch.sigmoid(logit) * added + torch.sigmoid(-logit) * multiplied


def _nac_weight(w_hat: Tensor, m_hat: Tensor, *gate: Tensor) -> tuple[Tensor, ...]:
    return functional.nac_weight(w_hat, m_hat), *gate


def _nalu(x: Rows, weight: Matrices, gate: Matrices) -> Rows:
    return _nalu_with_gate(x, weight, _sums(x, gate))


def _nalu_with_gate(x: Rows, weight: Matrices, gate: Rows) -> Rows:
    return _either(gate, _sums(x, weight), _products(x, weight))


def _nau_weight(weight: Tensor) -> tuple[Tensor, ...]:
    return (weight.clamp(-1, 1),)


def _gated_weights(nau: Tensor, nmu: Tensor, gate: Tensor) -> tuple[Tensor, ...]:
    """With 0.5 added to the NMU's, so that near 0 it starts between its bounds, 0 and 1."""
    return nau.clamp(-1, 1), (0.5 + nmu).clamp(0, 1), gate


def _gated(x: Rows, nau_weight: Matrices, nmu_weight: Matrices, gate: Matrices) -> Rows:
    """As `functional.gated_nau_nmu`, with matrices for each row."""
    limit = torch.finfo(x.dtype).max
    product = nmu_definition(x, nmu_weight).clamp(-limit, limit)
    return _either(_sums(x, gate), _sums(x, nau_weight), product)


CONFIGURED: Mapping[str, ConfiguredUnit] = MappingProxyType(
    {
        "NALU": ConfiguredUnit(_nac_weight, _nalu, (*_NAC, _NONE)),
        "NALU,gate": ConfiguredUnit(_nac_weight, _nalu_with_gate, _NAC, 1),
        "NAC": ConfiguredUnit(_nac_weight, _sums, _NAC),
        "NAU": ConfiguredUnit(_nau_weight, _sums, ((1.0, 0.0),)),
        "GatedNAUNMU": ConfiguredUnit(_gated_weights, _gated, ((1.0, 0.0), (0.5, -0.5), _NONE)),
    }
)
"""The units that an LSTM can configure, by name."""


class Configured(nn.Module):
    r"""A recurrent unit whose parameters are functions of an LSTM's output.

    .. math:: h_t = \mathrm{LSTM}(s_t, h_{t-1}), \qquad
              m_t = \mathrm{unit}_{\theta(h_t)}([x_t; m_{t-1}]), \qquad
              \theta(h) = A h + b

    The LSTM reads the symbols :math:`s_t`, and so decides what is done; the numbers :math:`x_t`
    go through the unit alone, with m, the registers.

    Args:
        unit: one of `CONFIGURED`.
        input_size: numbers in each input of the LSTM.
        hidden_size: units of the LSTM.
        registers: size of m, which is 0 at first; the first register is the answer.
        keep: whether registers keep their values at the start.

    Shape:
        `(batch, steps, input_size)` and `(batch, steps)` to `(batch, steps, registers)`.

    Initialization:
        Of the linear layer that gives the parameters, A a tenth of torch's own start. b are the
        parameters with which each register keeps its value, of a NALU a positive one: its own
        weight is 1, of a NAC or a NALU 0.98, all others are 0, and gates are half open. Without
        `keep`, b is torch's own start.

    Raises:
        ValueError: there is no such unit, or a size is not positive.

    Source:
        Trask et al. 2018, section 4.4: the parameters of the NALU "are learned functions of the
        LSTM output at each timestep". Departures, where it says no more: linear functions; the
        unit sees the number of the step, 0 where there is none, and its own output of the step
        before. Registers stop at e^20, and what flows back through each of them at a step is cut
        to [-1, 1]: over 20 steps a product of powers overflows float32, and so does its gradient.

    Example:
        >>> network = Configured("NALU", 3, 8, registers=2)
        >>> network(torch.zeros(4, 6, 3), torch.ones(4, 6)).shape
        torch.Size([4, 6, 2])
    """

    def __init__(
        self,
        unit: str,
        input_size: int,
        hidden_size: int,
        registers: int = 4,
        *,
        keep: bool = True,
    ) -> None:
        super().__init__()
        if unit not in CONFIGURED:
            raise ValueError(f"unit is {unit!r}; choose from {', '.join(CONFIGURED)}")
        check_positive_integers(input_size=input_size, hidden_size=hidden_size, registers=registers)
        self.unit, self.registers = CONFIGURED[unit], registers
        self.shape = (registers, registers + 1)
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True)
        self.parameters_of = nn.Linear(hidden_size, self.unit.size(registers, registers + 1))
        with torch.no_grad():
            self.parameters_of.weight.mul_(_FIRST_SIZE)
            if keep:
                self.parameters_of.bias.copy_(self.unit.keeping(registers))

    def forward(
        self, input: Float[Tensor, "batch steps in"], numbers: Float[Tensor, "batch steps"]
    ) -> Float[Tensor, "batch steps registers"]:
        """Run over sequences."""
        parameters = self.unit.split(self.parameters_of(self.lstm(input)[0]), *self.shape)
        weights = (weight.unbind(1) for weight in self.unit.weights(*parameters))
        state = input.new_zeros(input.shape[0], self.registers)
        states = []
        for number, *weight in zip(numbers.unbind(1), *weights, strict=True):
            seen = torch.cat((number.unsqueeze(-1), state), -1)
            state = _bounded(self.unit.apply(seen, *weight))
            states.append(state)
        return torch.stack(states, 1)


def _bounded(state: Float[Tensor, "batch registers"]) -> Float[Tensor, "batch registers"]:
    """Registers that neither overflow nor let a gradient do so."""
    state = state.nan_to_num(0.0).clamp(-_MOST, _MOST)
    if state.requires_grad:
        state.register_hook(lambda grad: grad.nan_to_num(0.0).clamp(-1, 1))
    return state

"""The differentiable neural computer: an LSTM that writes to a memory and reads from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from torchalu.arguments import check_positive_integers
from torchalu.experiments.trask2018.dnc_memory import Memory, Wishes, read, write

Row = Float[Tensor, "batch _"]


class DNCState(NamedTuple):
    """What a DNC carries from step to step.

    Attributes:
        hidden: output of the controller's LSTM.
        cell: its cell state.
        memory: the memory and where it was written and read.
    """

    hidden: Float[Tensor, "batch hidden"]
    cell: Float[Tensor, "batch hidden"]
    memory: Memory


class DNC(nn.Module):
    r"""Differentiable neural computer.

    .. math:: h_t = \mathrm{LSTM}([x_t; r_{t-1}], h_{t-1}), \qquad \xi_t = W_\xi h_t + b_\xi,
              \qquad y_t = [h_t; r_t]

    :math:`\xi_t` says what to write and where to read: by content, in the order of writing,
    forward or backward, or to where nothing is used. :math:`r_t` are the vectors read.

    Args:
        input_size: numbers in each input.
        hidden_size: units of the controller.
        rows: places of the memory.
        width: numbers in each place.
        heads: that read.

    Shape:
        `(batch, steps, input_size)` to `(batch, steps, output_size)`, or a `PackedSequence` of
        such inputs to one of outputs: a sequence that has ended takes no more time.

    Raises:
        ValueError: a size is not positive.

    Source:
        Graves et al. 2016, Hybrid computing using a neural network with dynamic external memory,
        methods. Departures: a controller of one layer; what the memory's operations depart in;
        :math:`y_t` is left to the layer that follows, which has a bias.

    Example:
        >>> network = DNC(3, 8, rows=5, width=4, heads=2)
        >>> network(torch.zeros(2, 6, 3)).shape
        torch.Size([2, 6, 16])
    """

    def __init__(
        self, input_size: int, hidden_size: int, *, rows: int = 16, width: int = 16, heads: int = 4
    ) -> None:
        super().__init__()
        check_positive_integers(
            input_size=input_size, hidden_size=hidden_size, rows=rows, width=width, heads=heads
        )
        self.hidden_size, self.rows, self.width, self.heads = hidden_size, rows, width, heads
        self.output_size = hidden_size + heads * width
        self.controller = nn.LSTMCell(input_size + heads * width, hidden_size)
        self.parts = [heads * width, heads, width, 1, width, width, heads, 1, 1, 3 * heads]
        self.interface = nn.Linear(hidden_size, sum(self.parts))

    def initial_state(self, input: Float[Tensor, "batch in"]) -> DNCState:
        """An empty memory that has not been read.

        Args:
            input: of the first step; settles the size of the batch, the dtype and the device.
        """
        batch = input.shape[0]
        hidden = input.new_zeros(batch, self.hidden_size)
        places = input.new_zeros(batch, self.rows)
        memory = Memory(
            content=input.new_zeros(batch, self.rows, self.width),
            usage=places,
            written=places,
            precedence=places,
            links=input.new_zeros(batch, self.rows, self.rows),
            read=input.new_zeros(batch, self.heads, self.rows),
        )
        return DNCState(hidden, hidden, memory)

    def forward(
        self, input: Float[Tensor, "batch steps in"] | PackedSequence
    ) -> Float[Tensor, "batch steps out"] | PackedSequence:
        """Run over sequences from an empty memory."""
        if not isinstance(input, PackedSequence):
            return torch.stack(self._run(input.unbind(1)), 1)
        outputs = self._run(input.data.split(input.batch_sizes.tolist()))
        return input._replace(data=torch.cat(outputs))

    def _run(self, steps: Sequence[Row]) -> list[Row]:
        """The outputs of steps, of which none has more rows than the one before."""
        state = self.initial_state(steps[0])
        vectors = steps[0].new_zeros(steps[0].shape[0], self.heads * self.width)
        outputs = []
        for step in steps:
            if len(step) < len(vectors):
                state, vectors = _first(state, len(step)), vectors[: len(step)]
            state, vectors = self.step(step, state, vectors)
            outputs.append(torch.cat((state.hidden, vectors), -1))
        return outputs

    def step(self, input: Row, state: DNCState, vectors: Row) -> tuple[DNCState, Row]:
        """One step: control, write, then read.

        Args:
            input: of the step.
            state: before it.
            vectors: read at the step before, head after head.
        """
        before = state.hidden, state.cell
        hidden, cell = self.controller(torch.cat((input, vectors), -1), before)
        wishes = self.wishes(hidden)
        memory = read(wishes, write(wishes, state.memory))
        return DNCState(hidden, cell, memory), (memory.read @ memory.content).flatten(1)

    def wishes(self, hidden: Float[Tensor, "batch hidden"]) -> Wishes:
        """What the controller asks of the memory.

        Args:
            hidden: output of the controller.
        """
        parts = self.interface(hidden).split(self.parts, -1)
        keys, strengths, key, strength, erase, vector, free, allocation, gate, modes = parts
        return Wishes(
            read_keys=keys.unflatten(-1, (self.heads, self.width)),
            read_strengths=_one_plus(strengths),
            write_key=key.unsqueeze(1),
            write_strength=_one_plus(strength),
            erase=torch.sigmoid(erase),
            vector=vector,
            free=torch.sigmoid(free),
            allocation_gate=torch.sigmoid(allocation),
            write_gate=torch.sigmoid(gate),
            modes=modes.unflatten(-1, (self.heads, 3)).softmax(-1),
        )


def _first(state: DNCState, rows: int) -> DNCState:
    """The state of the first rows."""
    memory = Memory(*(part[:rows] for part in state.memory))
    return DNCState(state.hidden[:rows], state.cell[:rows], memory)


def _one_plus(strength: Row) -> Row:
    """Strengths, 1 at least."""
    return 1 + nn.functional.softplus(strength)

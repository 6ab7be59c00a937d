"""The baseline LSTM+A: an encoder and a decoder of LSTM cells, with attention."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from torchalu.arguments import check_positive_integers
from torchalu.experiments.kaiser2016.answering import AnsweringNetwork


class Reading(NamedTuple):
    """What the decoder works from.

    Attributes:
        memory: the last layer's outputs along the string.
        keys: these, times the attention's matrix.
        mask: where there is a symbol.
        hidden: outputs of each of the decoder's cells.
        cells: their memories.
        context: what attention answered with last.
    """

    memory: Float[Tensor, "batch length size"]
    keys: Float[Tensor, "batch length size"]
    mask: Bool[Tensor, "batch length"]
    hidden: tuple[Float[Tensor, "batch size"], ...]
    cells: tuple[Float[Tensor, "batch size"], ...]
    context: Float[Tensor, "batch size"]


class LSTMAttention(AnsweringNetwork):
    r"""LSTM+A: a sequence-to-sequence LSTM whose decoder attends to the encoder's outputs.

    .. math:: u_i^t = v^\top \tanh(W_1 h_i + W_2 d_t), \qquad
              a^t = \operatorname{softmax}(u^t), \qquad c_t = \sum_i a_i^t h_i

    with the encoder's outputs h and the decoder's d. The decoder starts with the encoder's final
    states, reads the symbol before and what attention answered before, and predicts from d and c.

    Args:
        num_symbols: how many there are, padding counted.
        size: of the cells, the embedding and the attention.
        layers: of encoder and decoder each.

    Shape:
        - Input: (batch, length) symbols
        - Output: (batch, length, num_symbols) logits

    Raises:
        ValueError: a count that is not positive.

    Source:
        Vinyals, Kaiser et al. 2015, section 2, with the sizes of Kaiser & Sutskever 2016, section
        3.1: 3 layers of 64. Departure: strings are not reversed.

    Example:
        >>> network = LSTMAttention(4)
        >>> sum(parameter.numel() for parameter in network.parameters())
        225156
        >>> network(torch.tensor([[1, 3, 2, 0]])).shape
        torch.Size([1, 4, 4])
    """

    def __init__(self, num_symbols: int, size: int = 64, layers: int = 3) -> None:
        super().__init__(num_symbols)
        check_positive_integers(size=size, layers=layers)
        self.embedding = nn.Embedding(num_symbols + 1, size)
        self.encoder = nn.LSTM(size, size, layers, batch_first=True)
        inputs = (2 * size, *[size] * (layers - 1))
        self.decoder = nn.ModuleList(nn.LSTMCell(width, size) for width in inputs)
        self.key = nn.Linear(size, size, bias=False)
        self.query = nn.Linear(size, size, bias=False)
        self.score = nn.Linear(size, 1, bias=False)
        self.output = nn.Linear(2 * size, num_symbols)

    def read(
        self, symbols: Int64[Tensor, "batch length"], lengths: Int64[Tensor, " batch"]
    ) -> Reading:
        """Encode the strings, each up to its own end.

        Args:
            symbols: of the strings, 0 beyond the end of each.
            lengths: of the strings.
        """
        length = symbols.shape[1]
        packed = pack_padded_sequence(
            self.embedding(symbols), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        outputs, (hidden, cells) = self.encoder(packed)
        memory, _ = pad_packed_sequence(outputs, batch_first=True, total_length=length)
        mask = torch.arange(length, device=symbols.device) < lengths[:, None]
        context = torch.zeros_like(hidden[0])
        return Reading(memory, self.key(memory), mask, hidden.unbind(0), cells.unbind(0), context)

    def answer(
        self, state: Reading, previous: Int64[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch symbols"], Reading]:
        """One step of the decoder.

        Args:
            state: what `read` or the step before gave.
            previous: the symbol of the step before, `num_symbols` at first.
        """
        inputs = torch.cat([self.embedding(previous), state.context], -1)
        hidden, cells = [], []
        for cell, *before in zip(self.decoder, state.hidden, state.cells, strict=True):
            inputs, kept = cell(inputs, tuple(before))
            hidden.append(inputs)
            cells.append(kept)
        context = self.attend(state, inputs)
        logits = self.output(torch.cat([inputs, context], -1))
        return logits, state._replace(hidden=tuple(hidden), cells=tuple(cells), context=context)

    def attend(
        self, state: Reading, query: Float[Tensor, "batch size"]
    ) -> Float[Tensor, "batch size"]:
        """The mean of what was read, weighted by how well it matches.

        Args:
            state: what `read` gave.
            query: the output of the decoder's last cell.
        """
        scores = self.score(torch.tanh(state.keys + self.query(query)[:, None])).squeeze(-1)
        weights = scores.masked_fill(~state.mask, -torch.inf).softmax(-1)
        return torch.einsum("bl,bls->bs", weights, state.memory)

"""The networks that read a program, symbol by symbol, and say what it comes to."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from torchalu.experiments.setting import choose
from torchalu.experiments.trask2018.configured import CONFIGURED, Configured
from torchalu.experiments.trask2018.dnc import DNC
from torchalu.experiments.trask2018.ugrnn import UGRNN
from torchalu.tasks import PROGRAM_SYMBOLS, ProgramBatch

_SMALL = 0.01
"""Factor of the numbers that a recurrent network reads, so that [0, 100) becomes [0, 1)."""

_RECURRENT = ("LSTM", "UGRNN", "DNC")

MODELS = (*_RECURRENT, *CONFIGURED)
"""The networks by name: those of the paper's figures, then units that an LSTM configures."""


class ProgramNetwork(nn.Module):
    """A network that reads programs and answers with a number.

    LSTM, UGRNN and DNC read a symbol and its number, and a linear layer answers. The others are
    units that an LSTM configures.

    Args:
        model: one of `MODELS`.
        hidden_size: of the recurrent network, of the DNC's controller, or of the LSTM that
            configures.
        sees_numbers: whether the LSTM that configures reads the numbers, too.
        registers: of a configured unit.
        keep_registers: whether they keep their values at the start.

    Raises:
        ValueError: there is no such model, or a size is not positive.

    Source:
        Trask et al. 2018, section 4.4. Departures, where it says no more: symbols are one-hot;
        recurrent networks read a hundredth of a number, and a configured unit the number itself.

    Example:
        >>> from torchalu.tasks import encode_programs
        >>> batch = encode_programs([("(", 12, "+", 30, ")"), (7,)])
        >>> ProgramNetwork("UGRNN", 8)(batch).shape
        torch.Size([2, 1])
    """

    def __init__(
        self,
        model: str,
        hidden_size: int,
        *,
        sees_numbers: bool = False,
        registers: int = 4,
        keep_registers: bool = True,
    ) -> None:
        super().__init__()
        choose("model", [model], MODELS)
        self.sees_numbers = sees_numbers or model in _RECURRENT
        size = len(PROGRAM_SYMBOLS) - 1 + self.sees_numbers
        if model in _RECURRENT:
            self.core = _recurrent(model, size, hidden_size)
            self.answer = nn.Linear(getattr(self.core, "output_size", hidden_size), 1)
        else:
            self.core = Configured(model, size, hidden_size, registers, keep=keep_registers)
            self.answer = None

    def forward(self, batch: ProgramBatch) -> Float[Tensor, "programs 1"]:
        """What each program comes to."""
        programs = torch.arange(len(batch.lengths), device=batch.lengths.device)
        return self.after_each_symbol(batch)[programs, batch.lengths - 1]

    def after_each_symbol(self, batch: ProgramBatch) -> Float[Tensor, "programs longest 1"]:
        """The answer after each symbol.

        Args:
            batch: programs; what comes after the end of one means nothing.
        """
        dtype = next(self.parameters()).dtype
        symbols = nn.functional.one_hot(batch.symbols, len(PROGRAM_SYMBOLS))[..., 1:].to(dtype)
        values = batch.values.to(dtype)
        if self.sees_numbers:
            symbols = torch.cat((symbols, _SMALL * values.unsqueeze(-1)), -1)
        if self.answer is None:
            return self.core(symbols, values)[..., :1]
        if isinstance(self.core, DNC) and symbols.device.type == "cpu":  # a GPU would wait for it
            outputs = _unless_ended(self.core, symbols, batch.lengths)
        else:
            outputs = self.core(symbols)
        return self.answer(outputs[0] if isinstance(outputs, tuple) else outputs)


def _unless_ended(
    core: DNC, symbols: Float[Tensor, "programs longest in"], lengths: Int64[Tensor, " programs"]
) -> Float[Tensor, "programs longest out"]:
    """The outputs after the symbols of each program, and 0 after its end."""
    packed = pack_padded_sequence(symbols, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(core(packed), batch_first=True, total_length=symbols.shape[1])[0]


def _recurrent(model: str, input_size: int, hidden_size: int) -> nn.Module:
    """The network that goes over the symbols."""
    match model:
        case "LSTM":
            return nn.LSTM(input_size, hidden_size, batch_first=True)
        case "UGRNN":
            return UGRNN(input_size, hidden_size)
        case _:
            return DNC(input_size, hidden_size)

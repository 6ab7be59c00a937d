"""Checks of batches of symbols and of the numbers that go with them."""

import torch
from torch import Tensor

from torchalu.functional._states import check_range


def check_symbols(symbols: Tensor, num_symbols: int) -> None:
    """Refuse what is no batch of sequences of the alphabet.

    Args:
        symbols: numbers of symbols, (batch, length).
        num_symbols: size of the alphabet, padding included.

    Raises:
        TypeError: `symbols` are no int64 numbers.
        ValueError: `symbols` has another shape or no positions, or a number is out of range; the
            last is a RuntimeError in a compiled graph.
    """
    if symbols.dtype != torch.int64:
        raise TypeError(f"symbols is {symbols.dtype}; convert the numbers with .long()")
    if symbols.ndim != 2 or symbols.shape[1] == 0:
        raise ValueError(
            f"symbols has shape {tuple(symbols.shape)}; give (batch, length), a length of 1 or more"
        )
    check_range("symbols", symbols, 0, num_symbols - 1)


def check_counts(
    name: str, counts: Tensor, symbols: Tensor, least: int, most: int | None = None
) -> None:
    """Refuse what is not one number in a range for each sequence.

    Args:
        name: what the caller calls `counts`.
        counts: lengths or numbers of steps, (batch,).
        symbols: the batch.
        least: smallest number allowed.
        most: greatest number allowed, if there is one.

    Raises:
        TypeError: `counts` are no int64 numbers.
        ValueError: `counts` has another shape, or a number is out of range; the last is a
            RuntimeError in a compiled graph.
    """
    if counts.dtype != torch.int64:
        raise TypeError(f"{name} is {counts.dtype}; convert the numbers with .long()")
    if counts.shape != symbols.shape[:1]:
        raise ValueError(
            f"{name} has shape {tuple(counts.shape)}; give one number for each of the "
            f"{len(symbols)} sequences: ({len(symbols)},)"
        )
    check_range(name, counts, least, most)

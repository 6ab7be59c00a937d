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
        TypeError: `symbols` is no tensor of int64 numbers.
        ValueError: `symbols` has another shape or no positions, or a number is out of range; the
            last is a RuntimeError in a compiled graph.
    """
    _check_integers("symbols", symbols)
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
        TypeError: `counts` is no tensor of int64 numbers.
        ValueError: `counts` has another shape, or a number is out of range; the last is a
            RuntimeError in a compiled graph.
    """
    _check_integers(name, counts)
    if counts.shape != symbols.shape[:1]:
        raise ValueError(
            f"{name} has shape {tuple(counts.shape)}; give one number for each of the "
            f"{len(symbols)} sequences: ({len(symbols)},)"
        )
    check_range(name, counts, least, most)


def _check_integers(name: str, numbers: Tensor) -> None:
    """Raises unless it is a tensor of int64 numbers."""
    if not isinstance(numbers, Tensor):
        raise TypeError(f"{name} is a {type(numbers).__name__}; give a tensor of int64 numbers")
    if numbers.dtype != torch.int64:
        raise TypeError(f"{name} is {numbers.dtype}; convert the numbers with .long()")

"""Where a Neural GPU keeps what it has read and worked out."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from torchalu.nn import NeuralGPUBase

_CONSTANT = 1e-9  # of the variance of a state, below which there is no correlation
_ROUNDING = 1e-24  # likewise of a signal, of any size, as a part of its mean square


def signal_correlations(
    module: NeuralGPUBase,
    symbols: Int64[Tensor, "batch length"],
    signals: Float[Tensor, "batch signals"],
) -> Iterator[Float[Tensor, "length width maps signals"]]:
    r"""Pearson's correlation of each number of the state with signals of the strings.

    .. math:: r_{xyms} = \frac{\sum_b (s_{bxym} - \bar s_{xym}) (g_{bs} - \bar g_s)}
              {\sqrt{\sum_b (s_{bxym} - \bar s_{xym})^2 \sum_b (g_{bs} - \bar g_s)^2}}

    A number whose correlation with a signal is 1 or -1 says what the signal is.

    Args:
        module: whose states are looked at.
        symbols: the strings, all of one length.
        signals: what may be kept, such as a digit or a carry; one number a string.

    Yields:
        The correlations before the first step, after it, and so on; 0 where a number or a signal
        is the same for all strings.

    Raises:
        ValueError: there are fewer than two strings, or not as many of both.

    Example:
        >>> from torchalu.nn import DiagonalNeuralGPU
        >>> module = DiagonalNeuralGPU(3, maps=3, generator=torch.Generator().manual_seed(0))
        >>> symbols = torch.tensor([[1, 2], [2, 2], [1, 1], [2, 1]])
        >>> first = next(signal_correlations(module, symbols, symbols[:, :1].double()))
        >>> first.abs().amax((1, 2, 3)).tolist()
        [1.0, 0.0]
    """
    if len(symbols) < 2 or len(symbols) != len(signals):
        raise ValueError(
            f"symbols has {len(symbols)} strings and signals {len(signals)}; give two or more, and "
            "as many of both"
        )
    wanted = signals.double()
    given = _standard(wanted, _ROUNDING * wanted.square().mean(0))
    for state in module.states(symbols):
        flat = _standard(state.double().flatten(1), _CONSTANT)
        found = (flat.T @ given).clamp(-1, 1)  # rounding may go beyond
        yield found.reshape(*state.shape[1:], signals.shape[1])


def _standard(
    columns: Float[Tensor, "batch columns"], least: Float[Tensor, " columns"] | float
) -> Float[Tensor, "batch columns"]:
    """Columns with mean 0 and length 1, or 0 where their variance is not above the least."""
    centered = columns - columns.mean(0)
    squares = centered.square().sum(0)
    there = squares > least * len(columns)
    return centered * torch.where(there, squares, 1.0).rsqrt() * there

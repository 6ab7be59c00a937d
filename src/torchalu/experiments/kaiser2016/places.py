"""The places of digits in their numbers, and what their embeddings start as."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int64
from torch import Tensor


def waves(count: int, size: int) -> Float[Tensor, "count size"]:
    r"""Sines and cosines along a circle of places.

    .. math:: \sin \frac{2 \pi k p}{n}, \quad \cos \frac{2 \pi k p}{n}

    with whole k, spread evenly from 1 to n / 2. Different places are nearly orthogonal, and to go
    on by one is the same rotation everywhere, which has to be learned but once.

    Args:
        count: n, the number of places.
        size: values of each.

    Source:
        After Vaswani et al. 2017, section 3.5; here wavelengths divide the circle.

    Example:
        >>> waves(4, 2).round().abs()
        tensor([[0., 1.],
                [1., 0.],
                [0., 1.],
                [1., 0.]])
    """
    turns = torch.linspace(1, max((count - 1) // 2, 1), -(-size // 2)).round()
    angles = 2 * math.pi * torch.arange(count)[:, None] * turns / count
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :size]


def places_in_numbers(
    symbols: Int64[Tensor, "batch length"], separators: Int64[Tensor, " separators"]
) -> Int64[Tensor, "batch length"]:
    """The place of each digit in its number, from 1; 0 for separators and padding.

    Args:
        symbols: of strings, 0 for padding.
        separators: symbols that are no digits.

    Source:
        McLeish et al. 2024, section 3.

    Example:
        >>> places_in_numbers(torch.tensor([[1, 2, 2, 3, 1, 0]]), torch.tensor([3]))
        tensor([[1, 2, 3, 0, 1, 0]])
    """
    digits = (symbols != 0) & ~torch.isin(symbols, separators)
    count = digits.cumsum(1)
    before = torch.where(digits, 0, count).cummax(1).values
    return torch.where(digits, count - before, 0)

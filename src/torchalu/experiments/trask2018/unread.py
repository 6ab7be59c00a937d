"""How far an answer is off that reads no image: what any reading of digits is to be better than."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

_CHANCES: dict[str, tuple[float, ...]] = {
    "count": (0.9, 0.1),
    "sum": (0.1,) * 10,
    "product": (0.0, *(1 / 9,) * 9),
}
"""Of each number that an image adds to the answer, or multiplies it by."""


class Unread(NamedTuple):
    """The errors of an answer that is always the targets' mean.

    Attributes:
        mae: mean absolute error.
        mse: mean square error.
    """

    mae: float
    mse: float


@lru_cache
def unread(operation: str, length: int) -> Unread:
    r"""The errors of an answer that takes the mean digit for each image, and reads none.

    .. math:: \mathrm{E}\,|t - \mathrm{E}\,t|, \qquad \mathrm{E}\,(t - \mathrm{E}\,t)^2

    of the target t of a series, over all series of digits of equal chances.

    Args:
        operation: "count", of one digit, "sum", or "product", of digits from 1 to 9.
        length: digits in a series.

    Source:
        Ours. MNIST's digits are not quite equally frequent, and a test series has no image twice.

    Example:
        >>> reads_nothing = unread("sum", 1)
        >>> round(reads_nothing.mae, 9), round(reads_nothing.mse, 9)
        (2.5, 8.25)
        >>> round(unread("sum", 1000).mae, 1), round(unread("count", 1000).mae, 2)
        (72.5, 7.56)
    """
    chances = np.array(_CHANCES[operation])
    targets, weights = np.array([float(operation == "product")]), np.ones(1)
    for _ in range(length):
        if operation == "product":
            each = np.multiply.outer(targets, np.arange(len(chances)))
            targets, place = np.unique(each, return_inverse=True)
            weights = np.bincount(place.ravel(), np.multiply.outer(weights, chances).ravel())
        else:
            weights = np.convolve(weights, chances)
            targets = np.arange(len(weights))
    away = targets - weights @ targets
    return Unread(float(weights @ np.abs(away)), float(weights @ away**2))

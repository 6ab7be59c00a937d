"""How many digits of a number are right."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike


def matching_digits(predictions: ArrayLike, targets: ArrayLike) -> Float[np.ndarray, " numbers"]:
    """The part of the digits that rounded predictions share with their targets, number by number.

    Both are written as decimal integers, one above the other with the units aligned; a minus sign
    counts as one more place, before all digits, where either has one. A place that only one of
    them fills does not match. A prediction that is not finite matches nothing.

    Args:
        predictions: of a model, any real numbers.
        targets: integers, as many.

    Returns:
        Numbers from 0 to 1; their mean is the measure of the paper, 100 of which are percent.

    Raises:
        ValueError: the shapes differ, or a target is no integer.

    Source:
        Trask et al. 2018, section 4.4, after Zaremba & Sutskever 2014. Departure: how numbers
        of different lengths are compared is not stated there; the above is ours.

    Example:
        >>> matching_digits([514.6, 15.0, -7.2], [515, 515, 7]).round(3).tolist()
        [1.0, 0.667, 0.5]
    """
    guesses, truths = np.ravel(predictions), np.ravel(targets)
    if np.shape(predictions) != np.shape(targets):
        raise ValueError(
            f"predictions has shape {np.shape(predictions)} and targets {np.shape(targets)}; "
            "give as many predictions as targets"
        )
    whole = [isinstance(truth, int) or _is_whole(truth) for truth in truths.tolist()]
    if not all(whole):
        raise ValueError(
            f"targets holds {truths[whole.index(False)]}, which is no integer; round the targets"
        )
    if guesses.dtype.kind not in "fiubO":
        raise ValueError(f"predictions has the dtype {guesses.dtype}; give real numbers")
    return np.array(
        [
            _share(guess, round(truth))
            for guess, truth in zip(guesses.tolist(), truths.tolist(), strict=True)
        ],
        dtype=np.float64,
    )


def _is_whole(number: object) -> bool:
    """Whether a number that is no `int` is an integer."""
    return isinstance(number, float) and number.is_integer()


def _share(guess: float, truth: int) -> float:
    """The part of the places in which two numbers agree."""
    if not math.isfinite(guess):
        return 0.0
    number = round(guess)
    pairs = _pairs(str(abs(number)), str(abs(truth)))
    if number < 0 or truth < 0:
        pairs.append(("-" * (number < 0), "-" * (truth < 0)))
    return sum(one == other for one, other in pairs) / len(pairs)


def _pairs(one: Sequence[str], other: Sequence[str]) -> list[tuple[str, str]]:
    """Digits above each other, from the units on; nothing where there is no digit."""
    width = max(len(one), len(other))
    one, other = ([*reversed(digits), *[""] * (width - len(digits))] for digits in (one, other))
    return list(zip(one, other, strict=True))

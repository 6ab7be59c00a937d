"""What settles a run of the general training loop, apart from module and data."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchalu.arguments import (
    check_from_zero,
    check_integers_from_zero,
    check_positive,
    check_positive_integers,
)

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class TrainingConfiguration:
    """The numbers that `fit` goes by; steps are optimizer steps throughout.

    Args:
        steps: how many to take.
        learning_rate: of the optimizer, before the schedule.
        penalty: the factor of the units' penalties once the ramp is over.
        penalty_start: the step up to which the factor is 0.
        penalty_end: the step from which on it is `penalty`.
        clip_norm: the gradient is scaled down to this norm where its own is greater.
        evaluate_every: steps from one evaluation to the next; one always follows the last step.
        checkpoint_every: steps from one checkpoint to the next, if a folder is given.
        seed: of all random numbers that the loop, the sampling and the module draw.

    Raises:
        TypeError: a number of steps or the seed is no integer, or another is no number.
        ValueError: a number is out of its range.

    Source:
        Madsen & Johansen 2020, section 2.7, equation 14, for the penalty and its ramp.

    Example:
        >>> TrainingConfiguration(steps=100).learning_rate
        0.001
        >>> TrainingConfiguration(steps=0)
        Traceback (most recent call last):
        ValueError: steps is 0; give a positive integer
    """

    steps: int
    learning_rate: float = 1e-3
    penalty: float = 0.0
    penalty_start: float = 0.0
    penalty_end: float = 1.0
    clip_norm: float = math.inf
    evaluate_every: int = 1000
    checkpoint_every: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive_integers(
            steps=self.steps,
            evaluate_every=self.evaluate_every,
            checkpoint_every=self.checkpoint_every,
        )
        check_positive(learning_rate=self.learning_rate)
        if self.clip_norm != math.inf:
            check_positive(clip_norm=self.clip_norm)
        check_from_zero(penalty=self.penalty)
        check_integers_from_zero(seed=self.seed)
        if not self.penalty_start < self.penalty_end:
            raise ValueError(
                f"penalty_start is {self.penalty_start} and penalty_end {self.penalty_end}; the "
                "ramp has to end after it starts"
            )

    def to_json(self) -> dict[str, Any]:
        """The fields, with infinity as text, since JSON has no number for it.

        Example:
            >>> TrainingConfiguration(steps=100).to_json()["clip_norm"]
            'inf'
        """
        return {name: plain(value) for name, value in dataclasses.asdict(self).items()}


def plain(value: Any) -> Any:
    """What settles a number, a word or a collection of them, as JSON can say it.

    Of a tensor or an array a hash of its numbers stands for them, of all else what `repr` says, but
    for where an object lies in memory, which is another place in each process.

    Args:
        value: a field, or a setting of a hook or of an optimizer.

    Example:
        >>> plain((1, 0.5, math.inf))
        [1, 0.5, 'inf']
    """
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(one) for one in value), key=repr)
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, Tensor):
        numbers = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
        return [str(value.dtype), list(value.shape), _digest(numbers)]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), _digest(value)]
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _ADDRESS.sub("", repr(value))


def _digest(numbers: np.ndarray) -> str:
    """The first digits of a hash of all numbers, in C order."""
    return hashlib.sha256(numbers.tobytes()).hexdigest()[:16]

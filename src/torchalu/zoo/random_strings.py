"""The random strings that learned algorithms are tested on."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from torchalu.tasks import AlgorithmicTask, CarryTask

_TEST_STRINGS = 0x7E57
"""Marks the random stream of test strings; training and validation draw from others."""


def drawn_by(length: int, seed: int) -> tuple[int, ...]:
    """The numbers that seed the generator of test strings.

    Args:
        length: of the strings, as the task counts it.
        seed: of a measurement.
    """
    return _TEST_STRINGS, int(seed), int(length)


def draw(task: AlgorithmicTask, length: int, count: int, numbers: Sequence[int]) -> list[str]:
    """Random strings of a task.

    Args:
        task: which draws them.
        length: of each.
        count: how many; of a task from a file there may be fewer.
        numbers: that seed the generator, as of `drawn_by`.
    """
    return task.sample_tests(length, count, np.random.default_rng(numbers))


def uniform(task: AlgorithmicTask) -> AlgorithmicTask:
    """The task without a share of inputs that have long carries, or seem to.

    Args:
        task: any.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> uniform(algorithm("badd", long_carries=0.5)) == algorithm("badd")
        True
    """
    if not isinstance(task, CarryTask):
        return task
    return dataclasses.replace(task, long_carries=0.0, absent_carries=0.0)

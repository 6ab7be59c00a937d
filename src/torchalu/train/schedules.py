"""Schedules: the factor of the learning rate as a function of the step alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

Schedule: TypeAlias = Callable[[int], float]


def cosine(steps: int, warmup: int = 0, end: float = 0.0) -> Schedule:
    r"""Rises in a straight line to 1 in `warmup` steps, then falls to `end` as a cosine does.

    .. math:: f(t) = \frac{t + 1}{t_w + 1} \text{ for } t < t_w, \qquad
              e + \frac{1 - e}{2} \Bigl(1 + \cos \pi \frac{t - t_w}{T - t_w}\Bigr) \text{ after}

    Args:
        steps: T, the number of the step at which the factor is `end`, as it is after it.
        warmup: t_w.
        end: e.

    Raises:
        ValueError: not 0 <= warmup < steps, or `end` is not in [0, 1].

    Example:
        >>> factor = cosine(100, warmup=20)
        >>> [round(factor(step), 3) for step in (0, 20, 60, 100)]
        [0.048, 1.0, 0.5, 0.0]
    """
    if not 0 <= warmup < steps:
        raise ValueError(f"warmup is {warmup} and steps {steps}; give 0 <= warmup < steps")
    if not 0 <= end <= 1:
        raise ValueError(f"end is {end}; give a number from 0 to 1")

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / (warmup + 1)
        passed = min((step - warmup) / (steps - warmup), 1.0)
        return end + (1 - end) / 2 * (1 + math.cos(math.pi * passed))

    return factor


def staircase(every: int, factor: float) -> Schedule:
    r"""Multiplies by a factor every so many steps.

    .. math:: f(t) = \gamma^{\lfloor t / n \rfloor}

    Args:
        every: n, a positive number of steps.
        factor: gamma, positive.

    Raises:
        ValueError: an argument is not positive.

    Example:
        >>> [staircase(10, 0.5)(step) for step in (0, 9, 10, 25)]
        [1.0, 1.0, 0.5, 0.25]
    """
    for name, value in (("every", every), ("factor", factor)):
        if not value > 0:
            raise ValueError(f"{name} is {value}; give a positive number")
    return lambda step: factor ** (step // every)

"""When one unit alone counts as having solved its task."""

from __future__ import annotations

import numpy as np

from torchalu.tasks import SimpleFunction, intervals
from torchalu.tasks.simple_function import SamplingRange


def nearly_perfect_unit_loss(task: SimpleFunction, eps: float = 1e-5) -> float:
    r"""Mean squared error on the extrapolation range if both operands are off by a part eps.

    .. math:: \epsilon^2 \, \mathrm{E}\Bigl[\Bigl(\Bigl|a \frac{\partial t}{\partial a}\Bigr| +
              \Bigl|b \frac{\partial t}{\partial b}\Bigr|\Bigr)^2\Bigr] = \begin{cases}
              \epsilon^2 \, \mathrm{E}[(|a| + |b|)^2] & t = a \pm b \\
              4 \epsilon^2 \, \mathrm{E}[t^2] & t = ab, \; a / b \end{cases}

    Args:
        task: two inputs of it are the operands of "add", "sub", "mul" or "div".
        eps: the relative error of an operand, towards the side where the two errors add up.

    Raises:
        ValueError: another operation, operands that are sums or one and the same, or a division
            by what may be 0.

    Source:
        For one unit, in place of the criterion for two layers of Madsen & Johansen 2020, equation
        16: that one asks for an error of exactly 0 where two inputs are added, since the errors
        of its first layer cancel there.

    Example:
        >>> task = SimpleFunction("mul", in_features=2, subsets=((0,), (1,)))
        >>> round(nearly_perfect_unit_loss(task) / 1e-10, 2)  # 4 times the square of 52/3
        1201.78
    """
    if task.operation not in ("add", "sub", "mul", "div"):
        raise ValueError(f"operation is {task.operation!r}; give add, sub, mul or div")
    if task.subsets is None or any(len(subset) != 1 for subset in task.subsets):
        raise ValueError(f"subsets is {task.subsets!r}; give two subsets of one input each")
    if tuple(task.subsets[0]) == tuple(task.subsets[1]):
        raise ValueError(f"subsets is {task.subsets!r}; give two different inputs")
    parts = intervals(task.extrapolation_range)
    square = float(np.mean([(low**2 + low * high + high**2) / 3 for low, high in parts]))
    if task.operation in ("add", "sub"):
        size = float(np.mean([_mean_size(low, high) for low, high in parts]))
        return eps**2 * (2 * square + 2 * size**2)
    if task.operation == "mul":
        return 4 * eps**2 * square**2
    if any(low <= 0 <= high for low, high in parts):
        raise ValueError(
            f"extrapolation_range is {task.extrapolation_range!r}; a division needs one without 0"
        )
    return 4 * eps**2 * square * float(np.mean([1 / (low * high) for low, high in parts]))


def _mean_size(low: float, high: float) -> float:
    """The mean magnitude of a uniform number."""
    if low < 0 < high:
        return (low**2 + high**2) / (2 * (high - low))
    return abs(low + high) / 2


def draw(
    task: SimpleFunction, sampling_range: SamplingRange, rows: int, generator: np.random.Generator
) -> np.ndarray:
    """Rows of inputs on a range, (rows, in_features), in float64.

    Args:
        task: says how many inputs there are.
        sampling_range: one interval, or two of which each element takes one.
        rows: how many.
        generator: where the random numbers come from.

    Example:
        >>> draw(SimpleFunction("add"), (1.0, 2.0), 3, np.random.default_rng(0)).shape
        (3, 100)
    """
    parts = intervals(sampling_range)
    size = (rows, task.in_features)
    sides = [generator.uniform(low, high, size) for low, high in parts]
    return np.where(generator.random(size) < 0.5, sides[0], sides[-1])

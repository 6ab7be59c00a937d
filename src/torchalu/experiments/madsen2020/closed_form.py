"""What least squares and rounding make of the single-module task, without a unit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from torchalu.experiments.madsen2020.unit_criterion import draw, nearly_perfect_unit_loss
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import SamplingRange

ROWS = 400
"""Rows of the interpolation range that a closed form sees."""


def linear(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Least squares in x, its coefficients rounded.

    Args:
        x: inputs, (rows, features).
        y: targets.

    Returns:
        The coefficients, and the function that they make.

    Example:
        >>> linear(np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([1.01, 1.01]))[0]
        array([ 1., -1.])
    """
    weight = np.round(np.linalg.lstsq(x, y)[0]) + 0.0
    return weight, lambda rows: rows @ weight


def power(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Least squares in log|x|, its powers rounded; the signs follow from the parity of a power.

    Args:
        x: inputs, (rows, features), none of them 0.
        y: targets, none of them 0.

    Returns:
        The powers, and the function that they make.

    Example:
        >>> x = np.array([[2.0, 4.0], [-3.0, 9.0], [5.0, 2.0]])
        >>> weight, function = power(x, x[:, 0] / x[:, 1])
        >>> weight, function(np.array([[-6.0, 3.0]]))
        (array([ 1., -1.]), array([-2.]))
    """
    weight = np.round(np.linalg.lstsq(np.log(np.abs(x)), np.log(np.abs(y)))[0]) + 0.0
    odd = weight % 2 == 1

    def function(rows: np.ndarray) -> np.ndarray:
        sign = np.prod(np.sign(rows[:, odd]), axis=1)
        return sign * np.prod(np.abs(rows) ** weight, axis=1)

    return weight, function


BASELINES = {"least squares (x)": linear, "least squares (log|x|)": power}
"""Closed forms, by the name they have in tables."""


def solve(name: str, task: SimpleFunction, seed: int) -> dict[str, object]:
    """The outcome of a closed form, in the columns of a trained run's.

    Args:
        name: one of `BASELINES`.
        task: what to learn, on fresh rows.
        seed: of the rows.

    Returns:
        `solved`, `solved_at_step` (0 or None) and so on; see `torchalu.evaluate.outcomes`.

    Example:
        >>> task = SimpleFunction("mul", in_features=2, subsets=((0,), (1,)))
        >>> solve("least squares (log|x|)", task, seed=0)["solved"]
        True
        >>> solve("least squares (x)", task, seed=0)["solved"]
        False
    """
    generator = np.random.default_rng([seed, task.in_features])
    weight, function = BASELINES[name](*_rows(task, task.interpolation_range, ROWS, generator))
    losses = {}
    for column, sampling_range in (
        ("validation_loss", task.interpolation_range),
        ("extrapolation_loss", task.extrapolation_range),
    ):
        x, y = _rows(task, sampling_range, task.evaluation_rows, generator)
        losses[column] = float(np.mean((function(x) - y) ** 2))
    solved = losses["extrapolation_loss"] < nearly_perfect_unit_loss(task)
    return {
        "solved": solved,
        "solved_at_step": 0 if solved else None,
        "sparsity_error": float(np.minimum(abs(weight), abs(1 - abs(weight))).max()),
        "best_step": 0,
        **losses,
        "steps": 0,
        "status": "finished",
    }


def _rows(
    task: SimpleFunction, sampling_range: SamplingRange, rows: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    x = draw(task, sampling_range, rows, generator)
    first, second = task.subsets_of(0, 0)
    return x, task.target(torch.from_numpy(x), first, second)[:, 0].numpy()

"""What closed forms and rounding make of the tasks, without a unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.linalg
import torch

from torchalu.experiments.madsen2020.unit_criterion import draw, nearly_perfect_unit_loss
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import SamplingRange

Form: TypeAlias = Callable[
    [np.ndarray, np.ndarray], tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]
]

ROWS = 400
"""Rows of the interpolation range that most closed forms see."""


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


def root(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Least squares in x of the target's square, its coefficients rounded.

    Args:
        x: inputs, (rows, features).
        y: targets.

    Returns:
        The coefficients, and the root of the function that they make.

    Example:
        >>> root(np.array([[1.0, 3.0], [2.0, 2.0]]), np.array([2.0, 2.0]))[0]
        array([1., 1.])
    """
    weight, function = linear(x, y**2)
    return weight, lambda rows: np.sqrt(function(rows))


def quadratic(
    x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Least squares in the products of all pairs of inputs, their coefficients rounded.

    Args:
        x: inputs, (rows, features); at least as many rows as there are pairs.
        y: targets.

    Returns:
        The coefficients of x_i x_j, i <= j, and the function that they make. They come from the
        normal equations, whose error is far below the 1/2 that rounding takes away.

    Example:
        >>> x = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]])
        >>> quadratic(x, x[:, 0] * x.sum(1))[0]
        array([1., 1., 0.])
    """
    pairs = np.triu_indices(x.shape[1])
    products = (x[:, :, None] * x[:, None])[:, *pairs]
    normal = scipy.linalg.solve(products.T @ products, products.T @ y, assume_a="pos")
    weight = np.round(normal) + 0.0
    matrix = np.zeros((x.shape[1], x.shape[1]))
    matrix[pairs] = weight
    return weight, lambda rows: ((rows @ matrix) * rows).sum(1)


def null_vector(
    x: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    r"""The quotient of two sums that leaves the least of :math:`[X, -y X] v`, |v| = 1.

    The vector is a right singular one; scaled so that its largest number is 1, it is rounded.

    Args:
        x: inputs, (rows, features).
        y: targets.

    Returns:
        The coefficients of the dividend, then of the divisor, and their quotient.

    Example:
        >>> x = np.random.default_rng(0).uniform(1, 2, (9, 3))
        >>> null_vector(x, x[:, 0] / x[:, 1:].sum(1))[0]
        array([1., 0., 0., 0., 1., 1.])
    """
    vector = np.linalg.svd(np.hstack([x, -y[:, None] * x]))[2][-1]
    weight = np.round(vector / vector[np.abs(vector).argmax()]) + 0.0
    above, below = np.split(weight, 2)
    return weight, lambda rows: (rows @ above) / (rows @ below)


BASELINES = {"least squares (x)": linear, "least squares (log|x|)": power}
"""Closed forms for one operation on two of the inputs, by the name they have in tables."""

OF_SUMS = {
    "add": ("least squares", linear, ROWS),
    "sub": ("least squares", linear, ROWS),
    "mul": ("least squares in pairs", quadratic, 8000),
    "square": ("least squares in pairs", quadratic, 8000),
    "div": ("null vector", null_vector, ROWS),
    "root": ("least squares of the square", root, ROWS),
}
"""Closed forms for an operation on sums of many inputs: name, function, and rows that it sees."""


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
    return outcome(BASELINES[name], ROWS, task, seed, nearly_perfect_unit_loss(task))


def outcome(
    form: Form, rows: int, task: SimpleFunction, seed: int, goal: float
) -> dict[str, object]:
    """The outcome of any closed form; see `solve`.

    Args:
        form: gives coefficients and a function from inputs and targets.
        rows: how many it sees.
        task: what to learn.
        seed: of the rows, and of the task's subsets.
        goal: the extrapolation loss below which the task is solved.
    """
    generator = np.random.default_rng([seed, task.in_features])
    weight, function = form(*_rows(task, task.interpolation_range, rows, seed, generator))
    losses = {}
    for column, sampling_range in (
        ("validation_loss", task.interpolation_range),
        ("extrapolation_loss", task.extrapolation_range),
    ):
        x, y = _rows(task, sampling_range, task.evaluation_rows, seed, generator)
        losses[column] = float(np.mean((function(x) - y) ** 2))
    solved = losses["extrapolation_loss"] < goal
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
    task: SimpleFunction,
    sampling_range: SamplingRange,
    rows: int,
    seed: int,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    x = draw(task, sampling_range, rows, generator)
    first, second = task.subsets_of(0, seed)
    return x, task.target(torch.from_numpy(x), first, second)[:, 0].numpy()

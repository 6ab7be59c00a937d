"""The tables of the simple function task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from torchalu.evaluate import threshold
from torchalu.experiments.madsen2020 import models as paper
from torchalu.experiments.madsen2020.published import PUBLISHED
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.runs import RunOptions, Runs
from torchalu.experiments.setting import Criterion, Setting, choose
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import Operation


def table1(
    runs: RunOptions = Runs(steps=200_000),
    *,
    models: tuple[str, ...] = ("NAC*", "NALU", "NMU"),
    interpolation_range: tuple[float, float] = (1.0, 2.0),
    extrapolation_range: tuple[float, float] = (2.0, 6.0),
) -> NativeStudy:
    """Table 1: (x1 + x2) (x1 + x2 + x3 + x4).

    The penalty of the NMU sets in after the last step here, so that it plays no part.

    Args:
        runs: which seeds, and when a run ends.
        models: names of models, as in table 6.
        interpolation_range: where training inputs are drawn from.
        extrapolation_range: where test inputs are drawn from.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Source:
        Madsen & Johansen 2020, section 1.1, which gives no ranges. Departure: those of table 3,
        which bring the steps at which the task is solved to the published ones; the flags of the
        authors' program are U[0, 2] and U[0, 4].

    Example:
        >>> len(table1(Runs(seeds=10)).chunks())
        10
    """
    settings = overlapping_sums(
        models,
        runs.steps,
        interpolation_range=interpolation_range,
        extrapolation_range=extrapolation_range,
    )
    return NativeStudy("madsen2020.table1", settings, runs, PUBLISHED["table1"])


def table2(
    runs: RunOptions = Runs(),
    *,
    operations: tuple[Operation, ...] = ("mul", "add", "sub"),
    models: tuple[str, ...] = paper.PUBLISHED_BY_SEED,
) -> NativeStudy:
    """Table 2: the models on products, sums and differences of two subset sums.

    It has all models of which the outcome of every seed was published; the paper's table shows
    11 of these 30 cells.

    Args:
        runs: which seeds, and when a run ends.
        operations: "add", "sub", "mul", "div", "square", "root".
        models: names of models, as in table 6.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Example:
        >>> len(table2().settings)
        30
    """
    settings = compared(operations, models, runs.steps)
    return NativeStudy("madsen2020.table2", settings, runs, PUBLISHED["table6"])


def table6(
    runs: RunOptions = Runs(),
    *,
    operations: tuple[Operation, ...] = ("mul", "div", "add", "sub", "root", "square"),
    models: tuple[str, ...] = paper.ALL,
) -> NativeStudy:
    """Table 6: all models on all operations.

    Args:
        runs: which seeds, and when a run ends.
        operations: "add", "sub", "mul", "div", "square", "root".
        models: names of models, as in table 6.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Example:
        >>> len(table6().settings)
        66
    """
    settings = compared(operations, models, runs.steps)
    return NativeStudy("madsen2020.table6", settings, runs, PUBLISHED["table6"])


def overlapping_sums(
    models: Sequence[str],
    steps: int,
    *,
    interpolation_range: tuple[float, float] = (1.0, 2.0),
    extrapolation_range: tuple[float, float] = (2.0, 6.0),
    noise: float = 0.0,
    correlation: float = 0.0,
    criterion: Criterion = threshold,
) -> list[Setting]:
    """The task of table 1, (x1 + x2) (x1 + x2 + x3 + x4), for each model.

    Args:
        models: names of models.
        steps: optimizer steps of a run, at most.
        interpolation_range: where training inputs are drawn from.
        extrapolation_range: where test inputs are drawn from.
        noise: of the task's targets.
        correlation: of the task's inputs.
        criterion: gives the extrapolation loss below which a task is solved.

    Raises:
        ValueError: a name that is unknown.

    Example:
        >>> overlapping_sums(["NMU"], 1000)[0].task.subsets
        ((0, 1), (0, 1, 2, 3))
    """
    choose("models", models, paper.ALL)
    task = SimpleFunction(
        "mul",
        in_features=4,
        subsets=((0, 1), (0, 1, 2, 3)),
        interpolation_range=interpolation_range,
        extrapolation_range=extrapolation_range,
        noise=noise,
        correlation=correlation,
    )
    return [
        Setting(
            paper.model(name), task, steps, {"model": name, "operation": "mul"}, criterion=criterion
        )
        for name in models
    ]


def compared(
    operations: Sequence[Operation],
    models: Sequence[str],
    steps: int,
    *,
    noise: float = 0.0,
    correlation: float = 0.0,
    criterion: Criterion = threshold,
) -> list[Setting]:
    """A setting for each operation and model.

    Args:
        operations: of the task.
        models: names of models.
        steps: optimizer steps of a run, at most.
        noise: of the task's targets.
        correlation: of the task's inputs.
        criterion: gives the extrapolation loss below which a task is solved.

    Raises:
        ValueError: a name that is unknown.

    Example:
        >>> compared(["mul"], ["NMU"], 1000)[0].labels
        {'model': 'NMU', 'operation': 'mul'}
    """
    choose("operations", operations, get_args(Operation))
    choose("models", models, paper.ALL)
    return [
        Setting(
            paper.model(name),
            SimpleFunction(operation, noise=noise, correlation=correlation),
            steps,
            {"model": name, "operation": operation},
            criterion=criterion,
        )
        for operation in operations
        for name in models
    ]

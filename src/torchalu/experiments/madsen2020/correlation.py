"""The paper's tables again, with correlated inputs; beyond the paper."""

from __future__ import annotations

from torchalu.experiments.madsen2020 import models as paper
from torchalu.experiments.madsen2020.tables import compared, overlapping_sums
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.runs import RunOptions, Runs
from torchalu.tasks.simple_function import Operation


def correlated(
    runs: RunOptions = Runs(seeds=50),
    *,
    correlation: float = 0.5,
    operations: tuple[Operation, ...] = ("mul", "add", "sub", "div", "square", "root"),
    models: tuple[str, ...] = paper.ALL,
) -> NativeStudy:
    """Tables 2 and 6 again, with inputs that are correlated; beyond the paper.

    Args:
        runs: which seeds, and when a run ends.
        correlation: of each pair of inputs.
        operations: "add", "sub", "mul", "div", "square", "root".
        models: names of models, as in table 6.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Example:
        >>> correlated().settings[0].task.correlation
        0.5
    """
    settings = compared(operations, models, runs.steps, correlation=correlation)
    return NativeStudy("madsen2020.correlated", settings, runs)


def correlated_table1(
    runs: RunOptions = Runs(steps=200_000),
    *,
    correlation: float = 0.5,
    models: tuple[str, ...] = ("NAC*", "NALU", "NMU"),
) -> NativeStudy:
    """Table 1 again, with inputs that are correlated; beyond the paper.

    Args:
        runs: which seeds, and when a run ends.
        correlation: of each pair of inputs.
        models: names of models, as in table 6.

    Raises:
        ValueError: a count that is not positive, a name that is unknown.

    Example:
        >>> [setting.task.correlation for setting in correlated_table1().settings]
        [0.5, 0.5, 0.5]
    """
    settings = overlapping_sums(models, runs.steps, correlation=correlation)
    return NativeStudy("madsen2020.correlated_table1", settings, runs)

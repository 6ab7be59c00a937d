"""Figures 10 to 12: the factor of the penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torchalu.experiments.madsen2020.figures import one_at_a_time
from torchalu.experiments.madsen2020.models import with_penalty
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.runs import RunOptions, Runs
from torchalu.experiments.setting import Label, Setting
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import Operation

PENALTIES = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)
"""Factors of the penalty in the three figures."""


def figure10(
    runs: RunOptions = Runs(seeds=50),
    *,
    penalties: tuple[float, ...] = PENALTIES,
) -> NativeStudy:
    """Figure 10: the factor of the penalty of the NAU on addition.

    Args:
        runs: which seeds, and when a run ends.
        penalties: factors of the penalty.

    Raises:
        ValueError: a count that is not positive, a factor that is negative or no number.

    Example:
        >>> [setting.model.penalty for setting in figure10().settings]
        [0.0, 0.01, 0.1, 1.0, 10.0, 100.0]
    """
    settings = _penalized("NAU", "add", penalties, runs.steps)
    return one_at_a_time("figure10", settings, _PENALTY, runs)


def figure11(
    runs: RunOptions = Runs(seeds=50),
    *,
    penalties: tuple[float, ...] = PENALTIES,
) -> NativeStudy:
    """Figure 11: the factor of the penalty of the NAU on subtraction.

    Args:
        runs: which seeds, and when a run ends.
        penalties: factors of the penalty.

    Raises:
        ValueError: a count that is not positive, a factor that is negative or no number.

    Example:
        >>> figure11().settings[0].task.operation
        'sub'
    """
    settings = _penalized("NAU", "sub", penalties, runs.steps)
    return one_at_a_time("figure11", settings, _PENALTY, runs)


def figure12(
    runs: RunOptions = Runs(seeds=50),
    *,
    penalties: tuple[float, ...] = PENALTIES,
) -> NativeStudy:
    """Figure 12: the factor of the penalty of the NMU on multiplication.

    Args:
        runs: which seeds, and when a run ends.
        penalties: factors of the penalty.

    Raises:
        ValueError: a count that is not positive, a factor that is negative or no number.

    Example:
        >>> figure12().settings[0].model.penalty_end
        2000000.0
    """
    settings = _penalized("NMU", "mul", penalties, runs.steps)
    return one_at_a_time("figure12", settings, _PENALTY, runs)


_PENALTY: dict[str, Label] = {"penalty": 10.0}


def _penalized(
    name: str, operation: Operation, penalties: Sequence[float], steps: int
) -> list[Setting]:
    task = SimpleFunction(operation)
    for penalty in penalties:
        if not 0 <= penalty < math.inf:
            raise ValueError(f"penalties holds {penalty}; give finite numbers that are 0 or more")
    return [
        Setting(
            with_penalty(name, penalty),
            task,
            steps,
            {"model": name, "operation": operation, "penalty": float(penalty)},
        )
        for penalty in penalties
    ]

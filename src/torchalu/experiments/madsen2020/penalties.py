"""Figures 10 to 12: the factor of the penalty."""

from __future__ import annotations

from collections.abc import Sequence

from torchalu.experiments.madsen2020.figures import one_at_a_time
from torchalu.experiments.madsen2020.models import with_penalty
from torchalu.experiments.madsen2020.tables import STEPS
from torchalu.experiments.native import NativeStudy
from torchalu.experiments.setting import Label, Setting
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import Operation

PENALTIES = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)
"""Factors of the penalty in the three figures."""


def figure10(
    *,
    seeds: int = 50,
    first_seed: int = 0,
    penalties: tuple[float, ...] = PENALTIES,
    steps: int = STEPS,
    settle: int | None = 500_000,
    stall: int | None = None,
    team: int = 8,
) -> NativeStudy:
    """Figure 10: the factor of the penalty of the NAU on addition.

    Args:
        seeds: how many.
        first_seed: the number of the first.
        penalties: factors of the penalty.
        steps: optimizer steps of a run, at most.
        settle: a solved run ends once its validation loss has not fallen for so many steps.
        stall: the same for a run that is not solved.
        team: most settings in a chunk.

    Raises:
        ValueError: a count that is not positive.

    Example:
        >>> [setting.model.penalty for setting in figure10().settings]
        [0.0, 0.01, 0.1, 1.0, 10.0, 100.0]
    """
    settings = _penalized("NAU", "add", penalties, steps)
    return one_at_a_time("figure10", settings, _PENALTY, seeds, first_seed, settle, stall, team)


def figure11(
    *,
    seeds: int = 50,
    first_seed: int = 0,
    penalties: tuple[float, ...] = PENALTIES,
    steps: int = STEPS,
    settle: int | None = 500_000,
    stall: int | None = None,
    team: int = 8,
) -> NativeStudy:
    """Figure 11: the factor of the penalty of the NAU on subtraction.

    Args:
        seeds: how many.
        first_seed: the number of the first.
        penalties: factors of the penalty.
        steps: optimizer steps of a run, at most.
        settle: a solved run ends once its validation loss has not fallen for so many steps.
        stall: the same for a run that is not solved.
        team: most settings in a chunk.

    Raises:
        ValueError: a count that is not positive.

    Example:
        >>> figure11().settings[0].task.operation
        'sub'
    """
    settings = _penalized("NAU", "sub", penalties, steps)
    return one_at_a_time("figure11", settings, _PENALTY, seeds, first_seed, settle, stall, team)


def figure12(
    *,
    seeds: int = 50,
    first_seed: int = 0,
    penalties: tuple[float, ...] = PENALTIES,
    steps: int = STEPS,
    settle: int | None = 500_000,
    stall: int | None = None,
    team: int = 8,
) -> NativeStudy:
    """Figure 12: the factor of the penalty of the NMU on multiplication.

    Args:
        seeds: how many.
        first_seed: the number of the first.
        penalties: factors of the penalty.
        steps: optimizer steps of a run, at most.
        settle: a solved run ends once its validation loss has not fallen for so many steps.
        stall: the same for a run that is not solved.
        team: most settings in a chunk.

    Raises:
        ValueError: a count that is not positive.

    Example:
        >>> figure12().settings[0].model.penalty_end
        2000000.0
    """
    settings = _penalized("NMU", "mul", penalties, steps)
    return one_at_a_time("figure12", settings, _PENALTY, seeds, first_seed, settle, stall, team)


_PENALTY: dict[str, Label] = {"penalty": 10.0}


def _penalized(
    name: str, operation: Operation, penalties: Sequence[float], steps: int
) -> list[Setting]:
    task = SimpleFunction(operation)
    return [
        Setting(
            with_penalty(name, penalty),
            task,
            steps,
            {"model": name, "operation": operation, "penalty": float(penalty)},
        )
        for penalty in penalties
    ]

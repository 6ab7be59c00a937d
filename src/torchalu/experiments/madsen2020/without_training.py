"""Beyond the paper: what closed forms make of the tasks of table 6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

import polars as pl

from torchalu.evaluate import summarize, threshold
from torchalu.experiments.madsen2020.closed_form import OF_SUMS, outcome
from torchalu.experiments.seeds import SeedOptions, Seeds
from torchalu.experiments.setting import Label, choose
from torchalu.experiments.settings_study import SettingsStudy
from torchalu.tasks import SimpleFunction
from torchalu.tasks.simple_function import Operation
from torchalu.train import JSON, Part, Report

_TEN = Seeds(10)


@dataclass(frozen=True)
class ClosedFormSetting:
    """The closed form for an operation, on the task of table 6.

    Args:
        operation: of the task.

    Example:
        >>> ClosedFormSetting("div").labels
        {'operation': 'div'}
    """

    operation: Operation

    @property
    def labels(self) -> Mapping[str, Label]:
        """The columns that tell this setting's results apart."""
        return {"operation": self.operation}

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell the outcomes of a seed apart."""
        return tuple(self.labels)

    @property
    def work(self) -> float:
        """Rows times coefficients, for the progress bar alone."""
        return float(OF_SUMS[self.operation][2] ** 2)

    @property
    def task(self) -> SimpleFunction:
        """The task."""
        return SimpleFunction(self.operation)

    def describe(self) -> Mapping[str, JSON]:
        """What settles its results."""
        name, _, rows = OF_SUMS[self.operation]
        return {"labels": dict(self.labels), "model": name, "rows": rows, "task": asdict(self.task)}

    def run(self, seed: int, scratch: Path, report: Report) -> Part:  # noqa: ARG002
        """Solve the task on the rows of a seed.

        Args:
            seed: settles the rows and the subsets; these are those of a trained run.
            scratch: not needed.
            report: takes the fraction that is done.
        """
        name, form, rows = OF_SUMS[self.operation]
        found = outcome(form, rows, self.task, seed, threshold(self.task))
        report(1.0)
        row = {**self.labels, "seed": seed, "model": name, "rows": rows, **found}
        table = pl.DataFrame([row], infer_schema_length=None)
        return Part(pl.DataFrame(), table.with_columns(pl.col("solved_at_step").cast(pl.Int64)))


def closed_form(
    seeds: SeedOptions = _TEN,
    *,
    operations: tuple[Operation, ...] = ("add", "sub", "mul", "div", "square", "root"),
) -> SettingsStudy:
    """The tasks of table 6 in closed form; beyond the paper.

    What is found from a few hundred or thousand rows without noise is no evidence for a network.

    Args:
        seeds: each has the subsets that it has in table 6.
        operations: "add", "sub", "mul", "div", "square", "root".

    Raises:
        ValueError: a count that is not positive, a name that is unknown or there twice.

    Source:
        Ours. Solved is what is solved in table 6.

    Example:
        >>> len(closed_form(Seeds(3)).chunks())
        18
    """
    choose("operations", operations, get_args(Operation))
    settings = [ClosedFormSetting(operation) for operation in operations]
    return SettingsStudy("madsen2020.closed_form", settings, seeds, _table)


def _table(outcomes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """How many seeds are solved; `closed_form` has a row an operation."""
    table = summarize(outcomes, by=["operation", "model", "rows"])
    shown = ("seeds", "solved", "solved_rate", "solved_low", "solved_high")
    return {"closed_form": table.select("operation", "model", "rows", *shown)}

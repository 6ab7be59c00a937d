"""Sums over sections of the inputs, all at once or over time, and operations on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor

from torchalu.experiments.trask2018.replicas import Examples
from torchalu.tasks import RecurrentFunction, SimpleFunction
from torchalu.tasks.recurrent_function import RecurrentOperation
from torchalu.tasks.simple_function import Interval, Operation, apply_operation

_VALIDATION = 1 << 40  # added to the seed: series that are neither trained nor tested on
_SIX: tuple[Operation, ...] = ("add", "sub", "mul", "div", "square", "root")


@dataclass(frozen=True)
class Form:
    """One of the paper's two forms of the task.

    Attributes:
        name: "static" or "recurrent".
        in_features: numbers in a step.
        length: steps to train on; the static form has one.
        extrapolation_length: steps of the extrapolation set.
        sampling_range: of each number.
        extrapolation_range: of each number of the extrapolation set.
        operations: what is learned.
        baseline: the model whose start all errors are relative to.
    """

    name: str
    in_features: int
    length: int
    extrapolation_length: int
    sampling_range: Interval
    extrapolation_range: Interval
    operations: tuple[RecurrentOperation, ...]
    baseline: str

    def task(self, seed: int) -> RecurrentFunction:
        """The sums of one seed; the static form is a series of one step.

        Args:
            seed: settles sections and inputs.

        Example:
            >>> STATIC.task(0).batch(0, batch_size=4).inputs.shape
            torch.Size([4, 1, 100])
        """
        task = RecurrentFunction(
            "identity",
            self.in_features,
            self.length,
            self.extrapolation_length,
            self.sampling_range,
            seed=seed,
        )
        return replace(task, sections=task.summed_sections)


STATIC = Form("static", 100, 1, 1, (0.0, 0.2), (0.2, 0.4), _SIX, "None")
"""A vector of 100 numbers. With these ranges the targets are about as large as the paper's
column "Random" says they were, and each sum of the extrapolation set is beyond all trained on."""

RECURRENT = Form("recurrent", 10, 10, 1000, (0.0, 1.0), (0.0, 1.0), ("identity", *_SIX), "LSTM")
"""Ten numbers at each step, 10 steps to train on, 1000 to test on."""

FORMS = {form.name: form for form in (STATIC, RECURRENT)}


class ArithmeticData:
    """All rows that the replicas of a chunk see: each seed has sections and inputs of its own.

    Args:
        form: of the task.
        operations: what is learned from the same inputs.
        seeds: their numbers.
        batch_size: rows in a batch of each seed.
        rows: of each seed for validation and tests.

    Example:
        >>> data = ArithmeticData(RECURRENT, ("add", "mul"), [0, 1, 2], batch_size=8, rows=20)
        >>> inputs, targets = data.batch(0)
        >>> inputs.shape, targets.shape
        (torch.Size([3, 8, 10, 10]), torch.Size([3, 2, 8, 1]))
    """

    def __init__(
        self,
        form: Form,
        operations: Sequence[RecurrentOperation],
        seeds: Sequence[int],
        batch_size: int,
        rows: int,
    ) -> None:
        self.form, self.operations = form, tuple(operations)
        self.tasks = [form.task(seed) for seed in seeds]
        self.batch_size, self.rows = batch_size, rows

    def batch(self, step: int) -> Examples:
        """The batch of a training step.

        Args:
            step: its number, from 0.
        """
        return self._examples(lambda task: task.batch(step, self.batch_size).inputs)

    def validation(self) -> Examples:
        """Fixed rows that are like those to train on."""
        return self._examples(
            lambda task: replace(task, seed=task.seed + _VALIDATION).interpolation(self.rows).inputs
        )

    def interpolation(self) -> Examples:
        """Fixed rows to test on that are like those to train on."""
        return self._examples(lambda task: task.interpolation(self.rows).inputs)

    def extrapolation(self, index: int) -> Examples:
        """Fixed rows of one seed to test on, beyond those to train on.

        Args:
            index: of the seed.
        """
        beyond = self.form.extrapolation_range
        return self._examples(
            lambda task: replace(task, sampling_range=beyond).extrapolation(self.rows).inputs,
            self.tasks[index : index + 1],
        )

    def function(self, index: int, operation: RecurrentOperation) -> SimpleFunction:
        """The static task of one seed, for the native trainer.

        Args:
            index: of the seed.
            operation: what is learned, but not "identity", which only the recurrent task has.
        """
        first, second = self.tasks[index].summed_sections
        return SimpleFunction(
            cast("Operation", operation),
            self.form.in_features,
            interpolation_range=self.form.sampling_range,
            extrapolation_range=self.form.extrapolation_range,
            evaluation_rows=self.rows,
            subsets=(range(*first), range(*second)),
        )

    def _examples(
        self,
        draw: Callable[[RecurrentFunction], Tensor],
        tasks: Sequence[RecurrentFunction] | None = None,
    ) -> Examples:
        """Inputs and the targets of all operations."""
        tasks = self.tasks if tasks is None else tasks
        inputs = torch.stack([draw(task) for task in tasks])
        targets = torch.stack(
            [
                torch.stack(self._targets(task, rows))
                for task, rows in zip(tasks, inputs.double().sum(2), strict=True)
            ]
        )
        if self.form.length == 1 and self.form.extrapolation_length == 1:
            inputs = inputs[:, :, 0]
        return Examples(inputs, targets.float())

    def _targets(
        self, task: RecurrentFunction, sums: Float[Tensor, "rows in"]
    ) -> list[Float[Tensor, "rows 1"]]:
        """What each operation makes of the two sums."""
        a, b = (sums[:, m:n].sum(1, keepdim=True) for m, n in task.summed_sections)
        return [
            a if operation == "identity" else apply_operation(operation, a, b)
            for operation in self.operations
        ]

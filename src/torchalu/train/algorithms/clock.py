"""How far a training is, what a checkpoint of it must agree in, and the time it takes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from torchalu.nn import NeuralGPUBase
from torchalu.tasks.algorithms import AlgorithmicTask, StringFileTask
from torchalu.train.algorithms.configuration import AlgorithmTraining
from torchalu.train.algorithms.stopwatch import Stopwatch
from torchalu.train.configuration import plain
from torchalu.train.hooks import Progress


@dataclass(frozen=True)
class AlgorithmProgress:
    """How far a training is.

    Attributes:
        step: steps taken.
        steps: those to take at most.
        seconds: for which it has been going on, breaks left out.
        loss: of the last step.
        evaluation: the last row of the records by `fit`'s names: `right@41` is the fraction of the
            validation strings of 41 symbols that are right; empty before the first evaluation.
        attempt: the number of the attempt that all these are of.
    """

    step: int
    steps: int
    seconds: float
    loss: float
    evaluation: Mapping[str, float] = field(default_factory=dict)
    attempt: int = 0


class Clock(Stopwatch):
    """Keeps the time, what a checkpoint must agree in, and how far the training is.

    Args:
        task: what is learned.
        training: by which methods, with which numbers.
        module: what learns it.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> clock = Clock(algorithm("badd"), AlgorithmTraining(steps=9), nn.Linear(1, 1))
        >>> clock.settings()["task"], clock.progress().steps
        ('badd', 9)
    """

    def __init__(
        self, task: AlgorithmicTask, training: AlgorithmTraining, module: nn.Module
    ) -> None:
        super().__init__()
        self.task, self.training, self.module = task, training, module
        self.seen: Progress | None = None
        self.row: Mapping[str, float] = {}

    def settings(self) -> dict[str, Any]:
        """Task and training, but for what may change when it goes on; first what users name."""
        fields = self.training.to_json()
        for name in ("steps", "checkpoint_every"):
            del fields[name]
        task = {name: getattr(self.task, name) for name in ("alphabet", "filled")}
        return {
            "task": self.task.name,
            **task,
            "size": list(self.task.size),
            "rows": _sum_of_rows(self.task),
            "length": self.task.lengths(self.training.bins[-1]),
            **fields,
            "module": {"class": type(self.module).__name__, **self._configuration()},
        }

    def _configuration(self) -> dict[str, Any]:
        """What the module is made of; its noise and its levels are the training's."""
        if not isinstance(self.module, NeuralGPUBase):
            return {}
        numbers = self.module.configuration()
        return {name: plain(numbers[name]) for name in numbers if name not in ("noise", "levels")}

    def begin(self, progress: Progress) -> None:
        """Keep in sight where the training stands."""
        self.seen = progress

    def after_evaluation(self, progress: Progress, row: Mapping[str, float]) -> None:  # noqa: ARG002
        """Keep the last evaluation."""
        self.row = dict(row)

    def progress(self) -> AlgorithmProgress:
        """How far the training is."""
        step, loss = (0, 0.0) if self.seen is None else (self.seen.step, self.seen.loss)
        return AlgorithmProgress(step, self.training.steps, self.seconds, loss, self.row)


def _sum_of_rows(task: AlgorithmicTask) -> str | None:
    """The SHA-256 of the rows of one's own task, whatever their order; None for other tasks."""
    if not isinstance(task, StringFileTask):
        return None
    return hashlib.sha256(json.dumps(sorted(task.rows.items())).encode()).hexdigest()

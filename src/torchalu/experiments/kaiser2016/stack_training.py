"""How the stack RNN is trained: as its authors' program does it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from torchalu.arguments import check_positive_integers
from torchalu.tasks import AlgorithmicTask
from torchalu.train import Hook, Progress
from torchalu.train.algorithms import LengthGroup, LengthPlan


class LongerEachEpoch(LengthPlan):
    """Lengths that are uniform up to a greatest one, which grows by a symbol an epoch.

    Args:
        task: whose lengths are drawn.
        epoch: steps in an epoch.
        start: symbols at most in the first epoch.
        most: symbols at most in any.
        batch: strings a step.

    Raises:
        ValueError: a count that is not positive, or a task without strings that short.

    Source:
        Joulin & Mikolov 2015, authors' program: 3 symbols in the first epoch, 10,000 strings an
        epoch, and "nmax=41" of Kaiser & Sutskever 2016, section 3.1. Departure: in theirs the two
        operands differ in length and are at most nmax digits together.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> plan = LongerEachEpoch(algorithm("badd"), epoch=10, most=5)
        >>> plan.draw(np.random.default_rng(0))[0].lengths
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    kept = ("steps",)

    def __init__(
        self,
        task: AlgorithmicTask,
        *,
        epoch: int = 1000,
        start: int = 3,
        most: int = 41,
        batch: int = 10,
    ) -> None:
        check_positive_integers(epoch=epoch, batch=batch)
        lengths = task.sample_lengths(task.lengths(most))
        self.sizes = {task.symbols(length): length for length in lengths}
        if not self.sizes:
            raise ValueError(f"{task.name} has no strings of at most {most} symbols; give more")
        self.epoch, self.start, self.batch = epoch, start, batch
        self.steps = 0

    @property
    def longest(self) -> int:
        """The greatest number of symbols that is drawn."""
        return max(self.sizes)

    def draw(self, rng: np.random.Generator) -> list[LengthGroup]:
        """The strings of a step, each of a length of its own."""
        most = max(self.start + self.steps // self.epoch, min(self.sizes))
        symbols = [size for size in self.sizes if size <= most]
        chosen = rng.choice(symbols, self.batch).tolist()
        return [LengthGroup(max(chosen), [self.sizes[size] for size in chosen])]

    def after_step(self, progress: Progress) -> None:
        """Count the steps."""
        self.steps = progress.step


class HalvedRate(Hook):
    """Halves the learning rate, and goes back to the best parameters, where these do not improve.

    It looks at the column `entropy` after each evaluation. Up to step `patience` it goes back
    alone, and that only where the lowest entropy is below `works`.

    Args:
        patience: steps before the rate is halved at all.
        least: the factor of the learning rate below which the run ends.
        works: the entropy below which a network counts as one that has learned.

    Attributes:
        factor: of the learning rate.

    Source:
        Joulin & Mikolov 2015, section 5.1, and the authors' program, which halves from 0.1 down
        to 1e-5, and has an entropy of 0.1, in digits, for `works`.

    Example:
        >>> HalvedRate(patience=20_000).factor
        1.0
    """

    kept = ("factor", "lowest", "best")

    def __init__(
        self, patience: int, least: float = 1e-4, works: float = 0.1 * math.log(10)
    ) -> None:
        self.patience, self.least, self.works = patience, least, works
        self.factor = 1.0
        self.lowest: float | None = None
        self.best: dict[str, Tensor] = {}

    def learning_rate_factor(self, step: int) -> float:  # noqa: ARG002
        """The current factor."""
        return self.factor

    @torch.no_grad()
    def after_evaluation(self, progress: Progress, row: Mapping[str, float]) -> None:
        """Keep the parameters, or go back to those that were kept."""
        named = dict(progress.module.named_parameters())
        if self.lowest is None or row["entropy"] < self.lowest:
            self.lowest = row["entropy"]
            self.best = {name: parameter.clone() for name, parameter in named.items()}
            return
        late = progress.step > self.patience
        if late:
            self.factor /= 2
        if late or self.lowest < self.works:
            for name, parameter in named.items():
                parameter.copy_(self.best[name])
        if self.factor < self.least:
            progress.end()

    def columns(self) -> dict[str, float]:
        """The factor."""
        return {"learning_rate_factor": self.factor}

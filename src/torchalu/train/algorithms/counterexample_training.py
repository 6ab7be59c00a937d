"""Training on the strings that a network still gets wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from torchalu.arguments import check_positive_integers
from torchalu.evaluate import find_counterexamples
from torchalu.tasks.algorithms import AlgorithmicTask
from torchalu.tasks.algorithms.task import rows_to_texts, texts_to_rows
from torchalu.train.algorithms.batches import random_numbers
from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.hooks import Hook, Progress


class CounterexampleTraining(Hook):
    """Searches for strings of the training lengths that are wrong, and has them trained on.

    Random strings of the training lengths show little of what is wrong at much longer ones: a
    product of 20 bits has 41 times 41 updates of a cell, one of 2000 bits 16 million. What is wrong
    is there at the training lengths, too, and can be found; see `find_counterexamples`. Each
    evaluation with whole noise begins with a search, among strings of the greatest training
    length, where it goes on from what the one before has found. The hardest strings of all that it
    has tried, wrong or right, are trained on until the next: each step has a group of them more,
    which takes as many steps as in use. An evaluation whose search has found wrong ones is the best
    only until the next.

    Give it behind the hooks that change what is evaluated: that is what is searched.

    Args:
        hardening: which says when its noise is whole.
        task: draws and solves the strings; they are of no length beyond those of training.
        length: of the strings, as the task counts it.
        count: strings that are tried in a generation of the search.
        generations: of neighbors.
        extra_steps: that the module takes more, in use, than a string has symbols.

    Attributes:
        found: the strings to train on, a row each: code points, padded with 0.
        padded: to how many symbols they are padded, each of which is a step.
        wrong: of the strings that the last evaluation has searched, how many were wrong; -1 where
            it has searched none.
        margin: the least of these strings'; NaN likewise.

    Raises:
        ValueError: a number is not positive.

    Source:
        Ours.

    Example:
        >>> from torchalu.tasks import algorithm
        >>> hardening = Hardening(0.5, ramp=1000, settle=1000)
        >>> hook = CounterexampleTraining(hardening, algorithm("bmul"), 20, count=1000)
        >>> hook.keep(["1" * 20 + "*" + "01" * 10])
        >>> hook.draw(2, np.random.default_rng(0))
        ['11111111111111111111*01010101010101010101', '11111111111111111111*01010101010101010101']
    """

    kept = ("found",)
    fixed = ("length", "count", "generations", "padded")

    def __init__(
        self,
        hardening: Hardening,
        task: AlgorithmicTask,
        length: int,
        count: int,
        generations: int = 8,
        extra_steps: int = 0,
    ) -> None:
        check_positive_integers(length=length, count=count, generations=generations)
        self.hardening, self.task, self.length = hardening, task, length
        self.count, self.generations = count, generations
        self.padded = task.symbols(length) + extra_steps
        self.found: Int64[Tensor, "strings symbols"] = torch.zeros(0, 1, dtype=torch.int64)
        self.wrong, self.margin = -1, math.nan

    def keep(self, texts: list[str]) -> None:
        """Have these strings trained on, in place of those before.

        Args:
            texts: inputs of the task's, of the hook's length.
        """
        self.found = torch.from_numpy(texts_to_rows(texts).astype(np.int64))

    @property
    def texts(self) -> list[str]:
        """The strings to train on."""
        return self._written(self.found)

    def draw(self, count: int, rng: np.random.Generator) -> list[str]:
        """Some of the strings to train on; none as long as there are none.

        Args:
            count: how many.
            rng: where the random numbers come from.
        """
        if not len(self.found):
            return []
        return self._written(self.found[rng.integers(len(self.found), size=count)])

    def _written(self, rows: Int64[Tensor, "strings symbols"]) -> list[str]:
        """The texts in rows of code points."""
        return rows_to_texts(rows.numpy().astype(np.uint32))

    @contextmanager
    def evaluating(self, progress: Progress) -> Iterator[None]:
        """Search, once the noise is whole, among what the hooks before this one have set."""
        hardening = self.hardening
        self.wrong, self.margin = -1, math.nan
        if 0 <= hardening.began <= progress.step - hardening.ramp:
            found = find_counterexamples(
                progress.module,
                self.task,
                self.length,
                count=self.count,
                generations=self.generations,
                known=self.texts,
                rng=random_numbers(progress.seed, "counterexamples", progress.step),
            )
            self.keep(found.hardest)
            self.wrong, self.margin = len(found.texts), found.margins[0]
        yield

    def after_evaluation(self, progress: Progress, row: Mapping[str, float]) -> None:  # noqa: ARG002
        """Let the next evaluation count as the best, where this one's search has found some."""
        if self.wrong > 0:
            progress.best_loss = math.inf

    def columns(self) -> dict[str, float]:
        """How many strings were wrong, and the least margin."""
        return {"found_wrong": float(self.wrong), "least_margin": self.margin}

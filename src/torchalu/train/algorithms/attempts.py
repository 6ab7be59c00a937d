"""Attempts at an algorithm: giving up those that do not generalize, and what comes of them all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from torch import nn

from torchalu.train.algorithms.hardening import Hardening
from torchalu.train.hooks import Hook, Progress

GIVEN_UP = "given up"
"""The status of an attempt that `GiveUp` has ended."""


@dataclass(frozen=True)
class AlgorithmResult:
    """A trained Neural GPU.

    Attributes:
        module: with the best parameters, in evaluation mode.
        records: a row an evaluation and length; see `StringValidation.by_length`. Steps and
            seconds count on from one attempt to the next, whose number is in `attempt`.
        status: of the attempt that the parameters are from: "finished", "ended" if a method of
            training ended it, "given up", or "nan".
        steps: optimizer steps taken.
        best_step: after which the parameters were those of `module`.
        seconds: that it took, breaks left out.
    """

    module: nn.Module
    records: pl.DataFrame
    status: str
    steps: int
    best_step: int
    seconds: float

    @property
    def chosen(self) -> pl.DataFrame:
        """The rows of the evaluation that the parameters are from."""
        return self.records.filter(pl.col("step") == self.best_step)

    @property
    def validation_loss(self) -> float:
        """By which results are compared; infinite if nothing was measured before a "nan"."""
        losses = self.chosen["validation_loss"].to_list()
        return losses[0] if losses else math.inf

    @property
    def generalizes(self) -> bool:
        """Whether all validation strings are right, those of all lengths."""
        right = self.chosen["right"].to_list()  # a length is left out only if others are wrong
        return bool(right) and all(share == 1 for share in right)


class GiveUp(Hook):
    """Ends a training that has learned its task, but holds on no longer strings.

    Networks that answer all strings of the training lengths may have learned something that works
    on those alone; more steps seldom change it.

    Args:
        hardening: which begins when the task is learned.
        patience: steps from there in which nearly all validation strings of the second of their
            lengths have to be right at least once.
        held: the fraction of them that has to be right.

    Attributes:
        holds: whether they were.
        given_up: whether it has ended the training.

    Raises:
        ValueError: a number is out of its range.

    Source:
        Ours.

    Example:
        >>> hook = GiveUp(Hardening(0.5, ramp=1000, settle=1000), patience=300)
        >>> hook.holds, hook.given_up
        (False, False)
    """

    kept = ("holds", "given_up")

    def __init__(self, hardening: Hardening, patience: int, held: float = 0.9) -> None:
        if patience < 1:
            raise ValueError(f"patience is {patience}; give a positive integer")
        if not 0 < held <= 1:
            raise ValueError(f"held is {held}; give a number above 0, 1 at most")
        self.hardening, self.patience, self.held = hardening, patience, held
        self.holds = self.given_up = False

    def after_evaluation(self, progress: Progress, row: Mapping[str, float]) -> None:
        """End where patience is at its end."""
        rates = {int(name[6:]): rate for name, rate in row.items() if name.startswith("right@")}
        self.holds = bool(self.holds or rates[sorted(rates)[1]] >= self.held)
        began = self.hardening.began
        if began >= 0 and not self.holds and progress.step >= began + self.patience:
            self.given_up = True
            progress.end()


def attempt_seed(seed: int, attempt: int) -> int:
    """The seed of an attempt; that of the first is the run's own.

    Args:
        seed: of the run.
        attempt: its number, from 0.

    Example:
        >>> attempt_seed(7, 0), attempt_seed(7, 1) == attempt_seed(8, 1)
        (7, False)
    """
    if attempt == 0:
        return seed
    return int(np.random.SeedSequence([seed, attempt]).generate_state(1)[0])


def joined(attempts: Sequence[AlgorithmResult]) -> AlgorithmResult:
    """All attempts in one result, with the parameters of the best.

    Args:
        attempts: in the order in which they were made, with counts of their own.
    """
    best = min(attempts, key=lambda result: result.validation_loss)
    frames, steps, seconds, best_step = [], 0, 0.0, 0
    for number, result in enumerate(attempts):
        if result is best:
            best_step = steps + result.best_step
        columns = [pl.col("step") + steps, pl.lit(number).alias("attempt")]
        if "seconds" in result.records.columns:
            columns.append(pl.col("seconds") + seconds)
        if "hardening_began" in result.records.columns:
            began = pl.col("hardening_began")
            columns.append(pl.when(began < 0).then(began).otherwise(began + steps))
        frames.append(result.records.with_columns(columns))
        steps, seconds = steps + result.steps, seconds + result.seconds
    records = pl.concat(frames, how="diagonal")
    return AlgorithmResult(best.module, records, best.status, steps, best_step, seconds)

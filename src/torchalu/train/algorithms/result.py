"""What comes of a training, and of several attempts at one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from torch import nn


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
        """Whether all validation strings are right: of all lengths, and under noise, if any."""
        rows = self.chosen  # a length is left out only if others are wrong
        measured = [name for name in ("right", "right_under_noise") if name in rows.columns]
        return rows.height > 0 and all((rows[name] == 1).all() for name in measured)


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

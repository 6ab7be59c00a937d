"""A network after its training, and when it had learned its task."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from torch import nn


@dataclass(frozen=True)
class Trained:
    """A network after its training.

    Attributes:
        module: with its best weights.
        records: a row an evaluation and length of the validation strings.
        status: how the run ended.
        steps: that it took.
        best_step: the one with the best weights.
        validation_loss: at that step.
        solved_at_step: the first evaluation at which all validation strings of the longest
            training length were right.
        solved_at_seconds: when that was.
        seconds: that the run took, up to its last evaluation.
    """

    module: nn.Module
    records: pl.DataFrame
    status: str
    steps: int
    best_step: int
    validation_loss: float
    solved_at_step: int | None
    solved_at_seconds: float | None
    seconds: float


def trained_from(
    module: nn.Module, records: pl.DataFrame, status: str, steps: int, best_step: int
) -> Trained:
    """What the records of a training say about it.

    Args:
        module: with its best weights.
        records: as `StringValidation.by_length` gives them; the shortest of its lengths is the
            longest of the training.
        status: how the run ended.
        steps: that it took.
        best_step: the one with the best weights.

    Example:
        >>> rows = {"step": [100, 100, 200, 200], "symbols": [41, 101] * 2}
        >>> rows |= {"right": [0.9, 1.0, 1.0, 0.5], "seconds": [5.0, 5.0, 9.0, 9.0]}
        >>> rows |= {"validation_loss": [0.3, 0.3, 0.2, 0.2]}
        >>> trained = trained_from(nn.Identity(), pl.DataFrame(rows), "finished", 250, 200)
        >>> trained.solved_at_step, trained.solved_at_seconds, trained.validation_loss
        (200, 9.0, 0.2)
    """
    solved = records.filter(
        pl.col("symbols") == pl.col("symbols").min(), pl.col("right") == 1
    ).select("step", "seconds")
    best = records.filter(pl.col("step") == best_step)["validation_loss"]
    at_step, at_seconds = solved.row(0) if solved.height else (None, None)
    return Trained(
        module=module,
        records=records,
        status=status,
        steps=steps,
        best_step=best_step,
        validation_loss=best[0] if len(best) else float("inf"),
        solved_at_step=at_step,
        solved_at_seconds=at_seconds,
        seconds=records["seconds"].max() or 0.0,  # pyright: ignore[reportArgumentType]
    )
